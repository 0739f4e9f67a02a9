"""Answers about sessions and clients: no cache keeps them."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

NO_STORE = {"cache-control": "no-store"}
"""The header of whatever belongs to one caller."""

_encode = msgspec.json.Encoder().encode


def json_response(value: Any, status: int = 200) -> Response:
    """Give a value as JSON."""
    return Response(_encode(value), status, headers=NO_STORE, media_type="application/json")
