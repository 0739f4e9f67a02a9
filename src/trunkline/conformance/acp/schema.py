"""The official ACP schema as a judge: what an agent sends is held against the official JSON schema.

It is a copy of the one in the npm package that ``official_schema/source.json`` names; a test in
tests/peers compares the two. The stable schema counts; only methods that it lacks (``session/fork``)
are judged by the unstable one.
"""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import fastjsonschema

FOLDER = Path(__file__).parent / "official_schema"

Schema = dict[str, Any]
Kind = Literal["Request", "Response", "Notification"]


class _Place(NamedTuple):
    file: str
    definition: str


# -- reading the schema ----------------------------------------------------------------------------


@cache
def _definitions(file: str) -> dict[str, Schema]:
    return _tell_apart(json.loads((FOLDER / file).read_text(encoding="utf-8")))["$defs"]


def _tell_apart(schema: Any) -> Any:
    """Say a union with a discriminator as "if it is this, then that": quicker, and a fault has a place."""
    if isinstance(schema, list):
        return [_tell_apart(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    fields = cast("Schema", schema)
    made = {k: _tell_apart(v) for k, v in fields.items() if k != "description" or not isinstance(v, str)}
    if "discriminator" in made and "oneOf" in made:
        name, variants = made.pop("discriminator")["propertyName"], made.pop("oneOf")
        tags = [variant["properties"][name]["const"] for variant in variants]
        made["allOf"] = [*made.get("allOf", ())]
        made["allOf"] += [
            {"if": {"properties": {name: {"const": tag}}}, "then": variant}
            for tag, variant in zip(tags, variants, strict=True)
        ]
        made["properties"] = {**made.get("properties", {}), name: {"enum": tags}}
        made["required"] = [*made.get("required", ()), name]
    return made


@cache
def _places(kind: Kind) -> dict[str, _Place]:
    """Where the type of each method is."""
    return {
        schema["x-method"]: _Place(file, definition)
        for file in ("schema.unstable.json", "schema.json")
        for definition, schema in _definitions(file).items()
        if "x-method" in schema and definition.endswith(kind)
    }


@cache
def _validator(place: _Place) -> Callable[[Any], Any]:
    schema = {"$ref": f"#/$defs/{place.definition}", "$defs": _definitions(place.file)}
    return cast("Any", fastjsonschema).compile(schema, use_default=False, use_formats=False)


# -- judging ---------------------------------------------------------------------------------------


def find_fault(message: dict[str, Any], answers: str | None = None) -> str | None:
    """Say what is wrong with a message of an agent; ``answers`` is the method that a response is for."""
    if message.get("jsonrpc") != "2.0":
        return "it is not JSON-RPC 2.0"
    if "method" in message:
        method: Any = message["method"]
        if not isinstance(method, str):
            return "its method is not a text"
        place = _places("Request" if "id" in message else "Notification").get(method)
        if place is None:
            return None if method.startswith("_") else f"ACP has no {method!r} for an agent to send"
        return _fault(place, message.get("params"))
    if "error" in message:
        return _fault(_Place("schema.json", "Error"), message["error"])
    if answers is None or answers.startswith("_"):
        return None
    place = _places("Response").get(answers)
    return f"ACP has no {answers!r} to answer" if place is None else _fault(place, message.get("result"))


def find_update_fault(params: dict[str, Any]) -> str | None:
    """Say what is wrong with the params of a ``session/update``."""
    return _fault(_places("Notification")["session/update"], params)


def _fault(place: _Place, value: Any) -> str | None:
    try:
        _validator(place)(value)
    except fastjsonschema.JsonSchemaException as error:
        return f"{place.definition}: {error}"
    return None


def unknown_keys(message: dict[str, Any], answers: str | None = None) -> set[str]:
    """The keys at the root of a message, and of its update, that the schema does not name."""
    body = message.get("params", message.get("result"))
    kind: Kind = "Response" if "method" not in message else "Request" if "id" in message else "Notification"
    place = _places(kind).get(str(message.get("method", answers or "")))
    if place is None or not isinstance(body, dict):
        return set()
    fields = cast("dict[str, Any]", body)
    unknown = fields.keys() - _keys(place.file, {"$ref": f"#/$defs/{place.definition}"}, fields)
    if isinstance(update := fields.get("update"), dict):
        output = cast("dict[str, Any]", update)
        unknown |= output.keys() - _keys(place.file, {"$ref": "#/$defs/SessionUpdate"}, output)
    return unknown - {"_meta"}


def _keys(file: str, schema: Schema, value: dict[str, Any]) -> set[str]:
    """Every property that an object may have, by the branches of the schema that fit it."""
    if "$ref" in schema:
        return _keys(file, _definitions(file)[schema["$ref"].rpartition("/")[2]], value)
    named = set(schema.get("properties", ()))
    for branch in (*schema.get("allOf", ()), *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        when = branch.get("if", {}).get("properties", {})
        if all(value.get(name) == wanted["const"] for name, wanted in when.items()):
            named |= _keys(file, branch.get("then", branch), value)
    return named
