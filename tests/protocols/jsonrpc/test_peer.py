import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.protocols.jsonrpc.messages import (
    AUTH_REQUIRED,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    Notification,
    Request,
    RpcError,
    parse,
)
from trunkline.protocols.jsonrpc.peer import Cancelled, Incoming, Peer, Settled


@pytest.fixture
def peer() -> Peer:
    return Peer()


def line(**fields: Any) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", **fields}) + b"\n"


def answers(peer: Peer) -> list[Any]:
    return [orjson.loads(text) for text in peer.drain().splitlines()]


def shown(items: list[Incoming]) -> list[Any]:
    """Errors compare by identity, so show items as plain values."""
    return [
        (item.id, item.result, item.error and (item.error.rpc_code, str(item.error)))
        if isinstance(item, Settled)
        else item
        for item in items
    ]


class Wire:
    """Two peers joined by a wire that hands over a few bytes at a time."""

    def __init__(self, step: int = 5) -> None:
        self.client = Peer()
        self.agent = Peer()
        self._step = step

    def to_agent(self) -> list[Incoming]:
        return self._move(self.client, self.agent)

    def to_client(self) -> list[Incoming]:
        return self._move(self.agent, self.client)

    def _move(self, source: Peer, target: Peer) -> list[Incoming]:
        data = source.drain()
        chunks = [data[at : at + self._step] for at in range(0, len(data), self._step)]
        return [item for chunk in chunks for item in target.receive(chunk)]


# -- two peers --


def test_a_request_is_answered_across_the_wire() -> None:
    wire = Wire()
    id = wire.client.request("session/new", {"cwd": "/世界"})
    (request,) = wire.to_agent()
    assert request == Request(id, "session/new", {"cwd": "/世界"})
    assert wire.agent.respond(id, {"sessionId": "s"})
    assert wire.to_client() == [Settled(id, {"sessionId": "s"})]


def test_an_error_arrives_whole() -> None:
    wire = Wire()
    id = wire.client.request("session/new")
    assert wire.to_agent() == [Request(id, "session/new")]
    assert wire.agent.fail(id, AUTH_REQUIRED, "log in first", {"method": "token"})
    (settled,) = wire.to_client()
    assert isinstance(settled, Settled)
    assert settled.error is not None
    assert (settled.error.rpc_code, settled.error.message) == (AUTH_REQUIRED, "log in first")
    assert settled.error.data == {"method": "token"}


def test_notifications_and_answers_keep_their_order() -> None:
    wire = Wire()
    id = wire.client.request("session/prompt", {})
    wire.to_agent()
    for number in range(3):
        wire.agent.notify("session/update", {"n": number})
    wire.agent.respond(id, None)
    wire.agent.notify("late")
    assert wire.to_client() == [
        *(Notification("session/update", {"n": number}) for number in range(3)),
        Settled(id, None),
        Notification("late"),
    ]


def test_both_sides_may_use_the_same_id_at_once() -> None:
    wire = Wire()
    ours, theirs = wire.client.request("a"), wire.agent.request("b")
    assert ours == theirs
    assert wire.to_agent() == [Request(ours, "a")]
    assert wire.to_client() == [Request(theirs, "b")]
    wire.client.respond(theirs, "to agent")
    wire.agent.respond(ours, "to client")
    assert wire.to_agent() == [Settled(theirs, "to agent")]
    assert wire.to_client() == [Settled(ours, "to client")]


def test_answers_may_come_in_any_order() -> None:
    wire = Wire()
    first, second = wire.client.request("a"), wire.client.request("b")
    wire.to_agent()
    wire.agent.respond(second, 2)
    wire.agent.respond(first, 1)
    assert wire.to_client() == [Settled(second, 2), Settled(first, 1)]


def test_a_protocol_may_cancel_by_another_name_and_want_no_answer_then() -> None:
    ours = Peer(cancel_method="notifications/cancelled")
    theirs = Peer(cancel_method="notifications/cancelled")
    request_id = ours.request("a")
    assert ours.cancel(request_id)
    assert theirs.receive(ours.drain()) == [Request(request_id, "a"), Cancelled(request_id)]
    assert theirs.discard(request_id)
    assert not theirs.discard(request_id)
    assert not theirs.respond(request_id, 1)
    assert theirs.drain() == b""


def test_a_cancelled_request_can_be_given_up_or_answered_all_the_same() -> None:
    wire = Wire()
    given_up, finished = wire.client.request("a"), wire.client.request("b")
    assert wire.client.cancel(given_up)
    assert wire.client.cancel(finished)
    assert wire.to_agent() == [
        Request(given_up, "a"),
        Request(finished, "b"),
        Cancelled(given_up),
        Cancelled(finished),
    ]
    assert wire.agent.fail_cancelled(given_up)
    assert wire.agent.respond(finished, "partial")
    assert shown(wire.to_client()) == [
        (given_up, None, (REQUEST_CANCELLED, "request cancelled")),
        (finished, "partial", None),
    ]
    assert not wire.client.cancel(finished)
    assert wire.client.drain() == b""


def test_a_refusal_of_garbage_starts_no_quarrel() -> None:
    wire = Wire()
    wire.client.send_line(b"noise")
    assert wire.to_agent() == []
    assert wire.to_client() == []
    assert wire.client.drain() == b""


# -- receiving --


@pytest.mark.parametrize("id", [0, 1, -7, 2**53, "0", "", "é", "b7e0…-uuid", None, 1.5])
def test_the_id_of_a_request_is_echoed_exactly(id: Any, peer: Peer) -> None:
    (request,) = peer.receive(line(id=id, method="a"))
    assert isinstance(request, Request)
    peer.respond(request.id, {})
    assert peer.drain() == orjson.dumps({"jsonrpc": "2.0", "id": id, "result": {}}) + b"\n"


def test_ids_that_look_alike_are_different_requests(peer: Peer) -> None:
    ids: list[Any] = [0, "0", None, "", "null"]
    assert len(peer.receive(b"".join(line(id=id, method="a") for id in ids))) == len(ids)
    for id in reversed(ids):
        assert peer.respond(id, {})
    assert [answer["id"] for answer in answers(peer)] == ids[::-1]


@pytest.mark.parametrize(
    ("garbage", "id", "code"),
    [
        (b"noise\n", None, PARSE_ERROR),
        (b"\xff\n", None, PARSE_ERROR),
        (b"[" * 5000 + b"\n", None, PARSE_ERROR),
        (
            b'{"jsonrpc":"2.0","method":"a","params":' + b"[" * 300 + b"]" * 300 + b"}\n",
            None,
            INVALID_REQUEST,
        ),
        (b"[]\n", None, INVALID_REQUEST),
        (b"42\n", None, INVALID_REQUEST),
        (line(id="x", method=1), "x", INVALID_REQUEST),
        (line(id=99), 99, INVALID_REQUEST),
        (b"x" * 2000 + b"\n", None, PARSE_ERROR),
        (b"x" * 6001 + b"\n", None, INVALID_REQUEST),
    ],
)
def test_garbage_is_answered_and_the_connection_goes_on(garbage: bytes, id: Any, code: int) -> None:
    peer = Peer(max_line=6000)
    assert peer.receive(garbage + line(method="next")) == [Notification("next")]
    (answer,) = answers(peer)
    assert (answer["id"], answer["error"]["code"]) == (id, code)
    assert answer["error"]["message"]


def test_a_request_whose_id_is_still_open_is_refused(peer: Peer) -> None:
    assert peer.receive(line(id=1, method="a") * 2) == [Request(1, "a")]
    assert [answer["error"]["code"] for answer in answers(peer)] == [INVALID_REQUEST]
    assert peer.respond(1, {})
    assert peer.receive(line(id=1, method="a")) == [Request(1, "a")]


def test_requests_beyond_the_limit_are_refused_until_one_is_answered() -> None:
    peer = Peer(max_open=2)
    assert len(peer.receive(b"".join(line(id=id, method="a") for id in range(3)))) == 2
    assert answers(peer) == [
        {"jsonrpc": "2.0", "id": 2, "error": {"code": INTERNAL_ERROR, "message": "too many open requests"}}
    ]
    peer.respond(0, None)
    assert peer.receive(line(id=2, method="a")) == [Request(2, "a")]


@pytest.mark.parametrize("id", [1, 2, "1", 1.0, None])
def test_an_answer_without_a_request_is_dropped(id: Any, peer: Peer) -> None:
    if id != 1 or isinstance(id, float):
        peer.request("a")
        peer.drain()
    assert peer.receive(line(id=id, result={})) == []
    assert peer.drain() == b""


def test_a_second_answer_to_one_request_is_dropped(peer: Peer) -> None:
    id = peer.request("a")
    assert peer.receive(line(id=id, result=1) + line(id=id, result=2)) == [Settled(id, 1)]


@pytest.mark.parametrize("botched", [b'{"jsonrpc":"2.0","id":1}\n', b'{"id":1,"result":{}}\n'])
def test_a_botched_answer_settles_its_request_instead_of_leaving_it_to_wait(
    botched: bytes, peer: Peer
) -> None:
    peer.request("a")
    peer.drain()
    (settled,) = peer.receive(botched)
    assert isinstance(settled, Settled)
    assert settled.id == 1
    assert settled.error is not None
    assert settled.error.rpc_code == INVALID_REQUEST
    assert peer.drain() == b""


def test_a_malformed_request_does_not_settle_our_request_of_the_same_id(peer: Peer) -> None:
    id = peer.request("a")
    assert peer.receive(line(id=id, method=5)) == []
    assert peer.receive(line(id=id, result=1)) == [Settled(id, 1)]


@pytest.mark.parametrize(
    "params",
    [None, [], [1], {}, {"requestId": 2}, {"requestId": "1"}, {"requestId": True}, {"requestId": [1]}],
)
def test_a_cancellation_that_fits_no_open_request_is_ignored(params: Any, peer: Peer) -> None:
    peer.receive(line(id=1, method="a"))
    assert peer.receive(line(method="$/cancel_request", params=params)) == []
    assert peer.drain() == b""


def test_a_request_is_cancelled_only_once(peer: Peer) -> None:
    cancel = line(method="$/cancel_request", params={"requestId": 1})
    assert peer.receive(line(id=1, method="a") + cancel * 2) == [Request(1, "a"), Cancelled(1)]


def test_the_last_line_may_lack_its_newline(peer: Peer) -> None:
    assert peer.receive(line(method="last").rstrip()) == []
    assert peer.receive_eof() == [Notification("last")]
    assert peer.receive_eof() == []


# -- sending --


def test_nothing_is_answered_twice(peer: Peer) -> None:
    peer.receive(line(id=1, method="a") + line(id=2, method="b"))
    assert peer.respond(1, {})
    assert peer.fail(2, METHOD_NOT_FOUND, "no such method")
    for id in (1, 2, 3):
        assert not peer.respond(id, {})
        assert not peer.fail(id, INTERNAL_ERROR, "again")
        assert not peer.fail_cancelled(id)
    assert len(answers(peer)) == 2


def test_draining_gives_everything_in_order_as_one_piece(peer: Peer) -> None:
    assert peer.drain() == b""
    peer.notify("a", {"n": 1})
    peer.send_line(b'{"jsonrpc":"2.0","method":"b"}')
    peer.notify("c", [1])
    data = peer.drain()
    assert data == line(method="a", params={"n": 1}) + line(method="b") + line(method="c", params=[1])
    assert peer.drain() == b""


def test_a_result_that_json_cannot_carry_leaves_the_request_open(peer: Peer) -> None:
    peer.receive(line(id=1, method="a"))
    with pytest.raises(TypeError):
        peer.respond(1, object())
    assert peer.fail(1, INTERNAL_ERROR, "the agent gave something strange")
    assert [answer["error"]["code"] for answer in answers(peer)] == [INTERNAL_ERROR]


def test_params_that_json_cannot_carry_send_nothing_and_wait_for_nothing(peer: Peer) -> None:
    with pytest.raises(TypeError):
        peer.request("a", {"strange": object()})
    assert peer.drain() == b""
    assert peer.close() == []


def test_an_error_gets_through_whatever_it_quotes(peer: Peer) -> None:
    peer.receive(line(id=1, method="a"))
    assert peer.fail(1, INTERNAL_ERROR, "no file \udcff", {"strange": object()})
    assert answers(peer) == [
        {"jsonrpc": "2.0", "id": 1, "error": {"code": INTERNAL_ERROR, "message": "no file ?"}}
    ]


def test_an_error_about_nothing_in_particular_has_no_id(peer: Peer) -> None:
    peer.complain(PARSE_ERROR, "what was that?", "details")
    assert answers(peer) == [
        {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": PARSE_ERROR, "message": "what was that?", "data": "details"},
        }
    ]


def test_requests_beyond_what_may_be_outstanding_are_refused_here() -> None:
    peer = Peer(max_outstanding=1)
    id = peer.request("a")
    with pytest.raises(RpcError, match="left 1 requests unanswered"):
        peer.request("b")
    peer.receive(line(id=id, result=None))
    assert peer.request("b") != id


# -- closing --


def test_closing_fails_what_still_waits_and_lets_the_rest_drain(peer: Peer) -> None:
    peer.receive(line(id=9, method="open"))
    first, second = peer.request("a"), peer.request("b")
    assert shown([*peer.close("the agent exited with 1")]) == [
        (first, None, (INTERNAL_ERROR, "a got no answer: the agent exited with 1")),
        (second, None, (INTERNAL_ERROR, "b got no answer: the agent exited with 1")),
    ]
    assert peer.close("again") == []
    assert peer.drain() == line(id=first, method="a") + line(id=second, method="b")


def test_a_closed_peer_takes_nothing_in_and_sends_nothing(peer: Peer) -> None:
    peer.receive(line(id=9, method="open"))
    peer.close("gone")
    assert peer.receive(line(method="a") + b"noise\n") == []
    assert not peer.respond(9, {})
    assert not peer.cancel(1)
    peer.notify("a")
    peer.send_line(b"{}")
    assert peer.drain() == b""
    with pytest.raises(RpcError, match="gone"):
        peer.request("a")


# -- chunks --

pieces = st.sampled_from(
    [
        line(method="a", params={"text": "世界 é \u2028"}),
        line(method="b").replace(b"\n", b"\r\n"),
        line(id=1, method="c"),
        line(id="1", method="c", params=[]),
        line(id=None, method="c"),
        line(id=1, result={"a": "ñ"}),
        line(id=2, error={"code": -1, "message": "m"}),
        line(id=3),
        line(method="$/cancel_request", params={"requestId": 1}),
        b"\n\r\n",
        b"noise\n",
        b"\xc3\x28\n",
        b"[1,2]\n",
        b'{"jsonrpc":"2.0"}\n',
        b"x" * 300 + b"\n",
        b'{"jsonrpc":"2.0","method":"cut off',
    ]
)


@given(st.lists(pieces, max_size=12), st.data())
def test_how_the_bytes_were_chunked_changes_neither_what_comes_in_nor_what_is_answered(
    parts: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))

    def run(chunks: list[bytes]) -> tuple[Any, ...]:
        peer = Peer(max_line=200)
        for method in ("x", "y", "z"):
            peer.request(method)
        items = [item for chunk in chunks for item in peer.receive(chunk)] + peer.receive_eof()
        return shown(items), peer.drain(), shown([*peer.close()])

    assert run([stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]) == run([stream])


def test_a_message_that_was_framed_elsewhere_is_taken_as_a_line_is() -> None:
    for text in (line(id=1, method="m"), line(method="n"), b"[1]", b"{", line(id=7, result={})):
        by_line, by_message = Peer(), Peer()
        taken = by_message.receive_message(parse(text.strip()))
        assert shown(taken) == shown(by_line.receive(text.strip() + b"\n"))
        assert by_message.drain() == by_line.drain()


@pytest.mark.parametrize("id", [(1 << 64) - 1, 1 << 64, (1 << 64) + 1, 10**40, -(1 << 63) - 1, 1.5])
def test_an_id_of_any_size_comes_back_unchanged(id: Any, peer: Peer) -> None:
    sent = json.dumps(id)

    def answered() -> str:
        return peer.drain().decode().partition('"id":')[2].partition(",")[0]

    def ask() -> list[Any]:
        return peer.receive(f'{{"jsonrpc":"2.0","id":{sent},"method":"go"}}\n'.encode())

    (request,) = ask()
    assert request.id == id
    peer.respond(request.id, {})
    assert answered() == sent
    (request,) = ask()
    peer.fail(request.id, -32603, "no", {"a": 1})
    assert answered() == sent
    ask()
    cancel = f'{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{sent}}}}}\n'
    (cancelled,) = peer.receive(cancel.encode())
    assert cancelled == Cancelled(id)
    peer.fail_cancelled(id)
    assert answered() == sent
