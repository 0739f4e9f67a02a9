"""Forms: from what a free-form ``interrupt()`` asks to a flat form, and from the filled-in form back.

Front ends show flat forms: texts, numbers, switches, choices and lists of choices. A schema that is
deeper than that is asked for as JSON text. The way back gives the value that the graph wants, not
the form: a plain string for a plain question, the chosen option itself for a list of options.
"""

from __future__ import annotations

import logging
from typing import Any, cast

import msgspec

from trunkline.errors import AgentError
from trunkline.questions import Form

__all__ = ["DECLINED", "Sheet", "sheet_for"]

log = logging.getLogger("trunkline.langchain")

DECLINED = "The user declined to answer."

_ANSWER = "answer"
_SCALARS = ("string", "boolean", "integer", "number")
_QUESTIONS = ("question", "message", "prompt", "query", "title", "description", "text")
_OPTIONS = ("options", "choices")


class Sheet:
    """One form, and what its content means to the graph that asked."""

    def __init__(self, message: str, fields: dict[str, Any], required: list[str], *, whole: bool) -> None:
        """Take flat fields; ``whole`` gives the graph all of them, else only the answer."""
        self.message = message
        self.fields = fields
        self.required = required
        self.whole = whole
        self.nullable = False
        self.words: dict[str, dict[str, Any]] = {}
        """By field, what the words that a person chooses from stand for."""
        self.as_json: set[str] = set()
        """The fields that are filled in as JSON text."""
        self.typed = True

    def form(self, call_id: str | None = None) -> Form:
        """The question to ask."""
        schema: dict[str, Any] = {"type": "object", "properties": self.fields}
        if self.required:
            schema["required"] = self.required
        return Form(message=self.message, fields=schema, call_id=call_id)

    def read(self, content: Any) -> Any:
        """Give the graph what it asked for."""
        given = cast("dict[str, Any]", content) if isinstance(content, dict) else {_ANSWER: content}
        if self.whole:
            return {name: self._meaning(name, value) for name, value in given.items()}
        return self._meaning(_ANSWER, given.get(_ANSWER))

    def _meaning(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and name in self.words:
            return self.words[name].get(value, value)
        return _parsed(value) if name in self.as_json else value

    def declined(self) -> Any:
        """Give the graph a no that it can understand; a schema may leave no room for one."""
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


def sheet_for(value: Any, schema: Any = None) -> Sheet:
    """Make the form for an interrupt's value and, if it has one, its response schema."""
    message = _message_in(value)
    if isinstance(schema, dict) and schema:
        given = cast("dict[str, Any]", schema)
        try:
            return _from_schema(message, given)
        except (AttributeError, TypeError, ValueError):
            log.warning("an interrupt's response schema is no JSON schema; asking for a text: %.200s", given)
    choices = _choices_in(value)
    field: dict[str, Any] = {"type": "string", "title": "Answer"}
    if choices:
        field["enum"] = [word for word, _, _ in choices]
        if any(word != label for word, label, _ in choices):
            field["oneOf"] = [{"const": word, "title": label} for word, label, _ in choices]
    sheet = Sheet(message, {_ANSWER: field}, [_ANSWER], whole=False)
    sheet.words = {_ANSWER: {word: option for word, _, option in choices}}
    sheet.typed = False
    return sheet


def _from_schema(message: str, schema: dict[str, Any]) -> Sheet:
    wanted, nullable = _without_null(schema, schema)
    whole = wanted.get("type") == "object" and bool(wanted.get("properties"))
    asked = cast("dict[str, Any]", wanted["properties"]) if whole else {_ANSWER: wanted}
    needed = cast("list[str]", wanted.get("required") or []) if whole else [] if nullable else [_ANSWER]
    needed = [name for name in needed if name in asked]
    sheet = Sheet(message or str(wanted.get("description") or ""), {}, needed, whole=whole)
    sheet.nullable = nullable
    for name, part in asked.items():
        field, words = _flat(part, schema)
        if words:
            sheet.words[name] = words
        if field is None:
            sheet.as_json.add(name)
            about = _followed(part, schema)
            hint = f"{about.get('description') or ''} (as JSON)".strip()
            field = _described(about, {"type": "string", "description": hint})
        sheet.fields[name] = {"title": name.replace("_", " ").capitalize(), **field}
    return sheet


def _followed(part: Any, root: dict[str, Any]) -> dict[str, Any]:
    """Give a schema itself where there is a reference to it."""
    schema = cast("dict[str, Any]", part) if isinstance(part, dict) else {}
    reference = str(schema.get("$ref") or "")
    if not reference.startswith("#/$defs/"):
        return schema
    target: Any = cast("dict[str, Any]", root.get("$defs") or {}).get(reference.removeprefix("#/$defs/"))
    return {**(target or {}), **{key: value for key, value in schema.items() if key != "$ref"}}


def _without_null(part: Any, root: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Take the null out of an optional value; True when there was one."""
    schema = _followed(part, root)
    either = cast("list[dict[str, Any]]", schema.get("anyOf") or [])
    others = [one for one in either if one.get("type") != "null"]
    if len(either) == len(others) or len(others) != 1:
        return schema, False
    about = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**_followed(others[0], root), **about}, True


def _flat(part: Any, root: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Give a field that every front end can show, if there is one, and what its words stand for."""
    schema, _ = _without_null(part, root)
    values = [schema["const"]] if "const" in schema else cast("list[Any]", schema.get("enum") or [])
    if values:
        words = {_written(value): value for value in values}
        return _described(schema, {"type": "string", "enum": list(words)}), words
    if schema.get("type") in _SCALARS:
        return schema, {}
    item = _followed(schema.get("items"), root)
    if schema.get("type") == "array" and item.get("type") == "string":
        return {**schema, "items": item}, {}
    return None, {}


def _described(schema: dict[str, Any], field: dict[str, Any]) -> dict[str, Any]:
    """Give a field the names of its schema, and its default as a word."""
    about = {key: str(schema[key]) for key in ("title", "description") if key in schema}
    if schema.get("default") is not None:
        about["default"] = _written(schema["default"])
    return {**about, **field}


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:
        return value


# -- what an untyped interrupt says ------------------------------------------------------------------


def _told(value: Any) -> Any:
    """Give a model or a dataclass as the plain dict it stands for."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump()
    try:
        return msgspec.to_builtins(value, str_keys=True)
    except (TypeError, ValueError):
        return value


def _message_in(value: Any) -> str:
    """Say everything a person needs to know: the question first, then what comes with it."""
    told = _told(value)
    if not isinstance(told, dict):
        return told if isinstance(told, str) else _written(told)
    asked = cast("dict[str, Any]", told)
    key = next((key for key in _QUESTIONS if isinstance(asked.get(key), str)), None)
    rest = [
        f"{name}: {_written(part)}"
        for name, part in asked.items()
        if name != key and not (name in _OPTIONS and isinstance(part, list))
    ]
    return "\n".join([*([asked[key]] if key else []), *rest])


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError):
        return str(value)


def _choices_in(value: Any) -> list[tuple[str, str, Any]]:
    """Find the options in a value: the word to choose, what it is called, and what it stands for."""
    told = _told(value)
    asked = cast("dict[str, Any]", told if isinstance(told, dict) else {})
    listed = next((asked[key] for key in _OPTIONS if isinstance(asked.get(key), list)), ())
    return [_choice(option) for option in listed]


def _choice(option: Any) -> tuple[str, str, Any]:
    if not isinstance(option, dict):
        return _written(option), _written(option), option
    about = cast("dict[str, Any]", option)
    value: Any = next((about[key] for key in ("value", "id", "key", "name", "label") if key in about), about)
    label: Any = next(
        (about[key] for key in ("label", "name", "title", "description") if key in about), value
    )
    return _written(value), _written(label), value
