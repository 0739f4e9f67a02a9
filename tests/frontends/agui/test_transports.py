"""Tests of the transports: what a reader gets, how far behind it may be, and what happens when it leaves."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest
import websockets
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route, WebSocketRoute
from tests.frontends.agui.event_verifier import breaches
from tests.server.running_server import listening
from tests.worlds import soon, until

from trunkline.errors import ConfigurationError, InvalidCommand
from trunkline.frontends import agui
from trunkline.frontends.agui import (
    buffered_transports,
    console_transport,
    event_queue,
    http_transport,
    sse_transport,
    websocket_transport,
)
from trunkline.frontends.agui.buffered_transports import StreamTransport
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.protobuf import MEDIA_TYPE, frame_event

START = wire.RunStarted(thread_id="t1", run_id="r1", protocol_version="1.0")
END = wire.RunFinished(thread_id="t1", run_id="r1", outcome={"type": "success"})


def said(*deltas: str, message_id: str = "m1") -> list[wire.AguiEvent]:
    """A message as events."""
    pieces = [wire.TextMessageContent(message_id=message_id, delta=delta) for delta in deltas]
    return [wire.TextMessageStart(message_id=message_id), *pieces, wire.TextMessageEnd(message_id=message_id)]


RUN = [START, *said("Good ", "morning."), END]


async def read(stream: StreamTransport) -> bytes:
    """Everything a reader gets until the end."""
    async with asyncio.timeout(10):
        return b"".join([piece async for piece in stream])


def events_in(body: bytes) -> list[dict[str, Any]]:
    """The events of a body, of either kind."""
    lines = [line.removeprefix(b"data: ") for line in body.split(b"\n")]
    return [json.loads(line) for line in lines if line and not line.startswith(b":")]


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")


# -- server-sent events --------------------------------------------------------------------------------


async def test_sse_gives_a_frame_for_each_event_and_ends_with_the_run() -> None:
    stream = sse_transport()
    for event in RUN:
        stream.emit(event)
    body = await read(stream)
    assert body.count(b"\n\n") == len(RUN)
    assert all(frame.startswith(b"data: {") for frame in body.split(b"\n\n")[:-1])
    assert events_in(body) == [agui.to_dict(event) for event in RUN]
    assert breaches(events_in(body)) == []
    assert not stream.is_connected()


def test_sse_has_the_headers_that_keep_proxies_from_waiting() -> None:
    stream = sse_transport()
    assert stream.media_type == "text/event-stream"
    assert stream.headers == {"cache-control": "no-cache", "x-accel-buffering": "no"}


async def test_what_comes_after_the_end_is_passed_over() -> None:
    stream = sse_transport()
    for event in (START, END, *said("late")):
        stream.emit(event)
    assert [event["type"] for event in events_in(await read(stream))] == ["RUN_STARTED", "RUN_FINISHED"]


async def test_a_silent_stream_shows_that_it_lives() -> None:
    stream = sse_transport(keep_alive=0.1)
    pieces = aiter(stream)
    assert await soon(anext(pieces)) == b": keep-alive\n\n"
    for event in RUN:
        stream.emit(event)
    assert text_of(events_in(await soon(anext(pieces)))) == "Good morning."


async def test_a_stream_has_one_reader() -> None:
    stream = sse_transport()
    stream.emit(END)
    await read(stream)
    with pytest.raises(RuntimeError, match="a transport for each run"):
        await read(stream)


async def test_threads_may_speak_while_the_loop_reads() -> None:
    stream = sse_transport()
    words = [f"{number} " for number in range(500)]

    def speak() -> None:
        for event in [START, *said(*words), END]:
            stream.emit(event)

    reading = asyncio.create_task(read(stream))
    await asyncio.sleep(0)
    await soon(asyncio.to_thread(speak))
    assert text_of(events_in(await soon(reading))) == "".join(words)


def test_a_stream_of_a_loop_that_is_gone_takes_what_comes() -> None:
    stream = sse_transport()

    async def begin() -> None:
        pieces = aiter(stream)
        waiting = asyncio.ensure_future(anext(pieces))
        await asyncio.sleep(0)
        stream.emit(START)
        await waiting
        await pieces.aclose()

    asyncio.run(begin())
    stream.emit(END)


async def test_what_cannot_be_written_is_logged_once_and_the_rest_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stream = sse_transport()
    for event in [START, *said("\ud800", "\udfff", "fine"), END]:
        stream.emit(event)
    assert text_of(events_in(await read(stream))) == "fine"
    assert len(caplog.records) == 1
    assert "could not be written" in caplog.text


async def test_what_cannot_be_written_spoils_nothing_that_is_joined_with_it() -> None:
    stream = sse_transport(high_water_mark=1)
    for event in [START, *said("one ", "\ud800", "two"), END]:
        stream.emit(event)
    events = events_in(await read(stream))
    assert text_of(events) == "one two"
    assert breaches(events) == []


async def test_a_stream_that_is_disconnected_ends_with_what_it_has() -> None:
    stream = sse_transport()
    stream.emit(START)
    await stream.disconnect()
    await stream.disconnect()
    assert [event["type"] for event in events_in(await read(stream))] == ["RUN_STARTED"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"keep_alive": 0},
        {"high_water_mark": 0},
        {"on_disconnect": "wait"},
    ],
)
def test_options_that_cannot_be_meant_are_refused(wrong: dict[str, Any]) -> None:
    for factory in (sse_transport, http_transport):
        with pytest.raises(ConfigurationError, match=next(iter(wrong))):
            factory(**wrong)


# -- readers that are behind -----------------------------------------------------------------------------


async def test_a_reader_that_is_behind_gets_joined_deltas_and_all_of_the_text() -> None:
    stream = sse_transport(high_water_mark=4)
    words = [f"w{number} " for number in range(1000)]
    for event in [START, *said(*words), END]:
        stream.emit(event)
    events = events_in(await read(stream))
    assert text_of(events) == "".join(words)
    assert len(events) < 12
    assert breaches(events) == []


async def test_only_neighbours_of_one_message_are_joined() -> None:
    stream = sse_transport(high_water_mark=1)
    pieces = [
        wire.TextMessageContent(message_id="a", delta="1"),
        wire.TextMessageContent(message_id="b", delta="2"),
        wire.TextMessageContent(message_id="b", delta="3"),
        wire.TextMessageContent(message_id="b", delta="4", subagent_run_id="s"),
        wire.TextMessageContent(message_id="b", delta="5", metadata={"own": 1}),
        wire.ToolCallArgs(tool_call_id="b", delta="6"),
        wire.ToolCallArgs(tool_call_id="b", delta="7"),
        wire.ReasoningMessageContent(message_id="b", delta="8"),
        wire.Custom(name="x", value=None),
        wire.ReasoningMessageContent(message_id="b", delta="9"),
    ]
    for event in [START, *pieces, END]:
        stream.emit(event)
    deltas = [event["delta"] for event in events_in(await read(stream)) if "delta" in event]
    assert deltas == ["1", "23", "4", "5", "67", "8", "9"]


async def test_deltas_stay_as_they_are_where_that_is_wanted() -> None:
    stream = sse_transport(high_water_mark=1, coalesce=False)
    for event in [START, *said("1", "2", "3"), END]:
        stream.emit(event)
    assert len(events_in(await read(stream))) == 7


async def test_a_reader_that_never_reads_is_told_and_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_queue, "_MOST_BYTES", 20_000)
    gone = asyncio.Event()
    stream = sse_transport()
    stream.when_gone(gone.set)
    stream.emit(START)
    for number in range(100):
        stream.emit(wire.StateSnapshot(snapshot={"number": number, "ballast": "x" * 1000}))
    await soon(gone.wait())
    (last,) = events_in(await read(stream))
    assert (last["type"], last["code"]) == ("RUN_ERROR", "TIMEOUT")


async def test_a_producer_can_wait_for_its_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = sse_transport(high_water_mark=4, coalesce=False)
    await soon(stream.drained())
    pieces = aiter(stream)
    stream.emit(START)
    await soon(anext(pieces))
    for number in range(8):
        stream.emit(wire.Custom(name="n", value=number))
    waiting = asyncio.create_task(stream.drained())
    await asyncio.sleep(0)
    assert not waiting.done()
    await soon(anext(pieces))
    await soon(waiting)
    monkeypatch.setattr(event_queue, "_PATIENCE", 0.01)
    for number in range(8):
        stream.emit(wire.Custom(name="n", value=number))
    await soon(stream.drained())  # Nobody waits for ever.
    await pieces.aclose()


async def test_a_producer_in_another_loop_does_not_wait() -> None:
    stream = sse_transport(high_water_mark=1, coalesce=False)
    pieces = aiter(stream)
    stream.emit(START)
    await soon(anext(pieces))
    for event in RUN[1:-1]:
        stream.emit(event)
    await soon(asyncio.to_thread(asyncio.run, stream.drained()))
    await pieces.aclose()


# -- readers that leave ----------------------------------------------------------------------------------


async def test_a_reader_that_leaves_cancels_its_run_once() -> None:
    stream = sse_transport()
    cancelled: list[str] = []

    async def run() -> None:
        stream.emit(START)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append("once")
            await asyncio.sleep(0)  # A second cancel would end this.
            cancelled.append("cleaned up")
            raise

    task = asyncio.ensure_future(run())
    stream.when_gone(lambda: buffered_transports.cancel_once(task))
    pieces = aiter(stream.attach(task))
    await soon(anext(pieces))
    await pieces.aclose()
    await soon(asyncio.wait({task}))
    assert task.cancelled()
    assert cancelled == ["once", "cleaned up"]
    assert not stream.is_connected()


async def test_a_run_that_is_attached_when_the_client_has_left_is_cancelled_too() -> None:
    socket = Socket()
    socket.broken = True
    transport = websocket_transport(socket)
    transport.emit(START)
    await until(lambda: not transport.is_connected())
    task = asyncio.ensure_future(asyncio.Event().wait())
    transport.attach(task)
    await soon(asyncio.wait({task}))
    assert task.cancelled()


async def test_a_run_goes_on_without_its_reader_where_that_is_the_policy() -> None:
    stream = sse_transport(on_disconnect="continue")
    done = asyncio.Event()
    go = asyncio.Event()

    async def run() -> None:
        stream.emit(START)
        await go.wait()
        stream.emit(END)
        done.set()

    pieces = aiter(stream.attach(run()))
    await soon(anext(pieces))
    await pieces.aclose()
    go.set()
    await soon(done.wait())


async def test_a_listener_can_stop_listening() -> None:
    stream = sse_transport()
    heard: list[str] = []
    stream.when_gone(lambda: heard.append("a"))
    forget = stream.when_gone(lambda: heard.append("b"))
    forget()
    forget()
    await stream.disconnect()
    await until(lambda: bool(heard))
    assert heard == ["a"]


# -- runs that are attached --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "message", "code"),
    [
        (InvalidCommand("say something"), "say something", "INVALID_INPUT"),
        (ValueError("secret"), "the run failed; the server's log says why", "AGENT_EXECUTION_ERROR"),
        (asyncio.CancelledError(), "the run was cancelled", "CANCELLED"),
    ],
)
async def test_a_run_that_could_not_even_begin_is_told(error: BaseException, message: str, code: str) -> None:
    stream = sse_transport()

    async def run() -> None:
        raise error

    (told,) = events_in(await read(stream.attach(run())))
    assert (told["type"], told["message"], told["code"]) == ("RUN_ERROR", message, code)


async def test_a_run_that_told_its_end_has_no_second_one(caplog: pytest.LogCaptureFixture) -> None:
    stream = sse_transport()

    async def run() -> None:
        for event in RUN:
            stream.emit(event)
        raise ValueError("after all")

    assert breaches(events_in(await read(stream.attach(run())))) == []
    await until(lambda: "after all" in caplog.text)


async def test_a_run_that_says_nothing_ends_the_stream() -> None:
    stream = sse_transport()
    assert await read(stream.attach(asyncio.sleep(0))) == b""


# -- over HTTP ---------------------------------------------------------------------------------------------


def streaming_app(streams: list[StreamTransport], stop: asyncio.Event) -> Starlette:
    async def answer(request: Any) -> StreamingResponse:
        stream = http_transport() if request.url.path == "/lines" else sse_transport()
        streams.append(stream)

        async def run() -> None:
            for event in RUN[:-1]:
                stream.emit(event)
            if request.url.path == "/endless":
                try:
                    await asyncio.Event().wait()
                finally:
                    stop.set()
            stream.emit(END)

        return StreamingResponse(stream.attach(run()), media_type=stream.media_type, headers=stream.headers)

    return Starlette(
        routes=[Route(path, answer, methods=["POST"]) for path in ("/sse", "/lines", "/endless")]
    )


@pytest.fixture
async def place() -> AsyncGenerator[tuple[str, asyncio.Event]]:
    stop = asyncio.Event()
    async with listening(streaming_app([], stop)) as place:
        yield f"http://{place}", stop


async def test_ndjson_is_a_line_of_json_for_each_event(place: tuple[str, asyncio.Event]) -> None:
    async with httpx.AsyncClient(timeout=10) as client:
        response = await client.post(f"{place[0]}/lines")
    assert response.headers["content-type"] == "application/x-ndjson"
    assert response.content.endswith(b"\n")
    assert [json.loads(line) for line in response.content.splitlines()] == [agui.to_dict(one) for one in RUN]


async def test_ndjson_shows_that_it_lives_by_an_empty_line() -> None:
    stream = http_transport(keep_alive=0.1)
    pieces = aiter(stream)
    assert await soon(anext(pieces)) == b"\n"
    await pieces.aclose()


async def test_protobuf_is_a_frame_for_each_event_and_shows_no_sign_of_life() -> None:
    stream = http_transport(format="protobuf", keep_alive=0.1)
    assert stream.media_type == MEDIA_TYPE
    reading = asyncio.create_task(read(stream))
    await asyncio.sleep(0.25)
    for event in RUN:
        stream.emit(event)
    assert await soon(reading) == b"".join([frame_event(event) for event in RUN])


def test_a_format_that_nobody_knows_is_refused() -> None:
    wrong: Any = "xml"
    with pytest.raises(ConfigurationError, match="format is 'xml': give one of ndjson, protobuf"):
        http_transport(format=wrong)


async def test_sse_over_http_arrives_as_it_was_said(place: tuple[str, asyncio.Event]) -> None:
    async with httpx.AsyncClient(timeout=10) as client:
        response = await client.post(f"{place[0]}/sse")
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["x-accel-buffering"] == "no"
    assert text_of(events_in(response.content)) == "Good morning."


async def test_a_client_that_hangs_up_stops_the_run(place: tuple[str, asyncio.Event]) -> None:
    async with httpx.AsyncClient(timeout=10) as client:
        async with client.stream("POST", f"{place[0]}/endless") as response:
            await anext(response.aiter_bytes())
        await soon(place[1].wait())


# -- WebSockets --------------------------------------------------------------------------------------------


async def test_websocket_sends_a_text_frame_for_each_event_of_run_after_run() -> None:
    async def serve(socket: Any) -> None:
        await socket.accept()
        transport = websocket_transport(socket)
        async for text in socket.iter_text():
            for event in [START, *said(text), END]:
                transport.emit(event)
        await transport.disconnect()

    async with (
        listening(Starlette(routes=[WebSocketRoute("/", serve)])) as place,
        websockets.connect(f"ws://{place}/") as client,
    ):
        for word in ("one", "two"):
            await client.send(word)
            events = [json.loads(await soon(client.recv())) for _ in range(5)]
            assert text_of(events) == word
            assert breaches(events) == []


class Socket:
    """A socket by hand: what was sent, and when it may be."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.free = asyncio.Event()
        self.free.set()
        self.broken = False

    async def send(self, text: str) -> None:
        await self.free.wait()
        if self.broken:
            raise ConnectionError("the other side is gone")
        self.sent.append(json.loads(text))


async def test_websocket_takes_events_from_threads() -> None:
    socket = Socket()
    transport = websocket_transport(socket)

    def speak() -> None:
        for event in RUN:
            transport.emit(event)

    thread = threading.Thread(target=speak)
    thread.start()
    await until(lambda: len(socket.sent) == len(RUN))
    thread.join(5)
    assert text_of(socket.sent) == "Good morning."


async def test_websocket_joins_what_a_slow_client_has_not_read() -> None:
    socket = Socket()
    transport = websocket_transport(socket, high_water_mark=2)
    socket.free.clear()
    transport.emit(START)
    await asyncio.sleep(0)
    for event in [*said(*"abcdefghij"), END]:
        transport.emit(event)
    socket.free.set()
    await soon(transport.disconnect())
    assert text_of(socket.sent) == "abcdefghij"
    assert len(socket.sent) < 8


async def test_websocket_that_breaks_cancels_the_run_and_raises_nothing() -> None:
    socket = Socket()
    transport = websocket_transport(socket)
    socket.broken = True
    stopped = asyncio.Event()

    async def run() -> None:
        transport.emit(START)
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    transport.attach(run())
    await soon(stopped.wait())
    assert not transport.is_connected()
    transport.emit(END)
    assert socket.sent == []


async def test_websocket_says_its_last_words_when_it_is_disconnected() -> None:
    socket = Socket()
    transport = websocket_transport(socket)
    for event in RUN:
        transport.emit(event)
    await soon(transport.disconnect())
    assert len(socket.sent) == len(RUN)
    transport.emit(START)
    await soon(transport.disconnect())
    assert len(socket.sent) == len(RUN)


async def test_websocket_runs_that_say_nothing_leave_it_open() -> None:
    socket = Socket()
    transport = websocket_transport(socket)
    transport.attach(asyncio.sleep(0))
    await asyncio.sleep(0.01)
    assert transport.is_connected()


def test_websocket_is_made_where_it_is_served() -> None:
    class Plain:
        async def send(self, text: str) -> None:
            """Do nothing."""

    with pytest.raises(ConfigurationError, match="no event loop runs here"):
        websocket_transport(Plain())
    with pytest.raises(ConfigurationError, match="send_text or send"):
        websocket_transport(object())


def test_websocket_of_a_loop_that_is_gone_takes_what_comes() -> None:
    async def make() -> Any:
        return websocket_transport(Socket())

    transport = asyncio.run(make())
    transport.emit(START)
    assert transport.is_connected()


# -- the console ---------------------------------------------------------------------------------------------


def test_console_prints_every_event_in_full() -> None:
    file = io.StringIO()
    transport = console_transport(file)
    for event in RUN:
        transport.emit(event)
    lines = file.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == [wire.to_dict(event)["type"] for event in RUN]
    assert json.loads(lines[1].split(maxsplit=1)[1]) == {"messageId": "m1"}


def test_console_prints_to_standard_output_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    console_transport().emit(START)
    assert capsys.readouterr().out.startswith("RUN_STARTED ")


def test_console_in_brief_is_what_a_person_would_read() -> None:
    file = io.StringIO()
    transport = console_transport(file, detail="brief")
    interrupt = {"id": "q1", "reason": "tool_call", "message": "Run it?"}
    events: list[wire.AguiEvent] = [
        START,
        wire.ReasoningMessageContent(message_id="r1", delta="Where "),
        wire.ReasoningMessageContent(message_id="r1", delta="is it?"),
        *said("Let me ", "look."),
        wire.ToolCallStart(tool_call_id="c1", tool_call_name="weather"),
        wire.ToolCallArgs(tool_call_id="c1", delta='{"city":'),
        wire.ToolCallArgs(tool_call_id="c1", delta='"Oslo"}'),
        wire.ToolCallEnd(tool_call_id="c1"),
        wire.ToolCallResult(message_id="x", tool_call_id="c1", content="rain\n" * 100),
        wire.ToolCallResult(message_id="y", tool_call_id="c2", content=[{"type": "text", "text": "hm"}]),
        wire.ToolCallEnd(tool_call_id="c3"),
        wire.SubagentStarted(subagent_run_id="s1", name="scout"),
        wire.Custom(name="trunkline.notice", value={}),
        wire.RunFinished(
            thread_id="t1", run_id="r1", outcome={"type": "interrupt", "interrupts": [interrupt]}
        ),
        wire.RunFinished(thread_id="t1", run_id="r1", outcome={"type": "cancelled"}),
        END,
        wire.RunError(message="no fuel", code="TIMEOUT"),
        wire.RunError(message="no fuel"),
    ]
    for event in events:
        transport.emit(event)
    assert file.getvalue().splitlines() == [
        "-- run r1 of thread t1",
        "(thinking) Where is it?",
        "Let me look.",
        '> weather {"city":"Oslo"}',
        f"< {('rain ' * 40)}...",
        '< [{"type":"text","text":"hm"}]',
        "> c3",
        "-- scout begins",
        "-- trunkline.notice",
        "-- waits for an answer: Run it?",
        "-- cancelled",
        "-- done",
        "-- failed: no fuel (TIMEOUT)",
        "-- failed: no fuel",
    ]


@pytest.mark.parametrize("detail", ["full", "brief"])
def test_console_lets_nobody_command_the_terminal(detail: Any) -> None:
    file = io.StringIO()
    console_transport(file, detail).emit(wire.RunError(message="\x1b[2J\x9b2J\x07boo"))
    assert not any(sign in file.getvalue() for sign in "\x1b\x9b\x07")
    assert "boo" in file.getvalue()


def test_console_prints_what_its_file_has_no_letters_for() -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    console_transport(file, "brief").emit(wire.RunError(message="übel"))
    assert raw.getvalue() == b"-- failed: ?bel\n"


def test_console_that_is_closed_breaks_nothing_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    file = io.StringIO()
    file.close()
    transport = console_transport(file)
    transport.emit(START)
    transport.emit(END)
    assert len(caplog.records) == 1


def test_console_knows_two_details() -> None:
    wrong: Any = "loud"
    with pytest.raises(ConfigurationError, match="full, brief"):
        console_transport(detail=wrong)


# -- names ---------------------------------------------------------------------------------------------------


def test_the_factories_are_where_the_events_are() -> None:
    for name in ("sse_transport", "http_transport", "websocket_transport", "console_transport", "read_input"):
        assert callable(getattr(agui, name))
    assert agui.to_dict(START) == {
        "type": "RUN_STARTED",
        "threadId": "t1",
        "runId": "r1",
        "protocolVersion": "1.0",
    }
    assert json.loads(agui.encode(START)) == agui.to_dict(START)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        agui.__getattr__("nothing")
