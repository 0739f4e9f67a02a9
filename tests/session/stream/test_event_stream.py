"""The stream: what readers see at once, and what they see only when it is stored."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from tests.hubs import only, soon

from trunkline import events as ev
from trunkline.commands import Cancel
from trunkline.errors import Fenced, JournalError, SessionClosed
from trunkline.grammar import Grammar
from trunkline.journal import Lease, Record, SessionInfo, SessionKey
from trunkline.journal.lease_clock import lease_clock
from trunkline.journal.memory import MemoryJournal
from trunkline.questions import Form
from trunkline.session.settings import Settings
from trunkline.session.stream.event_stream import EventStream
from trunkline.session.stream.reader import Reader

KEY = SessionKey("local", "s")


class Held(MemoryJournal):
    """Commits when a test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[tuple[asyncio.Future[None], Lease, Sequence[Record], bool]] = []

    def append(
        self, lease: Lease, records: Sequence[Record], *, durable: bool = False
    ) -> asyncio.Future[None]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append((future, lease, records, durable))
        return future

    def commit(self) -> None:
        waiting, self.waiting = self.waiting, []
        for future, lease, records, durable in waiting:
            super().append(lease, records, durable=durable)
            future.set_result(None)

    def refuse(self) -> None:
        waiting, self.waiting = self.waiting, []
        for future, *_ in waiting:
            future.set_exception(JournalError("the disk is full"))


async def owned_stream(journal: MemoryJournal) -> EventStream:
    await journal.open()
    await journal.create(SessionInfo(principal="local", session_id="s"))
    lease = await journal.claim(KEY, "me", 60.0)
    assert isinstance(lease, Lease)
    stream = EventStream(journal, KEY, Grammar(), Settings())
    stream.become_owner(lease, lease_clock() + 60.0)
    return stream


async def held_stream() -> tuple[Held, EventStream]:
    journal = Held()
    return journal, await owned_stream(journal)


async def ticks() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def seen(reader: Reader) -> list[Any]:
    """Everything that was pushed to a reader."""
    await ticks()
    return [entry.event for entry in await soon(reader.next())] if reader.waiting else []


STORED_FIRST: list[ev.AnyEvent] = [
    ev.TurnFinished(turn_id="t"),
    ev.TurnFailed(turn_id="t", code="c", message="m"),
    ev.Asked(turn_id="t", question_id="q", question=Form(message="?", fields={})),
]


@pytest.mark.parametrize("event", STORED_FIRST, ids=lambda event: type(event).__name__)
async def test_a_question_or_an_end_is_seen_only_when_it_is_durable(event: ev.AnyEvent) -> None:
    journal, stream = await held_stream()
    reader = stream.follow()
    stream.emit(ev.TurnStarted(turn_id="t"))
    stream.emit(ev.Text(turn_id="t", message_id="m", delta="at once"))
    assert [type(event) for event in await seen(reader)] == [ev.TurnStarted, ev.Text]
    stream.emit(event)
    assert await seen(reader) == []
    assert journal.waiting[-1][-1], "it must survive a power cut too"
    journal.commit()
    assert await seen(reader) == [event]


async def test_events_after_a_question_are_seen_after_it() -> None:
    journal, stream = await held_stream()
    reader = stream.follow()
    stream.emit(ev.TurnStarted(turn_id="t"))
    asked, text = STORED_FIRST[2], ev.Text(turn_id="t", message_id="m", delta="behind it")
    stream.emit(asked)
    await ticks()
    stream.emit(text)
    assert [type(event) for event in await seen(reader)] == [ev.TurnStarted]
    journal.commit()
    assert await seen(reader) == [asked, text]
    # A reader that comes later, from the journal or from memory, sees the same.
    late = stream.subscribe_from(1)
    stream.flush()
    journal.commit()
    assert [type(entry.event) for entry in await soon(late.next())][-2:] == [ev.Asked, ev.Text]


async def test_an_end_that_cannot_be_stored_is_a_failure_for_every_reader() -> None:
    journal, stream = await held_stream()
    stream.on_failed = lambda error: stream.close(error)
    reader = stream.follow()
    stream.emit(ev.TurnStarted(turn_id="t"))
    stream.emit(ev.Text(turn_id="t", message_id="m", delta="an answer"))
    stream.emit(ev.TurnFinished(turn_id="t"))
    await ticks()
    journal.refuse()
    events = await seen(reader)
    assert only(events, ev.TurnFinished) == []
    assert [event.message for event in only(events, ev.TurnFailed)] == ["the disk is full"]
    with pytest.raises(JournalError, match="the disk is full"):
        await soon(reader.next())
    with pytest.raises(JournalError, match="the disk is full"):
        await soon(stream.follow().next())


async def test_a_question_that_cannot_be_stored_is_never_put() -> None:
    journal, stream = await held_stream()
    stream.on_failed = lambda error: stream.close(error, failed_turn="t")
    reader = stream.follow()
    stream.emit(ev.TurnStarted(turn_id="t"))
    stream.emit(STORED_FIRST[2])
    await ticks()
    journal.refuse()
    events = await seen(reader)
    assert only(events, ev.Asked) == []
    assert isinstance(events[-1], ev.TurnFailed)


async def test_an_answer_that_cannot_be_stored_is_shown_to_no_reader() -> None:
    journal, stream = await held_stream()
    stream.on_failed = lambda error: stream.close(error, failed_turn="t")
    reader = stream.follow()
    stream.emit(ev.TurnStarted(turn_id="t"))
    stream.emit(STORED_FIRST[2])
    await ticks()
    journal.commit()
    stream.emit(ev.Answered(turn_id="t", question_id="q", outcome="accepted", content={"secret": 1}, by="me"))
    await ticks()
    journal.refuse()
    events = await seen(reader)
    assert [(event.outcome, event.content) for event in only(events, ev.Answered)] == [("cancelled", None)]
    assert isinstance(events[-1], ev.TurnFailed)


async def test_a_suspended_turn_has_no_end_when_its_line_is_closed() -> None:
    journal = MemoryJournal()
    stream = await owned_stream(journal)
    reader = stream.follow()
    stream.emit(ev.TurnStarted(turn_id="t"))
    stream.emit(STORED_FIRST[2])
    stream.emit(ev.TurnSuspended(turn_id="t", question_ids=("q",)))
    await stream.durable()
    stream.close(SessionClosed("closed"))
    events = await seen(reader)
    assert [type(event) for event in events] == [ev.TurnStarted, ev.Asked, ev.TurnSuspended]


async def test_a_follower_sees_what_another_process_wrote_at_once() -> None:
    journal = MemoryJournal()
    stream = await owned_stream(journal)
    follower = EventStream(journal, KEY, Grammar(), Settings())
    reader = follower.follow()
    stream.emit(ev.TurnStarted(turn_id="t"))
    stream.emit(ev.TurnFinished(turn_id="t"))
    await stream.durable()
    await follower.catch_up()
    assert [type(event) for event in await seen(reader)] == [ev.TurnStarted, ev.TurnFinished]


async def test_a_reader_of_a_closed_line_gets_what_is_stored_and_then_the_reason() -> None:
    journal = MemoryJournal()
    stream = await owned_stream(journal)
    stream.emit(ev.TurnStarted(turn_id="t"))
    stream.emit(ev.TurnFinished(turn_id="t"))
    await stream.durable()
    stream.close(SessionClosed("closed"))
    reader = stream.subscribe_from(1)
    stored = [type(entry.event) for entry in await soon(reader.next())]
    assert stored == [ev.TurnStarted, ev.TurnFinished]
    with pytest.raises(SessionClosed):
        await soon(reader.next())
    assert stream.readers == 0


async def test_an_agent_that_is_ahead_of_a_held_event_waits_without_stopping_the_loop() -> None:
    journal, stream = await held_stream()
    stream.settings = msgspec.structs.replace(stream.settings, lag_limit=5)
    stream.emit(ev.TurnStarted(turn_id="t"))
    stream.emit(ev.TurnFinished(turn_id="t"))
    stream.emit(ev.TurnStarted(turn_id="u"))
    for _ in range(10):
        stream.emit(ev.Text(turn_id="u", message_id="m", delta="behind the end"))
    await ticks()
    assert stream.lagging
    ready = asyncio.create_task(stream.ready())
    await ticks()
    assert not ready.done()
    journal.commit()
    stream.flush()
    journal.commit()
    await soon(ready)


async def test_a_lease_that_runs_out_as_soon_as_it_is_confirmed_stores_nothing_yet() -> None:
    journal, stream = await held_stream()
    stream.extend_lease(0.0)
    stream.emit(ev.TurnStarted(turn_id="t"))
    storing = asyncio.create_task(stream.durable())
    await ticks()
    stream.extend_lease(lease_clock() + 60.0)
    stream.emit(ev.Text(turn_id="t", message_id="m", delta="more"))
    stream.extend_lease(0.0)
    await ticks()
    journal.commit()
    await ticks()
    assert stream.held_lease.in_doubt
    assert not storing.done(), "a part of the text is not given to the journal"
    stream.extend_lease(lease_clock() + 60.0)
    await ticks()
    journal.commit()
    await soon(storing)


async def test_a_stream_that_follows_refuses_to_emit() -> None:
    stream = await owned_stream(MemoryJournal())
    stream.become_follower()
    with pytest.raises(Fenced, match="took this session over"):
        stream.emit(ev.TurnStarted(turn_id="t"))
    with pytest.raises(Fenced, match="took this session over"):
        stream.add_command(Cancel())
    assert not stream.unwritten


async def test_a_wait_for_a_lease_that_is_released_with_everything_written_ends() -> None:
    stream = await owned_stream(MemoryJournal())
    stream.emit(ev.TurnStarted(turn_id="t"))
    await stream.durable()
    stream.extend_lease(0.0)
    storing = asyncio.create_task(stream.durable())
    await ticks()
    assert stream.held_lease.in_doubt
    stream.become_follower()
    await soon(storing)


async def test_a_stream_has_no_more_attributes_than_share_their_names() -> None:
    """CPython keeps up to 29 names once for all objects of a class; with more, each costs 1 KB more."""
    _, stream = await held_stream()
    assert len(vars(stream)) <= 29
