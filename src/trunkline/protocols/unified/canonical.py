"""Canonical JSON: the same message always has the same bytes, so that it can be signed or hashed.

"JSON Canonicalization Scheme", RFC 8785 (https://www.rfc-editor.org/rfc/rfc8785).
"""

from __future__ import annotations

from typing import Any

import msgspec

from trunkline.errors import ConfigurationError, InvalidCommand

__all__ = ["canonical_json"]


def canonical_json(value: Any) -> bytes:
    """Give the canonical JSON of a message, or of any JSON value; what has none is refused."""
    try:
        import rfc8785  # Of an extra: only programs that sign need it.
    except ModuleNotFoundError:
        raise ConfigurationError(
            "canonical JSON needs the package rfc8785: install trunkline[unified]"
        ) from None
    try:
        return rfc8785.dumps(msgspec.to_builtins(value))
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        # RFC 8785 stands on I-JSON (RFC 7493): numbers are IEEE doubles, and texts have no lone surrogates.
        raise InvalidCommand(f"this value has no canonical JSON (RFC 8785): {error}") from None
