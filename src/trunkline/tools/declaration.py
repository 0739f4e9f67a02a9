"""Tools: a function with what people and models must know of it."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union, cast, get_args, overload

import msgspec

from trunkline import events as ev
from trunkline.content import Content
from trunkline.errors import ConfigurationError
from trunkline.questions import ALLOW_KINDS, Coverage, Option, OptionKind, default_options
from trunkline.safe_text import one_line
from trunkline.tools.arguments import Arguments, FunctionArguments, SchemaArguments, result_schema
from trunkline.tools.docstrings import read_docstring
from trunkline.tools.naming import kind_of, locations_of, title_of
from trunkline.tools.results import Shows

if TYPE_CHECKING:
    from trunkline.tools.tool_context import ToolContext

Rule = Literal["allow", "ask", "deny"]


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """A rule's answer that a person is asked, with other words, or with something to look at."""

    message: str = ""
    content: str | Content | Sequence[Content] = ()


RuleFunction = Callable[[dict[str, Any], "ToolContext"], Union[Rule, Ask, Awaitable[Union[Rule, Ask]]]]
Permission = Union[Rule, RuleFunction]
"""Whether a call may run: a word for all calls, or a function of the arguments and the context."""
Locations = Union[str, Sequence[str], Callable[[dict[str, Any]], Sequence[Union[str, ev.Location]]]]
"""The files of a call: templates such as ``{path}``, or a function of the arguments."""

_FIELD = re.compile(r"\{\{|\}\}|\{(\w+)\}")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What model providers accept as the name of a tool."""
_TITLE_LENGTH = 80
_OPTION_KINDS: tuple[OptionKind, ...] = get_args(OptionKind)


class Tool:
    """A function that a model may call; made by ``tool``."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str,
        description: str,
        arguments: Arguments,
        kind: ev.ToolKind | None = None,
        title: str | None = None,
        permission: Permission = "allow",
        options: Mapping[OptionKind, str] | None = None,
        allows_edit: bool = False,
        locations: Locations | None = None,
        shows: Shows = "text",
        output_schema: dict[str, Any] | None = None,
    ) -> None:
        """Check what is declared: what is wrong with it is said now."""
        self.name = _checked_name(name)
        self.description = description
        self.arguments = arguments
        self.function = function
        self.kind: ev.ToolKind = _choice(name, "kind", kind or kind_of(name), get_args(ev.ToolKind))
        self.title = _checked_template(name, "title", title, arguments.schema)
        self.permission: Permission = (
            permission if callable(permission) else _choice(name, "permission", permission, get_args(Rule))
        )
        self.options = _checked_options(name, options)
        self.allows_edit = allows_edit
        self.locations = locations
        if not callable(locations):
            for one in [locations] if isinstance(locations, str) else locations or ():
                _checked_template(name, "locations", one, arguments.schema)
        self.shows: Shows = _choice(name, "shows", shows, get_args(Shows))
        self.output_schema = output_schema
        self.context_parameters: tuple[str, ...] = tuple(getattr(arguments, "given", ()))
        """The parameters that get the ToolContext."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return self.arguments.schema

    def __repr__(self) -> str:
        return f"<Tool {self.name} ({self.kind}, {self.permission})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as if it were not a tool."""
        return self.function(*args, **kwargs)

    # -- what people see ---------------------------------------------------------------------------

    def title_of(self, arguments: Any) -> str:
        """The title of a call, in one short line; an argument that is not known yet is ``…``."""
        if self.title is None:
            return title_of(self.name, arguments)
        return one_line(_filled(self.title, arguments), _TITLE_LENGTH)

    def locations_of(self, arguments: Any) -> tuple[ev.Location, ...]:
        """The files that a call works on."""
        given = cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else {}
        if self.locations is None:
            return locations_of(given)
        if callable(self.locations):
            found = self.locations(given) if given else ()
        else:
            templates = [self.locations] if isinstance(self.locations, str) else self.locations
            found = [_filled(one, given) for one in templates if all(given.get(key) for key in _keys(one))]
        return tuple(ev.Location(path=one) if isinstance(one, str) else one for one in found)

    @property
    def always_covers_tool(self) -> bool:
        """Whether "always" is for every call of the tool: its author found words for that."""
        return "allow_always" in (self.options or {})

    def buttons(self, covers: Coverage | None) -> tuple[Option, ...]:
        """The options of its permission; none for good where such an answer would not be kept."""
        usual = default_options(always=covers is not None, covers=covers)
        words = self.options
        if words is None:
            return usual
        return tuple(msgspec.structs.replace(one, name=words[one.kind]) for one in usual if one.kind in words)


def _filled(template: str, arguments: Any) -> str:
    """Fill in a template; only names of arguments are looked up, nothing inside of them."""
    given = cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else {}

    def fill(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        value: Any = given.get(found[1])
        return "…" if value is None else str(value)

    return _FIELD.sub(fill, template)


def _keys(template: str) -> list[str]:
    return [found[1] for found in _FIELD.finditer(template) if found[1] is not None]


def _checked_template(name: str, what: str, template: str | None, schema: Mapping[str, Any]) -> str | None:
    """Refuse a template that names no argument: it would show ``…`` for ever."""
    known: list[str] = list(schema.get("properties", ()))
    if schema.get("additionalProperties", True) is False:
        for key in _keys(template or ""):
            if key not in known:
                has = f"it has {', '.join(known)}" if known else "it has none"
                raise ConfigurationError(f"{name}: there is no argument {key!r} for its {what}; {has}")
    return template


# -- making tools ----------------------------------------------------------------------------------


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    kind: ev.ToolKind | None = None,
    title: str | None = None,
    permission: Permission = "allow",
    options: Mapping[OptionKind, str] | None = None,
    allows_edit: bool = False,
    locations: Locations | None = None,
    shows: Shows = "text",
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(function: Callable[..., Any] | None = None, /, **declared: Any) -> Any:
    """Make a tool of a function: ``@tool``, or ``@tool(kind="execute", permission="ask")``.

    Its name, description and arguments are read from the function, its annotations and its docstring.
    ``title`` is a template such as ``"SQL: {query}"``. ``permission`` is ``allow``, ``ask``, ``deny``, or a
    function of the arguments and the context that gives one of these, or an ``Ask``. ``options`` are the
    words of the buttons by their kind, and only these are offered; words for ``allow_always`` also say that
    "always" is for every call of the tool. ``allows_edit`` lets a person change the arguments.
    ``locations`` are templates or a function, for the files of a call; ``shows`` is how a result is shown.
    """

    def decorate(function: Callable[..., Any]) -> Tool:
        return make_tool(function, **declared)

    return decorate if function is None else decorate(function)


def make_tool(
    function: Callable[..., Any], *, name: str | None = None, description: str | None = None, **declared: Any
) -> Tool:
    """Make a tool of a function, as ``tool`` does."""
    from trunkline.tools.tool_context import ToolContext

    if not callable(function) or inspect.isclass(function):
        raise ConfigurationError(f"{function!r} is not a function: write @tool or @tool(...) above one")
    named = name or name_of(function)
    return Tool(
        function,
        name=named,
        description=read_docstring(inspect.getdoc(function)).text if description is None else description,
        arguments=FunctionArguments(named, function, ToolContext),
        output_schema=result_schema(function),
        **declared,
    )


def as_tool(given: Any, **declared: Any) -> Tool:
    """Make a tool of a Tool, a function, or an object with ``name``, ``description`` and ``execute``."""
    if isinstance(given, Tool):
        if declared:
            raise ConfigurationError(
                f"{given.name} is a tool already: declare {', '.join(declared)} with @tool"
            )
        return given
    execute = getattr(given, "execute", None)
    if not callable(execute) or inspect.isclass(given):
        return make_tool(given, **declared)
    name = str(declared.pop("name", None) or getattr(given, "name", None) or type(given).__name__)
    description = (
        declared.pop("description", None) or getattr(given, "description", None) or inspect.getdoc(execute)
    )
    return Tool(
        execute,
        name=name,
        description=str(description or ""),
        arguments=_arguments_of(name, given, execute),
        **declared,
    )


def _arguments_of(name: str, given: Any, execute: Callable[..., Any]) -> Arguments:
    """What an object's ``execute`` takes: by its own schema, else by its signature, else anything."""
    from trunkline.tools.tool_context import ToolContext

    for attribute in ("input_schema", "parameters", "schema"):
        schema: Any = getattr(given, attribute, None)
        schema = schema() if callable(schema) else schema
        if isinstance(schema, Mapping):
            return SchemaArguments(name, cast("Mapping[str, Any]", schema))
    parameters = inspect.signature(execute).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return SchemaArguments(name)
    return FunctionArguments(name, execute, ToolContext)


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function, also of a partial or an object that is called."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__name__", type(function).__name__)


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{name!r} is no name for a tool: models take up to 64 letters, digits, _ and -; give name="
        )
    return name


def _choice(name: str, what: str, given: Any, known: Sequence[str]) -> Any:
    if given not in known:
        raise ConfigurationError(f"{name}: there is no {what} {given!r}; choose one of {', '.join(known)}")
    return given


def _checked_options(name: str, options: Mapping[OptionKind, str] | None) -> dict[str, str] | None:
    if options is None:
        return None
    for kind in options:
        _choice(name, "option", kind, _OPTION_KINDS)
    if "allow_once" not in options or not options.keys() - ALLOW_KINDS:
        raise ConfigurationError(f"{name}: options need words for allow_once, and for a way to refuse")
    return {**options}
