#!/usr/bin/env python3
"""Writes the ACP wire types from the official JSON schemas in src/trunkline/conformance/acp/official_schema.

After an upgrade of the npm package that their source.json names, copy the new ones there first::

    python scripts/generate_acp_types.py [--copy tests/peers/node/node_modules/@agentclientprotocol/sdk]

The unstable schema is a superset of the stable one, so the types come from it: those in ROOTS, and all
that they are made of. The rules, one per shape the schemas use:

* an object is a struct; a closed set of strings is a Literal; ids and open sets are plain ``str``
* a union in which one property always tells the members apart is a tagged union
* any other union of objects is one struct with the fields of all members, as nothing but guessing
  would tell them apart; a field that not every member requires is optional
* in a patch, and for a value of any type, absent (UNSET) and null are different
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "src/trunkline/conformance/acp/official_schema"
TARGET = ROOT / "src/trunkline/protocols/acp/wire.py"

Schema = dict[str, Any]

WIDTH = 110

ROOTS = [
    "AuthenticateRequest",
    "CancelNotification",
    "CloseSessionRequest",
    "CreateTerminalRequest",
    "CreateTerminalResponse",
    "DeleteSessionRequest",
    "ForkSessionRequest",
    "InitializeRequest",
    "InitializeResponse",
    "ListSessionsRequest",
    "LoadSessionRequest",
    "LogoutRequest",
    "NewSessionRequest",
    "NewSessionResponse",
    "PromptRequest",
    "PromptResponse",
    "ReadTextFileRequest",
    "ReadTextFileResponse",
    "RequestPermissionRequest",
    "RequestPermissionResponse",
    "ResumeSessionRequest",
    "SessionNotification",
    "SetSessionConfigOptionRequest",
    "SetSessionModeRequest",
    "TerminalOutputRequest",
    "TerminalOutputResponse",
    "WaitForTerminalExitResponse",
    "WriteTextFileRequest",
]
"""The params and results that Trunkline reads or builds as types."""

PATCHES = {"CompactionUpdate", "SessionInfoUpdate", "SessionMessage", "SubagentUpdate", "ToolCallUpdate"}
"""Objects whose prose says that omission leaves a value as it is."""

VARIANT_NAMES = {
    ("RequestPermissionOutcome", "cancelled"): "CancelledPermissionOutcome",
    ("SessionUpdate", "tool_call_update"): "ToolCallProgress",
}
"""Names for variants that the schema leaves nameless, or whose name is taken by an untagged object."""

ENTRY_NAMES = {"SessionConfigSelectOptions": "SessionConfigSelectEntry"}
"""Names for the items of a union of arrays."""

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


@dataclass
class Member:
    """A property of a struct."""

    schema: Schema
    required: bool
    merged: bool = False


@dataclass
class Struct:
    """An object type, perhaps one variant of a tagged union."""

    name: str
    doc: str
    members: dict[str, Member] = field(default_factory=dict[str, Member])
    tag: tuple[str, str] | None = None
    base: str = "Wire"


class Generator:
    """Turns schema definitions into Python, each after those it needs."""

    def __init__(self, definitions: dict[str, Schema]) -> None:
        """Look at how often each definition is used: one used once can carry its variant's tag."""
        self.definitions = definitions
        self.chunks: list[str] = []
        self.names: set[str] = set()
        self._done: dict[str, str] = {}
        self._open: set[str] = set()
        uses = re.findall(r'"#/\$defs/(\w+)"', json.dumps(self._reachable()))
        self._shared = {name for name in uses if uses.count(name) > 1}

    def _reachable(self) -> dict[str, Schema]:
        found: dict[str, Schema] = {}
        todo = [*ROOTS]
        while todo:
            name = todo.pop()
            if name not in found:
                found[name] = self.definitions[name]
                todo += re.findall(r'"#/\$defs/(\w+)"', json.dumps(found[name]))
        return found

    # -- definitions --

    def define(self, name: str) -> str:
        """Write a definition if it is not written yet, and give the Python type that stands for it."""
        if name in self._open:
            raise ValueError(f"{name} contains itself, which these types cannot express yet")
        if name not in self._done:
            self._open.add(name)
            self._done[name] = self._define(name, self.definitions[name])
            self._open.remove(name)
        return self._done[name]

    def _define(self, name: str, schema: Schema) -> str:
        options: list[Schema] = schema.get("oneOf") or schema.get("anyOf") or []
        if options and all("const" in option for option in options):
            values = ", ".join(json.dumps(option["const"]) for option in options)
            return self._alias(name, f"Literal[{values}]")
        if tag := _tag_of(options):
            return self._tagged_union(name, schema, tag)
        if options and all(option.get("type") == "array" for option in options):
            entry = ENTRY_NAMES[name]
            self._struct(_merge(Struct(entry, _doc(name)), [self._resolve(o["items"]) for o in options]))
            return f"tuple[{entry}, ...]"
        if schema.get("type") == "object" or (options and all(_is_object(self._resolve(o)) for o in options)):
            return self._struct(self._read_object(Struct(name, _doc(name, schema)), schema))
        return self.type_of(schema)

    def _tagged_union(self, name: str, schema: Schema, tag: str) -> str:
        variants: list[str] = []
        for option in schema.get("oneOf") or schema["anyOf"]:
            value = option["properties"][tag].get("const")
            if value is None:
                continue  # the schema's own "anything else", which is Unknown here
            target = _target(option)
            own = target if target and target not in self._shared else None
            variant = own or VARIANT_NAMES.get((name, value)) or _pascal(value)
            struct = Struct(variant, f"``{tag}: {value}`` of {name}.", tag=(tag, value))
            if own:
                self._read_object(struct, self.definitions[own])
            elif target:
                struct.base = self.define(target)
            self._read_object(struct, {k: v for k, v in schema.items() if k not in ("oneOf", "anyOf")})
            variants.append(self._struct(struct))
        self.names.add(name)
        known = f"Union[{', '.join(variants)}]"
        if len(known) + len(name) + len("     = , Unknown") > WIDTH:
            self.chunks.append("\n".join([f"_{name} = Union[", *(f"    {one}," for one in variants), "]"]))
            known, variants = f"_{name}", [f"_{name}"]
        self.chunks.append(
            f"if TYPE_CHECKING:\n    {name} = Union[{', '.join([*variants, 'Unknown'])}]\n"
            f"else:\n    {name} = {known}"
        )
        return name

    def _alias(self, name: str, value: str) -> str:
        line = f"{name} = {value}"
        if len(line) > WIDTH:
            line = line.replace("[", "[\n    ").replace("]", "\n]")
        self.names.add(name)
        self.chunks.append(line)
        return name

    # -- structs --

    def _read_object(self, struct: Struct, schema: Schema) -> Struct:
        required = schema.get("required", [])
        for key, value in schema.get("properties", {}).items():
            struct.members.setdefault(key, Member(value, key in required))
        options: list[Schema] = schema.get("oneOf") or schema.get("anyOf") or []
        return _merge(struct, [self._resolve(option) for option in options])

    def _resolve(self, option: Schema) -> Schema:
        """The object that a union's option means: its own properties and those it refers to."""
        target = _target(option)
        other = self.definitions[target] if target else {}
        return {
            **other,
            **option,
            "properties": other.get("properties", {}) | option.get("properties", {}),
            "required": [*other.get("required", []), *option.get("required", [])],
        }

    def _struct(self, struct: Struct) -> str:
        arguments = f"{struct.base}, frozen=True, kw_only=True"
        if struct.tag:
            arguments += f', tag_field="{struct.tag[0]}", tag="{struct.tag[1]}"'
        members = [
            self._member(struct.name, key, member)
            for key, member in struct.members.items()
            if key != "_meta" and not (struct.tag and key == struct.tag[0])
        ]
        # An object that is no message is described by its name and its fields.
        doc = [f'    """{struct.doc}"""', ""] if " of ``" in struct.doc else []
        empty = "" if members or doc else " ..."
        head = f"class {struct.name}({arguments}):{empty}"
        if len(head) > WIDTH:
            head = f"class {struct.name}(\n    {arguments}\n):{empty}"
        lines = [head, *doc, *members]
        self.names.add(struct.name)
        self.chunks.append("\n".join(lines).rstrip())
        return struct.name

    def _member(self, owner: str, key: str, member: Member) -> str:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower()
        if _camel(name) != key:
            raise ValueError(f"{owner}.{key} cannot be spelt in snake case")
        type_name = self.type_of(member.schema)
        if member.required:
            return f"    {name}: {type_name}"
        if type_name == "Any":
            return f"    {name}: Any = UNSET"
        bare = type_name.removesuffix(" | None")
        if owner in PATCHES:
            return f"    {name}: {bare} | UnsetType | None = UNSET"
        default = self._default(type_name, member)
        return f"    {name}: {bare} | None = None" if default is None else f"    {name}: {bare} = {default}"

    def _default(self, type_name: str, member: Member) -> str | None:
        default = member.schema.get("default")
        if isinstance(default, dict):
            return f"{type_name}()" if type_name in self.names else None
        if isinstance(default, bool | str | int | float):
            return json.dumps(default) if isinstance(default, str) else repr(default)
        if type_name.startswith("tuple") and not type_name.endswith("None") and not member.merged:
            return "()"
        return None

    # -- types --

    def type_of(self, schema: Schema) -> str:
        """The Python type of a schema."""
        target = _target(schema)
        if target:
            return self.define(target)
        if options := schema.get("anyOf"):
            return _join([self.type_of(option) for option in options])
        kind: Any = schema.get("type")
        if kind is None:
            return "Any"
        if not isinstance(kind, str):
            return _join([self.type_of({**schema, "type": one}) for one in kind])
        if kind == "array":
            return f"tuple[{self.type_of(schema['items'])}, ...]"
        if kind == "object":
            values = schema.get("additionalProperties", True)
            return f"dict[str, {'Any' if values is True else self.type_of(values)}]"
        return SCALARS[kind]


def generate(folder: Path) -> str:
    """Give the text of wire.py for the schemas in a folder."""
    version = json.loads((folder / "source.json").read_text(encoding="utf-8"))["version"]
    generator = Generator(json.loads((folder / "schema.unstable.json").read_text(encoding="utf-8"))["$defs"])
    for root in ROOTS:
        generator.define(root)
    return f'''"""The types of the Agent Client Protocol, version 1.

Generated by scripts/generate_acp_types.py from the JSON schemas in the npm package
@agentclientprotocol/sdk {version}. Do not edit it by hand.
"""

from typing import TYPE_CHECKING, Any, Literal, Union

from msgspec import UNSET, Struct, UnsetType, field

if TYPE_CHECKING:
    from trunkline.protocols.acp.lossless import Unknown

SDK_VERSION = "{version}"


class Wire(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What every object may carry."""

    meta: dict[str, Any] | None = field(default=None, name="_meta")


{_spread(generator.chunks)}
'''


def _target(schema: Schema) -> str | None:
    """The one definition a schema refers to."""
    references = [schema, *schema.get("allOf", [])]
    return next((r["$ref"].rsplit("/", 1)[1] for r in references if "$ref" in r), None)


def _tag_of(options: list[Schema]) -> str | None:
    """The property that tells all options apart, if there is one."""
    for key in options[0].get("properties", {}) if options else ():
        tagged = [o for o in options if "const" in o.get("properties", {}).get(key, {})]
        others = [o for o in options if o not in tagged]
        if tagged and all("not" in other for other in others):
            return key
    return None


def _is_object(schema: Schema) -> bool:
    return schema.get("type") == "object" or bool(schema["properties"])


def _merge(struct: Struct, options: list[Schema]) -> Struct:
    """Add the fields of a union's options; those that not all of them require become optional."""
    for option in options:
        if "not" in option:
            continue
        for key, value in option["properties"].items():
            required = all(key in other["required"] for other in options)
            old = struct.members.setdefault(key, Member(value, required, merged=True))
            if old.merged and old.schema != value:
                old.schema = _either(old.schema, value)
    return struct


def _either(one: Schema, other: Schema) -> Schema:
    """A schema for both; a tag of several constants is a plain string."""
    if "const" in one or "const" in other:
        return {"type": "string"}
    if _bare(one) == _bare(other):
        return one
    return {"anyOf": [*one.get("anyOf", [one]), other]}


def _bare(schema: Schema) -> Schema:
    return {k: v for k, v in schema.items() if k != "description"}


def _doc(name: str, schema: Schema | None = None) -> str:
    method = (schema or {}).get("x-method")
    if not method:
        return f"The object {name}."
    return f"The {'result' if name.endswith('Response') else 'params'} of ``{method}``."


def _join(types: list[str]) -> str:
    """A union without repetitions, None last."""
    unique = [one for one in dict.fromkeys(types) if one != "None"]
    return " | ".join([*unique, "None"] if "None" in types else unique)


def _pascal(value: str) -> str:
    return "".join(part.capitalize() for part in value.split("_"))


def _camel(value: str) -> str:
    head, *rest = value.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _spread(chunks: list[str]) -> str:
    """Put two blank lines around classes and one between the rest."""
    text = chunks[0]
    for before, after in pairwise(chunks):
        around = before.startswith("class ") or after.startswith("class ")
        text += ("\n\n\n" if around else "\n\n" if "\n" in before + after else "\n") + after
    return text


def copy_schemas(package: Path) -> None:
    """Copy the schemas of an installed npm package, one definition a line."""
    source = json.loads((SCHEMAS / "source.json").read_text(encoding="utf-8"))
    source["version"] = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
    (SCHEMAS / "source.json").write_text(json.dumps(source, indent=2) + "\n", encoding="utf-8")
    for name in ("schema.json", "schema.unstable.json"):
        schema = json.loads((package / source["folder"] / name).read_text(encoding="utf-8"))
        rows = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in schema.pop("$defs").items()]
        head = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in schema.items()]
        text = ",\n".join([*head, '"$defs": {\n' + ",\n".join(rows) + "\n}"])
        (SCHEMAS / name).write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--copy"]:
        copy_schemas(Path(sys.argv[2]))
    TARGET.write_text(generate(SCHEMAS), encoding="utf-8")
