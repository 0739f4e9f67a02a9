"""Types of arguments that msgspec does not know, and what providers want to read of a type; pure.

Models of pydantic are known by their methods, and its fields by what they hold: nothing is imported for them.
"""

from __future__ import annotations

import pathlib
import types
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Union, cast, get_args, get_origin

import msgspec

_CONSTRAINTS = ("gt", "ge", "lt", "le", "multiple_of", "pattern", "min_length", "max_length")
_NAMES: dict[type, str] = {
    str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null",
}  # fmt: skip


def schema_of(kind: type) -> dict[str, Any]:
    """Describe a type that msgspec does not know; TypeError says that there is no JSON for it."""
    if hasattr(kind, "model_json_schema"):
        return cast("Any", kind).model_json_schema()
    if kind is object:
        return {"description": "any value"}  # An empty schema counts as none.
    if issubclass(kind, pathlib.PurePath):
        return {"type": "string"}
    raise TypeError(
        f"there is no JSON for {kind.__name__}: use text, numbers, dates, lists, dicts, TypedDicts, "
        "dataclasses or models of pydantic"
    )


def read_value(kind: type, value: Any) -> Any:
    """Make a value of such a type; ValueError says what does not fit."""
    if kind is object:
        return value
    if issubclass(kind, pathlib.PurePath):
        if not isinstance(value, str):
            raise ValueError(f"expected `str`, got `{type(value).__name__}`")
        return kind(value)
    try:
        return cast("Any", kind).model_validate(value)
    except ValueError as error:
        raise ValueError(_explain(error)) from None


def describe(hint: Any, documented: str | None) -> Any:
    """Put what is said of an argument into its type; what its annotation says itself is preferred."""
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    if any(isinstance(note, msgspec.Meta) and note.description for note in notes):
        return hint
    description = next((note for note in notes if isinstance(note, str)), documented)
    found: dict[str, Any] = {}
    for note in _parts(notes):
        description = getattr(note, "description", None) or description
        found |= {key: limit for key in _CONSTRAINTS if (limit := getattr(note, key, None)) is not None}
    if found:
        hint = _limited(hint, msgspec.Meta(**found))
    return hint if description is None else Annotated[hint, msgspec.Meta(description=description)]


def _limited(hint: Any, limit: msgspec.Meta) -> Any:
    """Put limits into a type; those of an optional value are of the value."""
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    members = get_args(inner) if get_origin(inner) in (Union, types.UnionType) else ()
    others = [one for one in members if one is not type(None)]
    if len(others) == 1 and len(members) == 2:
        return Union[Annotated[others[0], limit], None]
    return Annotated[hint, limit]


def is_field(default: Any) -> bool:
    """Whether the default of an argument is a ``Field`` of pydantic."""
    return hasattr(default, "is_required") and hasattr(default, "get_default")


def complete(schema: dict[str, Any]) -> dict[str, Any]:
    """Name the type of every enum, as OpenAI and Gemini want it, and bring all definitions to the top."""
    definitions: dict[str, Any] = schema.setdefault("$defs", {})
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if node is not schema:
            for name, inner in node.pop("$defs", {}).items():
                if definitions.setdefault(name, inner) != inner:
                    raise TypeError(f"two of its types are called {name}: rename one")
                waiting.append(inner)
        values = node.get("enum")
        if isinstance(values, list) and "type" not in node:
            kinds = sorted({_NAMES[type(value)] for value in cast("list[Any]", values)})
            node["type"] = kinds[0] if len(kinds) == 1 else kinds
        waiting.extend(parts_of(node))
    if not definitions:
        del schema["$defs"]
    return schema


def parts_of(node: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the schemas that are right inside of a schema."""
    for key in ("properties", "$defs"):
        yield from node.get(key, {}).values()
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield node[key]
    for key in ("anyOf", "allOf", "oneOf", "prefixItems"):
        yield from node.get(key, ())


def _parts(notes: tuple[Any, ...]) -> Iterator[Any]:
    """Give what fields of pydantic and constraints hold, one after the other."""
    for note in notes:
        if not isinstance(note, msgspec.Meta | str):
            yield note
            yield from getattr(note, "metadata", ())


def _explain(error: ValueError) -> str:
    """Say in one line what a model of pydantic says in several."""
    errors: Any = getattr(error, "errors", None)
    if not callable(errors):
        return str(error)
    problems = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in cast("list[Any]", errors())]
    return "; ".join(problems)
