"""A free-form ``interrupt()`` as a flat form, and the filled-in form as the value that the graph wants.

Front ends show flat forms: texts, numbers, switches, choices and lists of choices. A deeper schema is filled
in as JSON text. The graph gets a plain string for a plain question, and the chosen option itself for a list
of options. A front end that knows the graph gets its value, and may answer a free question with any JSON.
"""

from __future__ import annotations

import logging
from typing import Any, cast

import msgspec

from trunkline.agents.json_values import json_value
from trunkline.errors import AgentError
from trunkline.questions import Form

log = logging.getLogger("trunkline.langchain")

DECLINED = "The user declined to answer."

_ANSWER = "answer"
_SCALARS = ("string", "boolean", "integer", "number")
_QUESTIONS = ("question", "message", "prompt", "query", "title", "description", "text")
_OPTIONS = ("options", "choices")
_SCHEMAS = ("responseSchema", "response_schema")


class InterruptForm:
    """One form, and what its content means to the graph that asked."""

    def __init__(self, message: str, fields: dict[str, Any], required: list[str], *, whole: bool) -> None:
        """Take flat fields; with ``whole`` the graph gets all of them, else only the answer."""
        self.message = message
        self.fields = fields
        self.required = required
        self.whole = whole
        self.nullable = False
        self.options: dict[str, dict[str, Any]] = {}
        """By field, the value of each option that the user can choose."""
        self.as_json: set[str] = set()
        """The fields that are filled in as JSON text."""
        self.typed = True
        self.value: Any = None
        """What the graph asked with."""
        self.answer_schema: dict[str, Any] | None = None

    def question(self, call_id: str | None = None) -> Form:
        """The question to ask."""
        schema: dict[str, Any] = {"type": "object", "properties": self.fields}
        if self.required:
            schema["required"] = self.required
        return Form(
            message=self.message,
            fields=schema,
            call_id=call_id,
            value=self.value,
            answer_schema=self.answer_schema,
            single_answer=not self.whole,
        )

    def read(self, content: Any) -> Any:
        """Give the graph what it asked for."""
        fields = cast("dict[str, Any]", content) if isinstance(content, dict) else {_ANSWER: content}
        if self.whole:
            return {name: self._value(name, value) for name, value in fields.items()}
        return self._value(_ANSWER, fields.get(_ANSWER))

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and name in self.options:
            return self.options[name].get(value, value)
        return _parsed(value) if name in self.as_json else value

    def declined(self) -> Any:
        """The value for a user who declined; raises AgentError if the schema allows none."""
        if not self.typed:
            return DECLINED
        if self.nullable:
            return None
        if self.whole and not self.required:
            return {}
        if not self.whole and self.fields[_ANSWER].get("type") == "boolean":
            return False
        raise AgentError(
            "you declined to answer, and the agent cannot go on without an answer: send another prompt"
        )


def form_for(value: Any, schema: Any = None) -> InterruptForm:
    """Make the form for an interrupt's value and, if it has one, its response schema."""
    value = plain_value(value)
    if isinstance(value, dict) and not schema:
        # Graphs for AG-UI have it in the value: the names are those of ag-ui-langgraph.
        given = cast("dict[str, Any]", value)
        schema = next((given[name] for name in _SCHEMAS if name in given), None)
    message = _message_in(value)
    if isinstance(schema, dict) and schema:
        given = cast("dict[str, Any]", schema)
        try:
            form = _from_schema(message, given)
            form.answer_schema = given
            return form
        except (AttributeError, TypeError, ValueError):
            log.warning("an interrupt's response schema is no JSON schema; asking for a text: %.200s", given)
    choices = _choices_in(value)
    field: dict[str, Any] = {"type": "string", "title": "Answer"}
    if choices:
        field["enum"] = [word for word, _, _ in choices]
        if any(word != label for word, label, _ in choices):
            field["oneOf"] = [{"const": word, "title": label} for word, label, _ in choices]
    form = InterruptForm(message, {_ANSWER: field}, [_ANSWER], whole=False)
    form.options = {_ANSWER: {word: option for word, _, option in choices}}
    if choices:
        form.answer_schema = {"enum": [json_value(option) for _, _, option in choices]}
    form.typed = False
    return form


def _from_schema(message: str, schema: dict[str, Any]) -> InterruptForm:
    inner, nullable = _without_null(schema, schema)
    whole = inner.get("type") == "object" and bool(inner.get("properties"))
    fields = cast("dict[str, Any]", inner["properties"]) if whole else {_ANSWER: inner}
    required = cast("list[str]", inner.get("required") or []) if whole else [] if nullable else [_ANSWER]
    required = [name for name in required if name in fields]
    form = InterruptForm(message or str(inner.get("description") or ""), {}, required, whole=whole)
    form.nullable = nullable
    for name, part in fields.items():
        field, options = _flat(part, schema)
        if options:
            form.options[name] = options
        if field is None:
            form.as_json.add(name)
            about = _resolve(part, schema)
            hint = f"{about.get('description') or ''} (as JSON)".strip()
            field = _described(about, {"type": "string", "description": hint})
        form.fields[name] = {"title": name.replace("_", " ").capitalize(), **field}
    return form


def _resolve(part: Any, root: dict[str, Any]) -> dict[str, Any]:
    """The schema that a ``$ref`` refers to."""
    schema = cast("dict[str, Any]", part) if isinstance(part, dict) else {}
    reference = str(schema.get("$ref") or "")
    if not reference.startswith("#/$defs/"):
        return schema
    target: Any = cast("dict[str, Any]", root.get("$defs") or {}).get(reference.removeprefix("#/$defs/"))
    return {**(target or {}), **{key: value for key, value in schema.items() if key != "$ref"}}


def _without_null(part: Any, root: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The schema of an optional value without null; True when it was optional."""
    schema = _resolve(part, root)
    either = cast("list[dict[str, Any]]", schema.get("anyOf") or [])
    others = [one for one in either if one.get("type") != "null"]
    if len(either) == len(others) or len(others) != 1:
        return schema, False
    about = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**_resolve(others[0], root), **about}, True


def _flat(part: Any, root: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """A field that every front end can show, or None, and the values of its options."""
    schema, _ = _without_null(part, root)
    values = [schema["const"]] if "const" in schema else cast("list[Any]", schema.get("enum") or [])
    if values:
        options = {_as_text(value): value for value in values}
        return _described(schema, {"type": "string", "enum": list(options)}), options
    if schema.get("type") in _SCALARS:
        return schema, {}
    item = _resolve(schema.get("items"), root)
    if schema.get("type") == "array" and item.get("type") == "string":
        return {**schema, "items": item}, {}
    return None, {}


def _described(schema: dict[str, Any], field: dict[str, Any]) -> dict[str, Any]:
    """Give a field the title and description of its schema, and its default as text."""
    about = {key: str(schema[key]) for key in ("title", "description") if key in schema}
    if schema.get("default") is not None:
        about["default"] = _as_text(schema["default"])
    return {**about, **field}


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:
        return value


# -- interrupts without a schema ------------------------------------------------------------------


def plain_value(value: Any) -> Any:
    """The value of an interrupt as JSON has it: pydantic models and dataclasses as objects."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    try:
        return msgspec.to_builtins(value, str_keys=True)
    except (TypeError, ValueError):
        return json_value(value)


def _message_in(value: Any) -> str:
    """The text of the form: the question first, then the other fields."""
    if not isinstance(value, dict):
        return value if isinstance(value, str) else _as_text(value)
    asked = cast("dict[str, Any]", value)
    key = next((key for key in _QUESTIONS if isinstance(asked.get(key), str)), None)
    rest = [
        f"{name}: {_as_text(part)}"
        for name, part in asked.items()
        if name not in (key, *_SCHEMAS) and not (name in _OPTIONS and isinstance(part, list))
    ]
    return "\n".join([*([asked[key]] if key else []), *rest])


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError):
        return str(value)


def _choices_in(value: Any) -> list[tuple[str, str, Any]]:
    """Find the options in a value: what to choose, its label, and the option itself."""
    asked = cast("dict[str, Any]", value if isinstance(value, dict) else {})
    listed = next((asked[key] for key in _OPTIONS if isinstance(asked.get(key), list)), ())
    return [_choice(option) for option in listed]


def _choice(option: Any) -> tuple[str, str, Any]:
    if not isinstance(option, dict):
        return _as_text(option), _as_text(option), option
    about = cast("dict[str, Any]", option)
    value: Any = next((about[key] for key in ("value", "id", "key", "name", "label") if key in about), about)
    label: Any = next(
        (about[key] for key in ("label", "name", "title", "description") if key in about), value
    )
    return _as_text(value), _as_text(label), about
