"""Requests to a server under test: all that came back is kept, and nothing waits for ever."""

from collections.abc import Callable, Iterator

import httpx
import pytest

from trunkline.conformance.http import Exchange, HttpSubject
from trunkline.errors import ConfigurationError


def subject(answer: Callable[[httpx.Request], httpx.Response], patience: float = 20.0) -> HttpSubject:
    return HttpSubject("http://test/agui", {"x-mine": "1"}, patience, httpx.MockTransport(answer))


def stream(*pieces: bytes) -> Callable[[httpx.Request], httpx.Response]:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["x-mine"] == "1"
        headers = {"content-type": "text/event-stream; charset=utf-8"}
        return httpx.Response(200, headers=headers, content=iter(pieces))

    return answer


def test_frames_come_whole_in_whatever_pieces_they_are_sent() -> None:
    exchange = subject(stream(b"data: {", b'"a":1}\n', b"\ndata: 2\n\n")).post({})
    assert exchange.frames == (b'{"a":1}', b"2")
    assert exchange.content_type == "text/event-stream"
    assert exchange.ended
    assert len(exchange.times) == 2


def test_one_can_leave_in_the_middle() -> None:
    exchange = subject(stream(b"data: 1\n\n", b"data: 2\n\n")).post({}, leave=lambda frame: frame == b"1")
    assert exchange.frames == (b"1",)
    assert not exchange.ended


def test_a_stream_without_an_end_is_left() -> None:
    def forever() -> Iterator[bytes]:
        while True:
            yield b"data: 1\n\n"

    headers = {"content-type": "text/event-stream"}
    exchange = subject(
        lambda request: httpx.Response(200, headers=headers, content=forever()), patience=0.05
    ).post({})
    assert not exchange.ended
    assert exchange.fault.startswith("left after")


def test_a_server_that_is_not_there_is_a_fault_and_no_exception() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    exchange = subject(refuse).post({})
    assert (exchange.status, exchange.fault) == (0, "ConnectError refused")


def test_the_transcript_has_the_request_and_what_came_back() -> None:
    server = subject(stream(b"data: 1\n\n"))
    mark = server.mark()
    server.post(b"{bad")
    said = server.transcript_since(mark)
    assert said[0] == "> POST /agui {bad"
    assert said[1] == "< 200 text/event-stream"
    assert said[2].endswith(" 1")
    assert server.transcript_since(server.mark()) == said
    server.close()


def test_a_server_that_does_not_stream_passes_nothing() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        return httpx.Response(404)

    names = ("HTTP-001", "RUN-001", "HTTP-002")
    missing = subject(refuse).post({}).unchecked(names, "HTTP-001", "RUN-001")
    assert missing.keys() == {"RUN-001", "HTTP-002"}
    assert "404 (check the path)" in missing["HTTP-002"]
    assert subject(stream()).post({}).unchecked(names, "HTTP-001", "RUN-001").keys() == {"HTTP-002"}
    assert subject(stream(b"data: 1\n\n")).post({}).unchecked(names, "HTTP-001", "RUN-001") == {}


@pytest.mark.parametrize("url", ["http://[::1", "http://", "http:///path"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="write http://HOST:PORT/PATH"):
        HttpSubject(url, {}, 1.0)


def test_frames_that_hold_no_object_are_left_out() -> None:
    frames = (b'{"type":"RAW"}', b"[1]", b"{bad", b"[DONE]")
    exchange = Exchange("POST", 200, {}, b"", frames, (0, 0, 0, 0), True)
    assert exchange.objects() == [{"type": "RAW"}]
