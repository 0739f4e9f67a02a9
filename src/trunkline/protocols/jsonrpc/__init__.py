"""JSON-RPC 2.0 over lines of bytes (https://www.jsonrpc.org/specification).

Above is a protocol (ACP, on both of its sides) that gives methods a meaning; below is a transport
that moves bytes.

* ``connection``: a peer in an event loop: tasks and waiting
* ``framing``: a stream of bytes into lines
* ``messages``: what one line means
* ``oversize``: the id of a message that is too long to be read
* ``peer``: one end of a connection as a state machine; pure
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
