"""What a line of the splice says: read from a copy, so that the line itself stays as it came; pure.

The splice must forward also what our JSON-RPC peer refuses: numbers beyond any float, messages nested deeper
than ours, bytes that are no UTF-8. So a second, slower reader takes what the first one does not.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple, cast

from trunkline.protocols.jsonrpc.messages import (
    Id,
    Malformed,
    Message,
    Notification,
    Request,
    Response,
    RpcError,
    is_id,
    parse,
)

_LONGEST_INT = 4000
_BEFORE_MESSAGE = "\ufeff \t\r\n\v\f"
"""What our JSON-RPC peer passes over at the beginning of a line: byte order marks and white space."""


class IdKey(NamedTuple):
    """An id as a key: to JSON-RPC 1, 1.0, "1" and null are four ids."""

    kind: str
    id: Id


def id_key(id: Id) -> IdKey:
    """Give an id as a key."""
    return IdKey(type(id).__name__, id)


def read_line(raw: bytes) -> Message | Malformed | None:
    """Say what a line is; None for one that is no JSON object with a member of JSON-RPC: a banner, a log."""
    message = parse(raw)
    if not isinstance(message, Malformed):
        return message
    fields = _read_loosely(raw)
    if fields is None or not {"jsonrpc", "method", "id"} & fields.keys():
        return None
    return _as_message(fields) or message


def method_in(raw: bytes) -> Any:
    """Give whatever a line of an odd shape has as its method."""
    return (_read_loosely(raw) or {}).get("method")


def _read_loosely(raw: bytes) -> dict[str, Any] | None:
    try:
        fields = json.loads(raw.decode(errors="replace").lstrip(_BEFORE_MESSAGE), parse_int=_int)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", fields) if isinstance(fields, dict) else None


def _int(digits: str) -> int | float:
    return int(digits) if len(digits) < _LONGEST_INT else float(digits)


def _as_message(fields: dict[str, Any]) -> Message | None:
    method, id, params = fields.get("method"), fields.get("id"), fields.get("params")
    if not is_id(id):
        return None
    if "method" not in fields:
        if "id" not in fields or not {"result", "error"} & fields.keys():
            return None
        error = fields.get("error")
        failed = None if error is None else RpcError(-32603, str(error), error)
        return Response(id, fields.get("result"), failed)
    if not isinstance(method, str) or not (params is None or isinstance(params, dict | list)):
        return None
    given = cast("Any", params)
    return Request(id, method, given) if "id" in fields else Notification(method, given)


def methods_if_ambiguous(raw: bytes) -> list[str]:
    """Give every method that a request names, if an object in it has a member twice; else nothing.

    Of two members with one name, some readers take the first and some the last, and bytes that are no UTF-8
    are shown or left out: what the policy judged might not be what the editor does.
    """
    text = raw.decode(errors="replace")
    repeated = text.encode() != raw
    outermost: list[tuple[str, Any]] = []

    def take(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated, outermost
        found = dict(pairs)
        repeated = repeated or len(found) < len(pairs)
        outermost = pairs  # The outermost object is complete last.
        return found

    try:
        json.loads(text.lstrip(_BEFORE_MESSAGE), parse_int=_int, object_pairs_hook=take)
    except (ValueError, RecursionError):
        return []
    return [str(value) for name, value in outermost if name == "method"] if repeated else []
