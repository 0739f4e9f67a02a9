"""Tests of the outbox: a reader that is behind gets joined deltas; one that never reads is dropped."""

import asyncio

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
from tests.hubs import soon

from trunkline.conformance.agui.event_verifier import breaches
from trunkline.frontends.agui import event_queue, sse_transport
from trunkline.protocols.agui import wire


async def test_a_reader_that_is_behind_gets_joined_deltas_and_all_of_the_text() -> None:
    stream = sse_transport(high_water_mark=4)
    words = [f"w{number} " for number in range(1000)]
    emit(stream, START, *message_events(*words), END)
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
    emit(stream, START, *pieces, END)
    deltas = [event["delta"] for event in events_in(await read(stream)) if "delta" in event]
    assert deltas == ["1", "23", "4", "5", "67", "8", "9"]


async def test_deltas_are_not_joined_without_coalesce() -> None:
    stream = sse_transport(high_water_mark=1, coalesce=False)
    emit(stream, START, *message_events("1", "2", "3"), END)
    assert len(events_in(await read(stream))) == 7


async def test_a_reader_that_never_reads_gets_an_error_and_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
    await soon(stream.drained())  # The wait is bounded.
    await pieces.aclose()


async def test_a_producer_in_another_loop_does_not_wait() -> None:
    stream = sse_transport(high_water_mark=1, coalesce=False)
    pieces = aiter(stream)
    stream.emit(START)
    await soon(anext(pieces))
    emit(stream, *RUN[1:-1])
    await soon(asyncio.to_thread(asyncio.run, stream.drained()))
    await pieces.aclose()
