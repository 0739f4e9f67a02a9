from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.errors import PeerError
from trunkline.protocols.jsonrpc.messages import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    MAX_DEPTH,
    PARSE_ERROR,
    Malformed,
    Notification,
    Request,
    Response,
    RpcError,
    parse,
    parse_loosely,
)


def message(**fields: Any) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", **fields})


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"hello",
        b"{",
        b'{"jsonrpc":"2.0","method":"a"} trailing',
        b"\xff\xfe",
        b'{"jsonrpc":"2.0","method":"\xc3"}',
        b'{"jsonrpc":"2.0","method":"a","params":[NaN]}',
        b'{"jsonrpc":"2.0","method":"\\ud800","params":[NaN]}',
        b"[" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    ],
)
def test_what_is_not_json_is_a_parse_error_without_id(line: bytes) -> None:
    malformed = parse(line)
    assert isinstance(malformed, Malformed)
    assert (malformed.id, malformed.code, malformed.is_answer) == (None, PARSE_ERROR, False)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b"[NaN, -Infinity, Infinity, 1]", [None, None, None, 1]),
        (b'["caf\xe9"]', ["caf\N{REPLACEMENT CHARACTER}"]),
        (b'["\\ud800", NaN]', ["\N{REPLACEMENT CHARACTER}", None]),
        (b"[123456789012345678901234567890, NaN]", [123456789012345678901234567890.0, None]),
    ],
)
def test_what_is_nearly_json_is_mended_where_that_is_wished(written: bytes, read: list[Any]) -> None:
    line = b'{"jsonrpc":"2.0","id":7,"method":"a","params":' + written + b"}"
    assert isinstance(parse(line), Malformed)
    assert parse_loosely(line) == Request(7, "a", read)


@pytest.mark.parametrize(
    "line",
    [b"", b"hello", b"{", b"NaN", b"[NaN]", b"1", b'{"a":' * 100_000, b'{"jsonrpc":"2.0","method":"a"} more'],
)
def test_what_cannot_be_mended_stays_malformed(line: bytes) -> None:
    assert parse_loosely(line) == parse(line)


@pytest.mark.parametrize(
    "line", [b"[]", b'[{"jsonrpc":"2.0","method":"a","id":1}]', b"1", b'"a"', b"null", b"true"]
)
def test_batches_and_scalars_are_invalid_requests_without_id(line: bytes) -> None:
    malformed = parse(line)
    assert isinstance(malformed, Malformed)
    assert (malformed.id, malformed.code) == (None, INVALID_REQUEST)


@pytest.mark.parametrize(
    ("line", "id"),
    [
        (b"{}", None),
        (b'{"method":"a","id":7}', 7),
        (b'{"jsonrpc":2.0,"method":"a","id":"x"}', "x"),
        (b'{"jsonrpc":"1.0","method":"a"}', None),
        (message(method=5, id=7), 7),
        (message(method=None, id=7), 7),
        (message(method="a", params="text", id="p"), "p"),
        (message(method="a", params=3), None),
        (message(method="a", id={}), None),
        (message(method="a", id=[1]), None),
        (message(method="a", id=True), None),
        (message(id=7), 7),
        (message(result={}), None),
        (message(result={}, id={}), None),
        (b'{"result":{},"id":7}', 7),
    ],
)
def test_an_object_that_is_not_json_rpc_is_refused_with_its_id_if_it_has_one(line: bytes, id: object) -> None:
    malformed = parse(line)
    assert isinstance(malformed, Malformed)
    assert (malformed.id, malformed.code) == (id, INVALID_REQUEST)
    assert malformed.message.startswith("invalid request: ")


@pytest.mark.parametrize("id", [0, 1, -1, 2**53, 2**64 - 1, "0", "", "é", "6f1c-uuid", None, 0.0, 1.5, -0.0])
def test_the_id_of_a_request_keeps_its_kind(id: Any) -> None:
    request = parse(message(method="a", id=id))
    assert isinstance(request, Request)
    assert repr(request.id) == repr(id)


@pytest.mark.parametrize("params", [{}, {"a": [1, None]}, [], [1, {"b": 2}]])
def test_params_are_an_object_or_an_array(params: Any) -> None:
    assert parse(message(method="a", params=params)) == Notification("a", params)
    assert parse(message(method="a", params=params, id=1)) == Request(1, "a", params)


def test_absent_and_null_params_are_the_same() -> None:
    assert parse(message(method="a")) == parse(message(method="a", params=None)) == Notification("a", None)


@pytest.mark.parametrize("result", [None, {}, [], 0, False, "text", {"a": 1}])
def test_any_result_is_an_answer(result: Any) -> None:
    assert parse(message(id=1, result=result)) == Response(1, result)
    assert parse(message(id=1, result=result, error=None)) == Response(1, result)


def test_an_error_answer_keeps_code_message_and_data() -> None:
    response = parse(message(id="x", error={"code": -32000, "message": "log in", "data": {"details": "why"}}))
    assert isinstance(response, Response)
    assert response.error is not None
    assert (response.id, response.result) == ("x", None)
    assert (response.error.rpc_code, response.error.message) == (-32000, "log in")
    assert response.error.data == {"details": "why"}


@pytest.mark.parametrize("error", ["text", {}, {"code": "1", "message": "m"}, {"code": 1}, 0, False, []])
def test_an_error_of_an_illegal_shape_is_still_an_error(error: Any) -> None:
    response = parse(message(id=1, error=error))
    assert isinstance(response, Response)
    assert response.error is not None
    assert (response.error.rpc_code, response.error.data) == (INTERNAL_ERROR, error)


def nested(depth: int, **fields: Any) -> bytes:
    """A message of that many levels, its own object included."""
    params = b"[" * (depth - 1) + b"]" * (depth - 1)
    return message(**fields, params="HERE").replace(b'"HERE"', params)


@pytest.mark.parametrize("id", [1, None, "x"])
def test_a_message_that_is_nested_too_deep_is_refused_with_its_id(id: Any) -> None:
    assert isinstance(parse(nested(MAX_DEPTH, method="a", id=id)), Request)
    malformed = parse(nested(MAX_DEPTH + 1, method="a", id=id))
    assert malformed == Malformed(id, INVALID_REQUEST, "invalid request: it is nested deeper than 200 levels")


def test_a_message_at_the_depth_limit_can_be_written_again() -> None:
    notification = parse(nested(MAX_DEPTH, method="a"))
    assert isinstance(notification, Notification)
    assert orjson.dumps({"jsonrpc": "2.0", "method": "b", "params": {"wrapped": {"in": notification.params}}})


def test_a_long_flat_message_is_not_deep() -> None:
    params = {"rows": [[n, {"n": "{[" * 10}] for n in range(500)]}
    assert parse(message(method="a", params=params)) == Notification("a", params)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (None, "broken"),
        ("disk full", "broken: disk full"),
        ({"details": "disk full"}, "broken: disk full"),
        ({"message": "disk full"}, "broken: disk full"),
        ({"details": ""}, "broken"),
        ({"other": 1}, "broken"),
    ],
)
def test_the_text_of_an_error_names_the_cause_hidden_in_its_data(data: Any, text: str) -> None:
    error = RpcError(INTERNAL_ERROR, "broken", data)
    assert str(error) == text
    assert isinstance(error, PeerError)


@given(st.binary(max_size=200))
def test_no_bytes_make_parsing_raise(line: bytes) -> None:
    assert isinstance(parse(line), Request | Notification | Response | Malformed)


json_values = st.sampled_from(
    [None, True, 0, 7, 1.5, "", "a", "2.0", [], [1], {}, {"code": 1, "message": "m"}]
)


@given(
    st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]), json_values),
    st.booleans(),
)
def test_no_object_makes_parsing_raise(fields: dict[str, Any], versioned: bool) -> None:
    parsed = parse(orjson.dumps(fields | {"jsonrpc": "2.0"} if versioned else fields))
    if not isinstance(parsed, Notification):
        assert parsed.id is None or (type(parsed.id) is type(fields["id"]) and parsed.id == fields["id"])


def test_half_an_emoji_does_not_cost_the_message() -> None:
    line = b'{"jsonrpc":"2.0","id":7,"method":"m","params":{"text":"a\\ud83d b","ok":"\\ud83d\\ude00"}}'
    request = parse(line)
    assert isinstance(request, Request)
    assert (request.id, request.params) == (
        7,
        {"text": "a\N{REPLACEMENT CHARACTER} b", "ok": "\N{GRINNING FACE}"},
    )


def test_a_line_that_cannot_be_mended_is_still_no_json() -> None:
    for line in (b'{"a":"\\ud83d"', b"[" * 100_000 + b'"\\ud83d"'):
        refused = parse(line)
        assert isinstance(refused, Malformed)
        assert (refused.id, refused.code) == (None, PARSE_ERROR)


@pytest.mark.parametrize("space", [b"", b" ", b"\r"])
def test_a_byte_order_mark_before_a_message_is_no_part_of_it(space: bytes) -> None:
    line = b"\xef\xbb\xbf" + space + b'{"jsonrpc":"2.0","id":1,"method":"initialize"}'
    assert parse(line) == Request(1, "initialize")
    assert isinstance(parse(b"\xef\xbb\xbf"), Malformed)
