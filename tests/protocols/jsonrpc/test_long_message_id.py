"""Messages that are too long to be read: whoever waits for an answer to one gets it."""

import json
from typing import Any

import pytest

from trunkline.protocols.jsonrpc.framing import LineFramer, Oversize
from trunkline.protocols.jsonrpc.long_message_id import refuse_oversize
from trunkline.protocols.jsonrpc.messages import Malformed, RpcError
from trunkline.protocols.jsonrpc.peer import Peer

LONG = "x" * 5000


def read(line: bytes) -> Malformed:
    (found,) = LineFramer(1000).feed(line + b"\n")
    assert isinstance(found, Oversize)
    return refuse_oversize(found)


@pytest.mark.parametrize("id", [1, 0, -7, "a", 'q"\\', "é", 1.5, 1 << 70, None])
@pytest.mark.parametrize("spaces", [None, (" , ", " : ")])
def test_the_id_of_a_long_request_is_read_wherever_clients_write_it(id: Any, spaces: Any) -> None:
    params = {"text": LONG, "id": "not this one"}
    first = {"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params}
    second = {"method": "session/prompt", "jsonrpc": "2.0", "id": id, "params": params}
    for message in (first, second):
        found = read(json.dumps(message, separators=spaces).encode())
        assert (found.id, found.is_answer) == (id, False)
        assert found.message == f"a line of {len(json.dumps(message, separators=spaces))} bytes is above " \
            "the limit of 1000"  # fmt: skip


@pytest.mark.parametrize("id", [3, "a", 1 << 70])
def test_an_id_that_stands_last_is_read_too(id: Any) -> None:
    params = {"text": LONG, "id": "not this one"}
    for rest in ({}, {"jsonrpc": "2.0"}):
        message = {"method": "session/prompt", "params": params, "id": id, **rest}
        assert read(json.dumps(message).encode()).id == id


@pytest.mark.parametrize(
    "line",
    [
        json.dumps({"params": {"text": LONG, "id": 3}}),
        json.dumps({"text": LONG + ',"id":3}'}),
        json.dumps([{"text": LONG, "id": 3}]),
        json.dumps({"params": LONG, "id": {"no": "id"}}),
        json.dumps({"id": True, "params": LONG}),
        LONG,
        "[" * 5000,
        '{"a' + "\\" * 5000,
    ],
)
def test_what_is_no_id_of_the_message_is_not_taken_for_it(line: str) -> None:
    assert read(line.encode()).id is None


@pytest.mark.parametrize("size", [1, 7, 255, 1024, 4096])
def test_the_edges_of_a_line_are_the_same_however_it_was_cut(size: int) -> None:
    line = b"0123456789" * 700
    framer = LineFramer(1000)
    stream = b"ok\n" + line + b"\n" + line[:2000] + b"\nok\n"
    found: list[Any] = []
    for at in range(0, len(stream), size):
        found += framer.feed(stream[at : at + size])
    long = [(one.size, one.head, one.tail) for one in found if isinstance(one, Oversize)]
    assert long == [(7000, line[:1024], line[-256:]), (2000, line[:1024], line[1744:2000])]


def test_a_request_that_is_too_long_is_answered_by_its_id_and_a_long_answer_settles_ours() -> None:
    peer = Peer(max_line=1000)
    peer.receive(json.dumps({"jsonrpc": "2.0", "id": 9, "method": "m", "params": [LONG]}).encode() + b"\n")
    (answer,) = [json.loads(line) for line in peer.drain().splitlines()]
    assert (answer["id"], answer["error"]["code"]) == (9, -32600)
    ours = peer.request("fs/read_text_file", {})
    peer.drain()
    (settled,) = peer.receive(
        json.dumps({"jsonrpc": "2.0", "id": ours, "result": {"content": LONG}}).encode() + b"\n"
    )
    error: Any = getattr(settled, "error", None)
    assert isinstance(error, RpcError)
    assert "above the limit" in error.message
    assert peer.drain() == b""
