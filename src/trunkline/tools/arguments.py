"""The arguments of a tool: their JSON schema, made once from a function, and the check of what a model sends.

msgspec makes both from the same types, so what the schema promises is what is accepted.
"""

from __future__ import annotations

import copy
import inspect
import re
import types
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NoReturn, Protocol, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from trunkline.content import Block
from trunkline.errors import ConfigurationError, InvalidCommand
from trunkline.questions import Form
from trunkline.session.form_answers import check_form_answer
from trunkline.tools.argument_types import complete, describe, is_field, read_value, schema_of
from trunkline.tools.docstrings import read_docstring
from trunkline.tools.errors import InvalidArguments
from trunkline.tools.results import ToolResult

_AT = re.compile(r"(.*) - at `\$\.?(.*)`", re.DOTALL)
_OF_ARGUMENT = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_PLAIN = (str, int, float, bool, type(None))


class Arguments(Protocol):
    """What a tool takes."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments, an object."""
        ...

    def read(self, given: Any) -> dict[str, Any]:
        """Check what was sent and give what the function takes; raises InvalidArguments."""
        ...


class FunctionArguments:
    """The arguments of a function, by its annotations, defaults and docstring."""

    def __init__(self, name: str, function: Callable[..., Any], *given: type) -> None:
        """Read a function; a parameter that is annotated with one of ``given`` is not among its arguments."""
        self._name = name
        described = read_docstring(inspect.getdoc(function)).arguments
        parameters, hints = _parameters(name, function)
        self.given = {
            key: parameters.pop(key) for key in list(parameters) if _is_given(hints.get(key), given)
        }
        """The parameters that are filled in by us."""
        fields: list[Any] = []
        for key, parameter in parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
                _refuse(name, f"its parameter {parameter} has no name that a model could use: write it out")
            hint, default = hints.get(key, Any), parameter.default
            if is_field(default):
                hint = Annotated[hint, default]
                default = (
                    parameter.empty
                    if default.is_required()
                    else default.get_default(call_default_factory=True)
                )
            hint = describe(hint, described.get(key))
            fields.append((key, hint) if default is parameter.empty else (key, hint, _default(default)))
        self._type = _struct(name, fields)
        self.schema = _object_schema(name, self._type)

    def read(self, given: Any) -> dict[str, Any]:
        """Check what was sent and give what the function takes."""
        return _read(self._name, self._type, given)


class SchemaArguments:
    """The arguments of a tool that says itself what they are, by a JSON schema.

    The outermost level is checked, as a form is; what is inside of an argument is left to the tool.
    """

    def __init__(self, name: str, schema: Mapping[str, Any] | None = None) -> None:
        """Take any object where there is no schema."""
        self._name = name
        self.schema: dict[str, Any] = {"type": "object", "properties": {}, **(schema or {})}
        if self.schema["type"] != "object" or not isinstance(self.schema["properties"], Mapping):
            _refuse(name, "its input schema is not that of an object with properties")
        self._is_open = schema is None or self.schema.get("additionalProperties", True) is not False

    def read(self, given: Any) -> dict[str, Any]:
        """Check what was sent and give it as it is."""
        arguments = _read(self._name, dict[str, Any], given)
        known = {key: value for key, value in arguments.items() if key in self.schema["properties"]}
        try:
            check_form_answer(Form(fields=self.schema), known if self._is_open else arguments)
        except InvalidCommand as error:
            message = str(error).replace("the form's field", "the argument").replace("the form", "the tool")
            raise InvalidArguments(
                f"{self._name} did not run: {message.replace('field', 'argument')}"
            ) from None
        return arguments


def result_schema(function: Callable[..., Any]) -> dict[str, Any] | None:
    """The JSON schema of what a function gives back, where that is an object with known fields."""
    hints = _hints(getattr(function, "__name__", "a tool"), function)
    returned: Any = hints.get("return")
    if isinstance(returned, type) and issubclass(returned, (ToolResult, Block)):
        return None  # These say what people see, not what the model reads.
    if returned is None or get_origin(returned) in (Union, types.UnionType):
        return None
    try:
        (schema,), components = msgspec.json.schema_components([returned], ref_template="#/$defs/{name}")
    except TypeError:
        return None
    if "$ref" in schema:
        schema = components.pop(schema["$ref"].removeprefix("#/$defs/"))
    if schema.get("type") != "object" or "properties" not in schema:
        return None
    return {**schema, **({"$defs": components} if components else {})}


def takes(function: Callable[..., Any], kind: type) -> str | None:
    """The name of the parameter that is annotated with a class; None if there is none."""
    try:
        hints = _hints(getattr(function, "__name__", "a tool"), function)
    except (ConfigurationError, TypeError):
        return None  # A function that no model calls may have any annotations, or none.
    return next((key for key, hint in hints.items() if key != "return" and _is_given(hint, (kind,))), None)


# -- from a signature to a struct ------------------------------------------------------------------


def _parameters(
    name: str, function: Callable[..., Any]
) -> tuple[dict[str, inspect.Parameter], dict[str, Any]]:
    try:
        parameters = dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        _refuse(name, "its signature is unknown: wrap it in a function of your own")
    return parameters, _hints(name, function)


def _hints(name: str, function: Callable[..., Any]) -> dict[str, Any]:
    while hasattr(function, "func"):
        function = cast("Any", function).func
    if not inspect.isroutine(function):
        function = function.__call__
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as error:
        _refuse(name, f"its annotations name {error.name}, which its module does not have: import it there")


def _is_given(hint: Any, given: tuple[type, ...]) -> bool:
    return hint in given or any(one in given for one in get_args(hint))


def _default(default: Any) -> Any:
    if isinstance(default, _PLAIN) or default in ([], {}, set()):
        return default
    return msgspec.field(default_factory=lambda: copy.deepcopy(default))


def _struct(name: str, fields: list[Any]) -> type[msgspec.Struct]:
    try:
        return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)
    except (TypeError, ValueError) as error:
        _refuse(name, f"its arguments cannot be described: {error}")


def _object_schema(name: str, arguments: type[msgspec.Struct]) -> dict[str, Any]:
    try:
        (schema,), components = msgspec.json.schema_components(
            [arguments], schema_hook=schema_of, ref_template="#/$defs/{name}"
        )
        made = components.pop(schema["$ref"].removeprefix("#/$defs/"))
        made.pop("title", None)
        return complete({**made, "additionalProperties": False, "$defs": components})
    except TypeError as error:
        _refuse(name, f"its arguments cannot be described: {error}")


def _refuse(name: str, why: str) -> NoReturn:
    raise ConfigurationError(f"{name} cannot be a tool: {why}")


# -- from what was sent to arguments ---------------------------------------------------------------


def _read(name: str, wanted: Any, given: Any) -> dict[str, Any]:
    if isinstance(given, str | bytes):
        try:
            given = msgspec.json.decode(given or b"{}")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidArguments(f"{name} did not run: its arguments are not JSON: {error}") from None
    try:
        read: Any = msgspec.convert({} if given is None else given, wanted, dec_hook=read_value)
    except msgspec.ValidationError as error:
        raise InvalidArguments(f"{name} did not run: {_explain(str(error))}") from None
    if isinstance(read, dict):
        return cast("dict[str, Any]", read)
    return {key: getattr(read, key) for key in read.__struct_fields__}


def _explain(message: str) -> str:
    """Name the argument that is wrong, and what it must be."""
    found = _AT.fullmatch(message)
    problem, at = (message, "") if found is None else (found[1], found[2])
    if not at and (whole := _OF_ARGUMENT.fullmatch(problem)) is not None:
        missing = whole[1].startswith("missing")
        return f"the argument {whole[2]!r} is missing" if missing else f"it has no argument {whole[2]!r}"
    problem = problem[:1].lower() + problem[1:]
    return f"the argument {at!r}: {problem}" if at else f"its arguments: {problem}"
