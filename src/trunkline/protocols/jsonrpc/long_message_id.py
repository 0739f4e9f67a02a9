"""The id of a message that is too long to be read, from its first and its last bytes.

Else the request that it answers would wait for ever. The members before the first long one are read one by
one. An id that stands last is known by the brace that closes the message behind it: inside of a text, a
quotation mark would have to follow.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from trunkline.protocols.jsonrpc.framing import Oversize
from trunkline.protocols.jsonrpc.messages import INVALID_REQUEST, Malformed, is_id

_SCALAR = rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null'
_MEMBER = re.compile(rb'\s*[{,]\s*"((?:[^"\\]|\\.)*)"\s*:\s*(?:(' + _SCALAR + rb")(?=\s*[,}]))?")
_LAST = re.compile(rb',\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


def refuse_oversize(line: Oversize) -> Malformed:
    """Give the error for a message that is too long, with its id where that can be found."""
    known: dict[bytes, Any] = {}
    at, long = 0, b""
    while found := _MEMBER.match(line.head, at):
        name, value = found.groups()
        if value is None:
            long = name
            break
        known[name] = _read(value)
        at = found.end()
    last = None if b"id" in known else _LAST.search(line.tail)
    id: Any = known.get(b"id") if last is None else _read(last[1])
    why = f"a line of {line.size} bytes is above the limit of {line.limit}"
    is_answer = b"method" not in known and long in (b"result", b"error")
    return Malformed(id if is_id(id) else None, INVALID_REQUEST, why, is_answer)


def _read(value: bytes) -> Any:
    try:
        # Whole numbers of any length are taken as they are.
        return int(value) if value.lstrip(b"-").isdigit() else orjson.loads(value)
    except ValueError:
        return None
