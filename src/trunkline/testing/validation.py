"""Whether an update is legal ACP: of a known kind, with every field it needs and none it made up."""

from __future__ import annotations

from typing import Any, cast, get_args

import msgspec

from trunkline.protocols.acp import wire

_VARIANTS: dict[Any, type[wire.Wire]] = {
    variant.__struct_config__.tag: variant for variant in get_args(wire.SessionUpdate)
}


def validate_acp_update(update: Any) -> None:
    """Check the ``update`` of a ``session/update``, a dict or a wire type.

    Raises ValueError that says what is wrong and where, as in ``tool_call: Expected `str`, got `int` - at
    `$.title```. Fields that ACP does not know are wrong too: custom data belongs into ``_meta``.
    """
    plain: Any = msgspec.to_builtins(update)
    if not isinstance(plain, dict):
        raise ValueError(f"an update is an object, not {plain!r}")
    fields = cast("dict[str, Any]", plain)
    kind = fields.get("sessionUpdate")
    variant = _VARIANTS.get(kind)
    if variant is None:
        raise ValueError(f"ACP v1 has no update {kind!r}; it has {', '.join(sorted(_VARIANTS))}")
    try:
        _check_names(msgspec.convert(fields, variant), fields, "$")
    except msgspec.ValidationError as error:
        raise ValueError(f"{kind}: {error}") from None


def _check_names(value: Any, plain: Any, path: str) -> None:
    """Refuse fields that our types do not have."""
    if isinstance(value, wire.Wire):
        config = value.__struct_config__
        members = {field.encode_name: field.name for field in msgspec.structs.fields(value)}
        for name, item in plain.items():
            if name in members:
                _check_names(getattr(value, members[name]), item, f"{path}.{name}")
            elif name != config.tag_field:
                raise msgspec.ValidationError(f"{type(value).__name__} has no field `{name}` - at `{path}`")
    elif isinstance(value, tuple):
        for number, (one, item) in enumerate(zip(cast("tuple[Any, ...]", value), plain, strict=True)):
            _check_names(one, item, f"{path}[{number}]")
