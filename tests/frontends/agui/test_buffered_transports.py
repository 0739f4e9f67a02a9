"""Tests of transports with a reader: threads that write, readers that leave, and runs that are attached."""

import asyncio
import json
import threading
from typing import Any

import pytest
from tests.frontends.agui.transport_events import (
    END,
    RUN,
    START,
    emit,
    events_in,
    message_events,
    read,
    text_of,
)
from tests.hubs import soon, until

from trunkline.conformance.agui.event_verifier import breaches
from trunkline.errors import ConfigurationError, InvalidCommand
from trunkline.frontends.agui import buffered_transports, sse_transport, websocket_transport
from trunkline.protocols.agui import wire


async def test_events_after_the_end_are_ignored() -> None:
    stream = sse_transport()
    emit(stream, START, END, *message_events("late"))
    assert [event["type"] for event in events_in(await read(stream))] == ["RUN_STARTED", "RUN_FINISHED"]


async def test_a_stream_has_one_reader() -> None:
    stream = sse_transport()
    stream.emit(END)
    await read(stream)
    with pytest.raises(RuntimeError, match="a transport for each run"):
        await read(stream)


async def test_threads_may_emit_while_the_loop_reads() -> None:
    stream = sse_transport()
    words = [f"{number} " for number in range(500)]

    def emit_all() -> None:
        emit(stream, START, *message_events(*words), END)

    reading = asyncio.create_task(read(stream))
    await asyncio.sleep(0)
    await soon(asyncio.to_thread(emit_all))
    assert text_of(events_in(await soon(reading))) == "".join(words)


def test_a_stream_of_a_closed_loop_takes_events_without_an_error() -> None:
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


async def test_an_event_that_cannot_be_written_is_logged_once_and_the_others_are_sent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stream = sse_transport()
    emit(stream, START, *message_events("\ud800", "\udfff", "fine"), END)
    assert text_of(events_in(await read(stream))) == "fine"
    assert len(caplog.records) == 1
    assert "could not be written" in caplog.text


async def test_a_delta_that_cannot_be_written_leaves_those_joined_with_it_whole() -> None:
    stream = sse_transport(high_water_mark=1)
    emit(stream, START, *message_events("one ", "\ud800", "two"), END)
    events = events_in(await read(stream))
    assert text_of(events) == "one two"
    assert breaches(events) == []


async def test_a_stream_that_is_disconnected_ends_with_what_it_has() -> None:
    stream = sse_transport()
    stream.emit(START)
    await stream.disconnect()
    await stream.disconnect()
    assert [event["type"] for event in events_in(await read(stream))] == ["RUN_STARTED"]


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


@pytest.mark.parametrize(
    ("error", "message", "code"),
    [
        (InvalidCommand("say something"), "say something", "INVALID_INPUT"),
        (ValueError("secret"), "the run failed; the server's log says why", "AGENT_EXECUTION_ERROR"),
        (asyncio.CancelledError(), "the run was cancelled", "CANCELLED"),
    ],
)
async def test_a_run_that_raises_before_it_began_ends_with_an_error_event(
    error: BaseException, message: str, code: str
) -> None:
    stream = sse_transport()

    async def run() -> None:
        raise error

    (error_event,) = events_in(await read(stream.attach(run())))
    assert (error_event["type"], error_event["message"], error_event["code"]) == ("RUN_ERROR", message, code)


async def test_a_run_that_emitted_its_end_has_no_second_one(caplog: pytest.LogCaptureFixture) -> None:
    stream = sse_transport()

    async def run() -> None:
        emit(stream, *RUN)
        raise ValueError("after all")

    assert breaches(events_in(await read(stream.attach(run())))) == []
    await until(lambda: "after all" in caplog.text)


async def test_a_run_without_events_ends_the_stream() -> None:
    stream = sse_transport()
    assert await read(stream.attach(asyncio.sleep(0))) == b""


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

    def emit_all() -> None:
        emit(transport, *RUN)

    thread = threading.Thread(target=emit_all)
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
    emit(transport, *message_events(*"abcdefghij"), END)
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


async def test_websocket_sends_what_is_waiting_when_it_is_disconnected() -> None:
    socket = Socket()
    transport = websocket_transport(socket)
    emit(transport, *RUN)
    await soon(transport.disconnect())
    assert len(socket.sent) == len(RUN)
    transport.emit(START)
    await soon(transport.disconnect())
    assert len(socket.sent) == len(RUN)


async def test_websocket_runs_without_events_leave_it_open() -> None:
    socket = Socket()
    transport = websocket_transport(socket)
    transport.attach(asyncio.sleep(0))
    await asyncio.sleep(0.01)
    assert transport.is_connected()


class Talking(Socket):
    """A socket that is read, too: by ``receive_text``, until it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.inbox: asyncio.Queue[str | None] = asyncio.Queue()

    async def receive_text(self) -> str:
        message = await self.inbox.get()
        if message is None:
            self.broken = True
            raise ConnectionError("closed")
        return message


@pytest.mark.parametrize("attached", [True, False])
async def test_websocket_that_is_closed_in_a_run_cancels_it(attached: bool) -> None:
    socket = Talking()
    transport = websocket_transport(socket)
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def run() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async def serve() -> None:
        async for message in transport.messages():
            assert message == "go"
            if attached:
                transport.attach(run())
            else:
                task = asyncio.current_task()
                assert task is not None
                transport.when_gone(task.cancel)
                await run()

    serving = asyncio.ensure_future(serve())
    socket.inbox.put_nowait("go")
    await soon(begun.wait())
    socket.inbox.put_nowait(None)
    await soon(stopped.wait())
    await soon(asyncio.wait({serving}))
    assert serving.cancelled() is not attached
    assert not transport.is_connected()


def request(run_id: str) -> str:
    return json.dumps({"threadId": "t", "runId": run_id, "messages": []})


async def test_websocket_stays_open_after_a_frame_that_is_no_request_and_a_run_that_fails() -> None:
    socket = Talking()
    transport = websocket_transport(socket)

    async def run(asked: wire.RunAgentInput) -> None:
        emit(transport, START)
        if asked.run_id == "bad":
            raise ValueError("rate limit")
        transport.emit(END)

    serving = asyncio.ensure_future(transport.serve(run))
    for frame in ("{", '{"threadId": 1}', request("bad"), request("r1")):
        socket.inbox.put_nowait(frame)
    kinds = ["RUN_ERROR", "RUN_ERROR", "RUN_STARTED", "RUN_ERROR", "RUN_STARTED", "RUN_FINISHED"]
    await until(lambda: len(socket.sent) == len(kinds))
    assert [event["type"] for event in socket.sent] == kinds
    assert "not JSON" in socket.sent[0]["message"]
    assert "threadId" in socket.sent[1]["message"]
    socket.inbox.put_nowait(None)
    await soon(serving)


@pytest.mark.parametrize("closed", [True, False])
async def test_websocket_cancels_the_run_that_it_serves_when_it_closes_or_is_cancelled(closed: bool) -> None:
    socket = Talking()
    transport = websocket_transport(socket)
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def run(asked: wire.RunAgentInput) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    serving = asyncio.ensure_future(transport.serve(run))
    socket.inbox.put_nowait(request("r1"))
    await soon(begun.wait())
    if closed:
        socket.inbox.put_nowait(None)
    else:
        serving.cancel()
    await soon(stopped.wait())
    await soon(asyncio.wait({serving}))
    assert serving.cancelled() is not closed


async def test_websocket_events_wait_for_the_next_socket_where_the_run_goes_on() -> None:
    first, second = Talking(), Talking()
    transport = websocket_transport(first, on_disconnect="continue")
    begin, *rest = RUN
    transport.emit(begin)
    await until(lambda: bool(first.sent))
    first.inbox.put_nowait(None)
    assert [message async for message in transport.messages()] == []
    for event in rest:
        transport.emit(event)
    await soon(transport.drained())
    assert transport.is_connected()
    transport.reconnect(second)
    await until(lambda: len(first.sent) + len(second.sent) == len(RUN))
    assert text_of(second.sent) == "Good morning."
    assert breaches([*first.sent, *second.sent]) == []


async def test_websocket_sends_again_what_broke_off() -> None:
    first, second = Socket(), Socket()
    transport = websocket_transport(first, on_disconnect="continue")
    first.broken = True
    for event in RUN:
        transport.emit(event)
    await asyncio.sleep(0.01)
    transport.reconnect(second)
    await until(lambda: len(second.sent) == len(RUN))
    assert breaches(second.sent) == []


async def test_websocket_that_cannot_be_read_is_refused_when_it_is_read() -> None:
    with pytest.raises(ConfigurationError, match="receive_text or recv"):
        await anext(websocket_transport(Socket()).messages())


def test_websocket_is_made_where_it_is_served() -> None:
    class Plain:
        async def send(self, text: str) -> None:
            """Do nothing."""

    with pytest.raises(ConfigurationError, match="no event loop runs here"):
        websocket_transport(Plain())
    with pytest.raises(ConfigurationError, match="send_text or send"):
        websocket_transport(object())


def test_websocket_of_a_closed_loop_takes_events_without_an_error() -> None:
    async def make() -> Any:
        return websocket_transport(Socket())

    transport = asyncio.run(make())
    transport.emit(START)
    assert transport.is_connected()
