"""A JSON-RPC 2.0 peer over lines of bytes, without I/O.

Above is a protocol (ACP, on both of its sides) that gives methods a meaning; below is a transport
that moves bytes. In between, ``LineFramer`` cuts a stream into lines, ``parse`` says what a line
is, and ``Peer`` keeps one connection: who waits for which answer, and what is still to be written.
"""

from __future__ import annotations

from trunkline.protocols.jsonrpc.framing import LineFramer, Oversize
from trunkline.protocols.jsonrpc.messages import (
    AUTH_REQUIRED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    MAX_DEPTH,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    RESOURCE_NOT_FOUND,
    Id,
    Malformed,
    Message,
    Notification,
    Params,
    Request,
    Response,
    RpcError,
    parse,
    written,
)
from trunkline.protocols.jsonrpc.oversize import refuse_oversize
from trunkline.protocols.jsonrpc.peer import Cancelled, Incoming, Peer, Settled

__all__ = [
    "AUTH_REQUIRED",
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "MAX_DEPTH",
    "METHOD_NOT_FOUND",
    "PARSE_ERROR",
    "REQUEST_CANCELLED",
    "RESOURCE_NOT_FOUND",
    "Cancelled",
    "Id",
    "Incoming",
    "LineFramer",
    "Malformed",
    "Message",
    "Notification",
    "Oversize",
    "Params",
    "Peer",
    "Request",
    "Response",
    "RpcError",
    "Settled",
    "parse",
    "refuse_oversize",
    "written",
]
