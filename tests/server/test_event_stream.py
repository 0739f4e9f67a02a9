"""Streams by hand: silence, slow readers, readers that leave, and nothing left behind."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from tests.hubs import forever, soon, until

from trunkline.cursor import Cursor
from trunkline.protocols.sse import write_frames
from trunkline.server.event_stream import Framing, StreamResponse, sse_framing
from trunkline.server.limits import Limits

EVENT = b'{"event":1}'
FRAME = b'data: {"event":1}\n\n'
SSE = sse_framing(lambda cursor, events: write_frames(events, cursor))
RAW = Framing(media_type="application/octet-stream", write=lambda cursor, events: b"".join(events))


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
        self.sent = 0
        self.ended = 0
        self.closed = 0

    async def batches(self, count: int | None = None) -> AsyncGenerator[tuple[Cursor | None, list[Any]]]:
        try:
            for _ in itertools.count() if count is None else range(count):
                await self.more.wait()
                self.sent += 1
                yield None, [EVENT]
        finally:
            self.ended += 1

    async def close(self) -> None:
        assert self.ended == 1, "what was being read is closed before its owner is told"
        self.closed += 1


def run(stream: StreamResponse, reader: Reader) -> asyncio.Task[None]:
    return asyncio.create_task(stream({}, reader.receive, reader.send))


def run_source(
    source: Source, reader: Reader, framing: Framing = SSE, *, count: int | None = None, **limits: Any
) -> asyncio.Task[None]:
    """Send the batches of a source."""
    batches = source.batches(count)
    return run(StreamResponse(batches, framing, limits=Limits(**limits), close=source.close), reader)


def left_over() -> list[str]:
    return [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("trunkline stream")]


async def test_a_batch_is_one_message_and_the_end_is_said() -> None:
    async def batches() -> AsyncGenerator[tuple[Cursor | None, list[Any]]]:
        yield None, [EVENT, EVENT]
        yield Cursor(1, 2, 3), []
        yield Cursor(1, 2, 3), [EVENT, EVENT]

    reader = Reader()
    await soon(run(StreamResponse(batches(), SSE), reader))
    assert reader.bodies == [FRAME * 2, FRAME + b"id: 1-2.3\n" + FRAME, b""]
    assert [message.get("more_body") for message in reader.sent] == [None, True, True, False]
    assert left_over() == []


async def test_a_framing_brings_its_headers_and_its_last_bytes() -> None:
    async def batches() -> AsyncGenerator[tuple[Cursor | None, list[Any]]]:
        yield None, [EVENT]

    reader = Reader()
    framing = sse_framing(SSE.write, end=b"data: [DONE]\n\n", headers={"x-format": "v1"})
    await soon(run(StreamResponse(batches(), framing), reader))
    assert (b"x-format", b"v1") in reader.sent[0]["headers"]
    assert reader.bodies == [FRAME, b"data: [DONE]\n\n"]


async def test_the_last_bytes_are_not_sent_to_a_stream_that_breaks() -> None:
    async def broken() -> AsyncGenerator[tuple[Cursor | None, list[Any]]]:
        yield None, [EVENT]
        raise ZeroDivisionError

    reader = Reader()
    with pytest.raises(ZeroDivisionError):
        await soon(run(StreamResponse(broken(), sse_framing(SSE.write, end=b"end")), reader))
    assert reader.bodies == [FRAME]


async def test_the_opening_follows_the_headers_before_the_first_event() -> None:
    source, reader = Source(), Reader()
    task = run(StreamResponse(source.batches(1), SSE, opening=b": open\n\n", close=source.close), reader)
    await until(lambda: reader.bodies == [b": open\n\n"])
    source.more.set()
    await soon(task)
    assert reader.bodies == [b": open\n\n", FRAME, b""]


async def test_silence_stays_silence_where_there_is_no_sign_of_life() -> None:
    source, reader = Source(), Reader()
    task = run_source(source, reader, RAW, count=1, keep_alive_seconds=0.01)
    await until(lambda: bool(reader.sent))
    await asyncio.sleep(0.05)
    assert reader.bodies == []
    source.more.set()
    await soon(task)
    assert reader.bodies == [EVENT, b""]


async def test_a_silent_reader_that_leaves_is_noticed_without_a_sign_of_life() -> None:
    source, reader = Source(), Reader()
    task = run_source(source, reader, RAW, keep_alive_seconds=0.01)
    await until(lambda: bool(reader.sent))
    reader.gone.set()
    await soon(task, 5.0)
    assert (source.ended, source.closed, left_over()) == (1, 1, [])


async def test_silence_is_filled_with_comments_and_speech_is_not() -> None:
    source, reader = Source(), Reader()
    task = run_source(source, reader, count=1, keep_alive_seconds=0.02)
    await until(lambda: reader.bodies.count(SSE.comment) >= 3)
    source.more.set()
    await soon(task)
    assert reader.bodies[-2:] == [FRAME, b""]
    assert source.closed == 1


async def test_a_reader_that_leaves_is_noticed_at_once_and_everything_is_let_go() -> None:
    source, reader = Source(), Reader()
    task = run_source(source, reader)
    await until(lambda: bool(reader.sent))
    reader.gone.set()
    await soon(task, 5.0)
    assert (source.ended, source.closed, left_over()) == (1, 1, [])


async def test_a_reader_that_leaves_in_the_middle_of_a_message_is_noticed_too() -> None:
    source, reader = Source(), Reader()
    source.more.set()
    task = run_source(source, reader)
    await until(lambda: len(reader.sent) > 3)
    reader.reads.clear()
    output = source.sent
    await asyncio.sleep(0)
    reader.gone.set()
    await soon(task, 5.0)
    assert source.sent <= output + 1, "who does not read is not read for"
    assert (source.ended, source.closed, left_over()) == (1, 1, [])


async def test_a_reader_that_takes_nothing_for_too_long_is_dropped() -> None:
    source, reader = Source(), Reader()
    source.more.set()
    task = run_source(source, reader, keep_alive_seconds=0.01, stall_seconds=0.05)
    await until(lambda: len(reader.sent) > 3)
    reader.reads.clear()
    await soon(task, 2.0)
    assert (source.ended, source.closed, left_over()) == (1, 1, [])


@pytest.mark.parametrize("speaking", [True, False])
async def test_a_server_that_says_that_the_reader_is_gone_is_believed(speaking: bool) -> None:
    source, reader = Source(), Reader()
    task = run_source(source, reader, keep_alive_seconds=0.01)
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
        await soon(run(StreamResponse(broken(), SSE, close=close), Reader()))
    assert (closed, left_over()) == ([True], [])


@pytest.mark.parametrize("when", ["before", "while"])
async def test_a_stream_that_is_cancelled_lets_everything_go(when: str) -> None:
    source, reader = Source(), Reader()
    task = run_source(source, reader)
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
    task = run(StreamResponse(slow(), SSE), reader)
    await until(lambda: bool(reader.sent))
    reader.gone.set()
    await soon(task)
    assert stopped.is_set()


async def test_a_fast_stream_is_sent_in_pieces_and_a_slow_one_word_by_word() -> None:
    words: asyncio.Queue[int] = asyncio.Queue()

    async def batches() -> AsyncGenerator[tuple[Cursor | None, list[Any]]]:
        while True:
            output = [await words.get()]
            while not words.empty():
                output.append(words.get_nowait())
            yield None, [EVENT] * len(output)

    reader = Reader()
    task = run(StreamResponse(batches(), SSE), reader)
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
