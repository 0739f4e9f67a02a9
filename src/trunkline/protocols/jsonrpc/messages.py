"""Messages: what one line of JSON-RPC 2.0 means.

``parse`` never raises. What is not JSON-RPC is a ``Malformed`` that carries the error to answer with;
whether it deserves an answer is for the peer to decide.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, TypeAlias, TypeGuard, Union, cast

import msgspec
import orjson

from trunkline.errors import PeerError

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
REQUEST_CANCELLED: Final = -32800
# ACP's own:
AUTH_REQUIRED: Final = -32000
RESOURCE_NOT_FOUND: Final = -32002

_BOM = b"\xef\xbb\xbf"
_SURROGATES = re.compile("[\ud800-\udfff]")

MAX_DEPTH: Final = 200
"""How deep a message may be nested: deeper than any protocol goes, and what we can still write."""

_ENCODER_DEPTH: Final = 254  # orjson reads 1024 levels, but writes only these

Id: TypeAlias = Union[int, str, float, None]
Params: TypeAlias = Union[dict[str, Any], list[Any], None]


class _About(msgspec.Struct, rename="camel"):
    request_id: Id = None


class _Ids(msgspec.Struct):
    """The ids in a message, exactly as they stand there."""

    id: Id = None
    params: Union[_About, list[Any], None] = None


_read_ids = msgspec.json.Decoder(_Ids).decode


class RpcError(PeerError):
    """The other side answered a request with an error, or cannot answer it any more.

    Raise it in a handler to answer with exactly this error.
    """

    code = "rpc_error"

    def __init__(self, rpc_code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.rpc_code = rpc_code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        """Say the message and, because many agents hide the cause there, the text in ``data``."""
        match self.data:
            case str(cause) | {"details": str(cause)} | {"message": str(cause)} if not self._says(cause):
                return f"{self.message}: {cause}"
            case _:
                return self.message

    def _says(self, cause: str) -> bool:
        """Whether the message has the cause already, perhaps in one line."""
        return " ".join(cause.split()) in " ".join(self.message.split())


class NoAnswer(RpcError):
    """The connection is over, so that a request of ours gets no answer any more."""

    def __init__(self, message: str) -> None:
        super().__init__(INTERNAL_ERROR, message)


# Parsed JSON has no cycles, so these need no garbage collector.
class Request(msgspec.Struct, frozen=True, gc=False):
    """The other side wants an answer; its id may be of any scalar kind and is echoed as it came."""

    id: Id
    method: str
    params: Params = None


class Notification(msgspec.Struct, frozen=True, gc=False):
    """The other side sends something that needs no answer."""

    method: str
    params: Params = None


class Response(msgspec.Struct, frozen=True, gc=False):
    """The other side answers; ``error`` is None when it went well."""

    id: Id
    result: Any = None
    error: RpcError | None = None


class Malformed(msgspec.Struct, frozen=True, gc=False):
    """A line that is not JSON-RPC, and the error that says so."""

    id: Id
    code: int
    message: str
    is_answer: bool = False
    """It names an id but no method: perhaps a broken answer to a request of ours."""


Message: TypeAlias = Union[Request, Notification, Response]


def is_id(value: object) -> TypeGuard[Id]:
    """Whether a value can be the id of a request (a bool, though an int to Python, cannot)."""
    return value is None or type(value) in (int, str, float)


def written(id: Id) -> Any:
    """Give an id as our encoder takes it: whole numbers beyond 64 bits are written digit by digit."""
    large = type(id) is int and not -(1 << 63) <= id < (1 << 64)
    return orjson.Fragment(str(id).encode()) if large else id


def parse(line: bytes) -> Message | Malformed:
    """Say what a line is; never raises."""
    try:
        fields: dict[str, Any] = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        if line.startswith(_BOM):
            # "implementations that parse JSON texts MAY ignore the presence of a byte order mark" (RFC 8259,
            # 8.1): a file that is redirected into us may have one.
            return parse(line[len(_BOM) :].strip())
        try:
            fields = _mend(line)
        except (ValueError, RecursionError):
            return Malformed(None, PARSE_ERROR, f"this line is not JSON: {error}")
    if type(fields) is not dict:
        # JSON-RPC knows batches, but ACP has none: "Messages are individual JSON-RPC requests,
        # notifications, or responses." (https://agentclientprotocol.com/protocol/v1/transports)
        return Malformed(None, INVALID_REQUEST, "invalid request: a message is one JSON object, no batch")
    # Cheap things first: most messages are too short to be too deep.
    if len(line) > 2 * MAX_DEPTH and _is_too_deep(line, fields):
        return _refuse(fields, f"it is nested deeper than {MAX_DEPTH} levels")
    method = fields.get("method")
    if type(method) is not str or fields.get("jsonrpc") != "2.0":
        return _parse_response(line, fields)
    params = fields.get("params")
    # Null is no legal value in JSON-RPC, but ACP's schema allows it for "no params".
    if params is not None and type(params) not in (dict, list):
        return _refuse(fields, "params must be an object or an array")
    if "id" not in fields:
        return Notification(method, _exact_about(line, cast("Params", params)))
    id = fields["id"]
    if not is_id(id):
        return _refuse(fields, "id must be a string, a number or null")
    return Request(_exact(line, id) if type(id) is float else id, method, params)


def parse_loosely(line: bytes) -> Message | Malformed:
    """Say what a line is that its writer took for JSON: NaN, Infinity and bytes that are no UTF-8 are mended.

    Python writes the former for a float that is no number, unless it is told not to. A request that was
    dropped for it would never be answered.
    """
    message = parse(line)
    if not isinstance(message, Malformed) or message.code != PARSE_ERROR or not line.startswith(b"{"):
        return message
    try:
        fields = json.loads(line.decode(errors="replace"), parse_constant=lambda _: None)
        return parse(json.dumps(fields).encode())
    except (ValueError, RecursionError):
        return message


def _exact(line: bytes, id: float) -> Id:
    """Give an id as it was sent: the quick decoder makes a float of a whole number beyond 64 bits."""
    try:
        return _read_ids(line).id
    except msgspec.DecodeError:
        return id


def _exact_about(line: bytes, params: Params) -> Params:
    """Give the params of a notification with the id of the request that they are about as it was sent."""
    if not isinstance(params, dict) or type(params.get("requestId")) is not float:
        return params
    try:
        about = _read_ids(line).params
    except msgspec.DecodeError:
        return params
    return {**params, "requestId": about.request_id} if isinstance(about, _About) else params


def _mend(line: bytes) -> Any:
    """Read a line that has half an emoji in it, as a JavaScript peer sends one that it cut."""
    if b"\\ud" not in line and b"\\uD" not in line:
        raise ValueError("nothing to mend")
    text = json.dumps(json.loads(line), ensure_ascii=False)
    return orjson.loads(_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text))


def _parse_response(line: bytes, fields: dict[str, Any]) -> Response | Malformed:
    if fields.get("jsonrpc") != "2.0":
        return _refuse(fields, 'the member "jsonrpc" must be "2.0"')
    if "method" in fields:
        return _refuse(fields, "method must be a string")
    if "id" not in fields or not is_id(fields["id"]):
        return _refuse(fields, "neither a request (no method) nor an answer (no legal id)")
    id = fields["id"]
    if type(id) is float:
        id = _exact(line, id)
    error = fields.get("error")
    if error is not None:
        return Response(id, None, _read_error(error))
    if "result" not in fields:
        return _refuse(fields, "neither method, result nor error is there")
    return Response(id, fields["result"])


def _is_too_deep(line: bytes, fields: dict[str, Any]) -> bool:
    if line.count(b"{") + line.count(b"[") <= MAX_DEPTH:
        return False
    probe: Any = fields
    for _ in range(_ENCODER_DEPTH - MAX_DEPTH):
        probe = [probe]
    try:
        orjson.dumps(probe)
    except TypeError:
        return True
    return False


def _read_error(error: Any) -> RpcError:
    match error:
        case {"code": int(code), "message": str(message), **rest}:
            return RpcError(code, message, rest.get("data"))
        case _:
            return RpcError(INTERNAL_ERROR, "the answer is an error of an illegal shape", error)


def _refuse(fields: dict[str, Any], why: str) -> Malformed:
    id = fields.get("id")
    is_answer = "id" in fields and "method" not in fields
    return Malformed(id if is_id(id) else None, INVALID_REQUEST, f"invalid request: {why}", is_answer)
