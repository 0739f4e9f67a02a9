"""data: URLs (RFC 2397), in which the files of a UI message travel."""

from __future__ import annotations

import base64
import binascii
from urllib.parse import unquote_to_bytes

__all__ = ["data_url", "read_data_url"]

_DEFAULT = "text/plain"


def data_url(mime_type: str, data: str) -> str:
    """Give base64 data as a URL."""
    return f"data:{mime_type};base64,{data}"


def read_data_url(url: str) -> tuple[str, bytes] | None:
    """Read the type and the bytes of a data: URL; None for one that is malformed.

    Spaces and line ends in base64 are skipped and missing padding is made up for, as browsers do.
    """
    if url[:5].lower() != "data:":
        return None
    head, comma, body = url[5:].partition(",")
    if not comma:
        return None
    mime_type, *parameters = (one.strip() for one in head.split(";"))
    mime_type = mime_type.lower() or _DEFAULT
    if not (parameters and parameters[-1].lower() == "base64"):
        return mime_type, unquote_to_bytes(body)
    packed = b"".join(unquote_to_bytes(body).split()).rstrip(b"=")
    try:
        return mime_type, base64.b64decode(packed + b"=" * (-len(packed) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
