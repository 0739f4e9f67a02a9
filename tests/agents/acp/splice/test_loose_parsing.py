"""What a line of the splice says."""

import pytest

from trunkline.agents.acp.splice.loose_parsing import id_key, methods_if_ambiguous, read_line
from trunkline.protocols.jsonrpc.messages import Malformed, Notification, Request, Response


@pytest.mark.parametrize("line", [b"Welcome!", b'{"level":"info"}', b"[1]", b'"id"', b"{" * 100_000, b"NaN"])
def test_what_is_no_message_is_known_as_such(line: bytes) -> None:
    assert read_line(line) is None


def test_numbers_beyond_any_float_and_deep_messages_are_read() -> None:
    digits = "9" * 5000
    huge = read_line(f'{{"jsonrpc":"2.0","id":7,"method":"x","params":{{"n":{digits}}}}}'.encode())
    assert isinstance(huge, Request)
    assert (huge.id, huge.method) == (7, "x")
    deep = read_line(b'{"jsonrpc":"2.0","method":"x","params":{"d":' + b"[" * 300 + b"]" * 300 + b"}}")
    assert isinstance(deep, Notification)
    answer = read_line(b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 300 + b"]" * 300 + b"}")
    assert isinstance(answer, Response)
    assert answer.error is None
    failed = read_line(b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":1e999}}')
    assert isinstance(failed, Response)
    assert failed.error is not None


def test_bytes_that_are_no_utf_8_are_read_and_make_a_request_ambiguous() -> None:
    line = b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"text":"caf\xe9"}}'
    read = read_line(line)
    assert isinstance(read, Request)
    assert (read.id, read.params) == (7, {"text": "caf\ufffd"})
    assert methods_if_ambiguous(line) == ["x"]
    assert methods_if_ambiguous(line.replace(b"\xe9", "é\ufffd".encode())) == []


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":true,"method":"x"}',
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":"2.0","id":1,"method":5}',
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":"text"}',
    ],
)
def test_odd_shapes_stay_odd(line: bytes) -> None:
    assert isinstance(read_line(line), Malformed)


def test_ids_of_different_kinds_are_different_keys() -> None:
    assert len({id_key(one) for one in (1, 1.0, "1", None, 0, "")}) == 6


def test_an_answer_has_its_long_id_exactly() -> None:
    answer = read_line(b'{"jsonrpc":"2.0","id":12345678901234567890123,"result":1}')
    assert isinstance(answer, Response)
    assert answer.id == 12345678901234567890123


def test_methods_are_given_only_where_a_member_comes_twice() -> None:
    assert methods_if_ambiguous(b'{"id":1,"method":"a","params":{}}') == []
    assert methods_if_ambiguous(b'{"id":1,"method":"a","params":{"p":1,"p":2}}') == ["a"]
    assert methods_if_ambiguous(b'{"id":1,"method":"a","method":"b"}') == ["a", "b"]
    assert methods_if_ambiguous(b"{") == []


def test_a_byte_order_mark_does_not_hide_that_a_member_comes_twice() -> None:
    line = b'\xef\xbb\xbf {"jsonrpc":"2.0","id":1,"method":"a","method":"b"}'
    assert isinstance(read_line(line), Request)
    assert methods_if_ambiguous(line) == ["a", "b"]
