"""Streams by hand: silence, slow readers, readers that leave, and nothing left behind."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from starlette.requests import Request
from tests.worlds import forever, soon, until

from trunkline.cursor import Cursor
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.protobuf import MEDIA_TYPE, frame_event
from trunkline.server.event_stream import NDJSON, PROTOBUF, SSE, Framing, Stream, framing_for

EVENT = wire.StepStarted(step_name="one")
FRAME = b'data: {"type":"STEP_STARTED","stepName":"one"}\n\n'


class Reader:
    """The other end of a stream: takes what is sent, at its own pace, until it leaves."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.reads = asyncio.Event()
        self.reads.set()
        self.gone = asyncio.Event()
        self.breaks = False

    async def receive(self) -> Any:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if self.breaks:
            raise OSError("gone")
        await self.reads.wait()
        self.sent.append(message)

    @property
    def bodies(self) -> list[bytes]:
        return [message["body"] for message in self.sent if message["type"] == "http.response.body"]


class Source:
    """Batches that come when they are let, and a note of how they ended."""

    def __init__(self) -> None:
        self.more = asyncio.Event()
        self.said = 0
        self.ended = 0
        self.closed = 0

    async def batches(self, count: int | None = None) -> AsyncGenerator[tuple[Cursor | None, list[Any]]]:
        try:
            for _ in itertools.count() if count is None else range(count):
                await self.more.wait()
                self.said += 1
                yield None, [EVENT]
        finally:
            self.ended += 1

    async def close(self) -> None:
        assert self.ended == 1, "what was being read is closed before its owner is told"
        self.closed += 1


def run(stream: Stream, reader: Reader) -> asyncio.Task[None]:
    return asyncio.create_task(stream({}, reader.receive, reader.send))


def left_over() -> list[str]:
    return [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("trunkline stream")]


async def test_a_batch_is_one_message_and_the_end_is_said() -> None:
    async def batches() -> AsyncGenerator[tuple[Cursor | None, list[Any]]]:
        yield None, [EVENT, EVENT]
        yield Cursor(1, 2, 3), []
        yield Cursor(1, 2, 3), [EVENT, EVENT]

    reader = Reader()
    await soon(run(Stream(batches()), reader))
    assert reader.bodies == [FRAME * 2, FRAME + b"id: 1-2.3\n" + FRAME, b""]
    assert [message.get("more_body") for message in reader.sent] == [None, True, True, False]
    assert left_over() == []


def test_lines_carry_no_places() -> None:
    line = b'{"type":"STEP_STARTED","stepName":"one"}\n'
    assert NDJSON.frame(Cursor(1, 2), [EVENT, EVENT]) == line * 2


def test_messages_of_protobuf_carry_no_places() -> None:
    assert PROTOBUF.frame(Cursor(1, 2), [EVENT, EVENT]) == frame_event(EVENT) * 2


def asking(*accept: str) -> Request:
    headers = [(b"accept", one.encode()) for one in accept]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": headers})


LINES = NDJSON.media_type


@pytest.mark.parametrize(
    ("accept", "framing"),
    [
        ((), SSE),
        (("",), SSE),
        (("*/*",), SSE),
        (("application/json",), SSE),
        (("text/event-stream",), SSE),
        ((LINES,), NDJSON),
        ((f"text/event-stream, {LINES}",), NDJSON),
        ((MEDIA_TYPE,), PROTOBUF),
        ((f"text/event-stream, {MEDIA_TYPE}, */*;q=0.1",), PROTOBUF),
        (("text/event-stream", MEDIA_TYPE), PROTOBUF),
        ((f"{MEDIA_TYPE.upper()} ; v=1 ; Q=0.5 , text/event-stream;q=0.25",), PROTOBUF),
        ((f"{MEDIA_TYPE};q=0.5, text/event-stream",), SSE),
        ((f"{MEDIA_TYPE};q=0.5, {LINES};q=0.7",), NDJSON),
        ((f"{MEDIA_TYPE};q=0",), SSE),
        ((f"{MEDIA_TYPE};q=0.000, {LINES};q=0",), SSE),
        ((f"{MEDIA_TYPE};q=nonsense",), PROTOBUF),
    ],
)
def test_a_client_reads_what_it_likes_best_of_what_it_names(
    accept: tuple[str, ...], framing: Framing
) -> None:
    assert framing_for(asking(*accept)) is framing


@pytest.mark.parametrize(("accept", "framing"), [(MEDIA_TYPE, SSE), (f"{MEDIA_TYPE}, {LINES};q=0.1", NDJSON)])
def test_an_older_client_is_never_given_protobuf(accept: str, framing: Framing) -> None:
    assert framing_for(asking(accept), modern=False) is framing


async def test_silence_stays_silence_where_there_is_no_sign_of_life() -> None:
    source, reader = Source(), Reader()
    task = run(Stream(source.batches(1), PROTOBUF, keep_alive=0.01, close=source.close), reader)
    await until(lambda: bool(reader.sent))
    await asyncio.sleep(0.05)
    assert reader.bodies == []
    source.more.set()
    await soon(task)
    assert reader.bodies == [frame_event(EVENT), b""]


async def test_a_silent_reader_that_leaves_is_noticed_without_a_sign_of_life() -> None:
    source, reader = Source(), Reader()
    task = run(Stream(source.batches(), PROTOBUF, keep_alive=0.01, close=source.close), reader)
    await until(lambda: bool(reader.sent))
    reader.gone.set()
    await soon(task, 5.0)
    assert (source.ended, source.closed, left_over()) == (1, 1, [])


async def test_silence_is_filled_with_comments_and_speech_is_not() -> None:
    source, reader = Source(), Reader()
    task = run(Stream(source.batches(1), keep_alive=0.02, close=source.close), reader)
    await until(lambda: reader.bodies.count(SSE.comment) >= 3)
    source.more.set()
    await soon(task)
    assert reader.bodies[-2:] == [FRAME, b""]
    assert source.closed == 1


async def test_a_reader_that_leaves_is_noticed_at_once_and_everything_is_let_go() -> None:
    source, reader = Source(), Reader()
    task = run(Stream(source.batches(), close=source.close), reader)
    await until(lambda: bool(reader.sent))
    reader.gone.set()
    await soon(task, 5.0)
    assert (source.ended, source.closed, left_over()) == (1, 1, [])


async def test_a_reader_that_leaves_in_the_middle_of_a_message_is_noticed_too() -> None:
    source, reader = Source(), Reader()
    source.more.set()
    task = run(Stream(source.batches(), close=source.close), reader)
    await until(lambda: len(reader.sent) > 3)
    reader.reads.clear()
    said = source.said
    await asyncio.sleep(0)
    reader.gone.set()
    await soon(task, 5.0)
    assert source.said <= said + 1, "who does not read is not read for"
    assert (source.ended, source.closed, left_over()) == (1, 1, [])


async def test_a_reader_that_takes_nothing_for_too_long_is_dropped() -> None:
    source, reader = Source(), Reader()
    source.more.set()
    task = run(Stream(source.batches(), keep_alive=0.01, stall_seconds=0.05, close=source.close), reader)
    await until(lambda: len(reader.sent) > 3)
    reader.reads.clear()
    await soon(task, 2.0)
    assert (source.ended, source.closed, left_over()) == (1, 1, [])


@pytest.mark.parametrize("speaking", [True, False])
async def test_a_server_that_says_that_the_reader_is_gone_is_believed(speaking: bool) -> None:
    source, reader = Source(), Reader()
    task = run(Stream(source.batches(), keep_alive=0.01, close=source.close), reader)
    await until(lambda: bool(reader.sent))
    reader.breaks = True
    if speaking:
        source.more.set()
    else:
        await asyncio.sleep(0.03)
        reader.gone.set()
    await soon(task)
    assert (source.ended, source.closed, left_over()) == (1, 1, [])


async def test_an_error_of_the_source_is_raised_after_everything_is_let_go() -> None:
    async def broken() -> AsyncGenerator[tuple[Cursor | None, list[Any]]]:
        yield None, [EVENT]
        raise ValueError("broken")

    closed: list[bool] = []

    async def close() -> None:
        closed.append(True)

    with pytest.raises(ValueError, match="broken"):
        await soon(run(Stream(broken(), close=close), Reader()))
    assert (closed, left_over()) == ([True], [])


@pytest.mark.parametrize("when", ["before", "while"])
async def test_a_stream_that_is_cancelled_lets_everything_go(when: str) -> None:
    source, reader = Source(), Reader()
    task = run(Stream(source.batches(), close=source.close), reader)
    started: Callable[[], bool] = lambda: bool(reader.sent)  # noqa: E731
    await (asyncio.sleep(0) if when == "before" else until(started))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await soon(task)
    assert source.closed == 1 if when == "while" else source.closed <= 1
    assert left_over() == []


async def test_a_source_that_does_not_stop_at_once_is_waited_for() -> None:
    stopped = asyncio.Event()

    async def slow() -> AsyncGenerator[tuple[Cursor | None, list[Any]]]:
        try:
            await forever()
            yield None, []
        finally:
            await asyncio.sleep(0.02)
            stopped.set()

    reader = Reader()
    task = run(Stream(slow()), reader)
    await until(lambda: bool(reader.sent))
    reader.gone.set()
    await soon(task)
    assert stopped.is_set()


async def test_a_fast_stream_is_sent_in_pieces_and_a_slow_one_word_by_word() -> None:
    words: asyncio.Queue[int] = asyncio.Queue()

    async def batches() -> AsyncGenerator[tuple[Cursor | None, list[Any]]]:
        while True:
            said = [await words.get()]
            while not words.empty():
                said.append(words.get_nowait())
            yield None, [EVENT] * len(said)

    reader = Reader()
    task = run(Stream(batches()), reader)
    for number in range(200):
        words.put_nowait(number)
        await asyncio.sleep(0)
    await until(lambda: b"".join(reader.bodies) == FRAME * 200)
    assert len(reader.bodies) < 20
    before = len(reader.bodies)
    for number in range(3):
        words.put_nowait(number)
        await until(lambda seen=before + number: len(reader.bodies) > seen)
    assert reader.bodies[before:] == [FRAME] * 3
    reader.gone.set()
    await soon(task)
