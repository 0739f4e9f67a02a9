"""Decoding that survives what a newer or a careless peer sends.

The unions of ACP v1 are closed and its fields are typed, but a peer may be newer than our schema.
The quick path is msgspec's. When that refuses a value, it is read once more, piece by piece:

* a variant that cannot be read, because it is new or broken, is kept as ``Unknown``
* a word that is not in a closed set is kept as it came
* an optional field that cannot be read takes its default, as the schema asks of every reader;
  a list that is null where it must not be is empty

Only what the rest hangs on still fails: a required field that is missing or of another type.
"""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Literal, TypeGuard, TypeVar, Union, get_args, get_origin, overload

import msgspec

T = TypeVar("T")


class Unknown(dict[str, Any]):
    """A variant we cannot read. It is the object as it came, so encoding gives it back unchanged."""

    @property
    def raw(self) -> dict[str, Any]:
        """The object as a plain dict."""
        return dict(self)


@overload
def decode(kind: type[T], value: Any) -> T: ...
@overload
def decode(kind: Any, value: Any) -> Any: ...
def decode(kind: Any, value: Any) -> Any:
    """Read parsed JSON as a wire type; raises msgspec.ValidationError with the path to the fault."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        pass  # outside of the handler, so that a second refusal does not drag the first along
    return _salvage(kind, value, "$")


def encode(value: msgspec.Struct | Unknown) -> dict[str, Any]:
    """Give a wire type as the plain JSON values that a JSON-RPC peer sends."""
    return msgspec.to_builtins(value)


def _salvage(kind: Any, value: Any, path: str) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Union or origin is UnionType:
        return _salvage_union(arguments, value, path)
    if origin is Literal and isinstance(value, str):
        return value
    if origin is tuple:
        items = _convert(list[Any], [] if value is None else value, path)
        return tuple(_salvage(arguments[0], item, f"{path}[{at}]") for at, item in enumerate(items))
    if _is_struct(kind):
        return _salvage_struct(kind, _convert(dict[str, Any], value, path), path)
    return _convert(kind, value, path)


def _salvage_struct(kind: type[msgspec.Struct], value: dict[str, Any], path: str) -> msgspec.Struct:
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        name = field.encode_name
        if name in value:
            try:
                fields[field.name] = _salvage(field.type, value[name], f"{path}.{name}")
            except msgspec.ValidationError:
                if field.required:
                    raise
        elif field.required:
            raise msgspec.ValidationError(f"Object missing required field `{name}` - at `{path}`")
    return kind(**fields)


def _salvage_union(members: tuple[Any, ...], value: Any, path: str) -> Any:
    if value is None and NoneType in members:
        return None
    kinds = [member for member in members if member not in (NoneType, msgspec.UnsetType)]
    if len(kinds) == 1:
        return _salvage(kinds[0], value, path)
    if isinstance(value, dict) and all(map(_is_struct, kinds)):
        return _salvage_variant(kinds, _convert(dict[str, Any], value, path), path)
    return _convert(Union[members], value, path)


def _salvage_variant(
    variants: list[type[msgspec.Struct]], value: dict[str, Any], path: str
) -> msgspec.Struct | Unknown:
    for variant in variants:
        config = variant.__struct_config__
        if value.get(str(config.tag_field)) == config.tag:
            try:
                return _salvage_struct(variant, value, path)
            except msgspec.ValidationError:
                break
    return Unknown(value)


def _convert(kind: Any, value: Any, path: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        message = str(error).partition(" - at `")[0]
        raise msgspec.ValidationError(f"{message} - at `{path}`") from None


def _is_struct(kind: Any) -> TypeGuard[type[msgspec.Struct]]:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)
