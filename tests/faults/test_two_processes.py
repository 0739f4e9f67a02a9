"""Two processes on one SQLite file: one runs, the other follows, answers, cancels and takes over."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import TypeVar

import pytest

from tests.faults.children.peer import SETTINGS, peer
from tests.faults.processes import Child, child
from tests.hubs import WAIT, collect, only, soon, text_of, until
from trunkline import events as ev
from trunkline.commands import Answer, Prompt
from trunkline.cursor import Entry
from trunkline.errors import AlreadyAnswered, InvalidCommand, SessionBusy
from trunkline.folding import fold
from trunkline.journal import Journal, Record, open_journal
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.session.stream.reader import Reader

E = TypeVar("E", bound=ev.Event)


class Pair:
    """Process A (a child) and process B (this one) on one file."""

    def __init__(self, a: Child, session: Session, reader: Reader, journal: Journal, path: Path) -> None:
        self.a = a
        self.session = session
        self._entries = aiter(reader)
        self.journal = journal
        self.path = path
        self.seen: list[Entry] = []

    async def see(self, kind: type[E], when: Callable[[E], bool] = lambda _: True) -> E:
        """Follow in B until such an event comes by."""
        async with asyncio.timeout(WAIT):
            async for entry in self._entries:
                self.seen.append(entry)
                if isinstance(entry.event, kind) and when(entry.event):
                    return entry.event
        raise AssertionError("the reader ended")

    async def records(self) -> list[Record]:
        return await self.journal.read(self.session.key)

    async def fence(self) -> int:
        info = await self.journal.get(self.session.key)
        assert info is not None
        return info.fence


@asynccontextmanager
async def hub_on(path: Path, target: str = "peer") -> AsyncGenerator[Hub, None]:
    journal = await open_journal(f"sqlite:{path}")
    try:
        async with Hub(peer, journal, settings=SETTINGS, target=target) as hub:
            yield hub
    finally:
        await journal.close()


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[Pair]:
    path = tmp_path / "journal.db"
    async with AsyncExitStack() as stack:
        hub = await stack.enter_async_context(hub_on(path))
        session = await hub.create("shared")
        a = await stack.enter_async_context(child("peer", path, "shared"))
        await a.expect(state="following")
        reader = await stack.enter_async_context(session.follow())
        yield Pair(a, session, reader, hub.journal, path)


async def test_a_follower_sees_events_while_the_turn_of_another_process_still_runs(pair: Pair) -> None:
    turn_id = (await pair.a.do("prompt", text="talk"))["turn_id"]
    started = await pair.see(ev.TurnStarted)
    for _ in range(3):
        await pair.see(ev.Text, lambda text: "blah" in text.delta)
    assert started.turn_id == turn_id
    assert pair.session.busy
    assert not any(isinstance(entry.event, ev.TurnFinished | ev.TurnFailed) for entry in pair.seen)


async def test_a_follower_answers_a_permission_and_a_second_answer_learns_who_was_first(pair: Pair) -> None:
    await pair.a.do("prompt", text="ask")
    asked = await pair.see(ev.Asked)
    await pair.see(ev.TurnSuspended)
    yes = Answer(question_id=asked.question_id, option_id="allow_once", by="b")
    no = Answer(question_id=asked.question_id, option_id="reject_once", by="c")
    neither = Answer(question_id=asked.question_id, option_id="maybe", by="b")
    with pytest.raises(InvalidCommand, match="choose one of allow_once"):
        await soon(pair.session.answer(neither))
    await soon(pair.session.answer(yes))
    with pytest.raises(AlreadyAnswered) as second:
        await soon(pair.session.answer(no))
    assert (second.value.by, second.value.question_id) == ("b", asked.question_id)
    await pair.see(ev.TurnFinished)
    assert "b said yes" in text_of([entry.event for entry in pair.seen])
    assert (await pair.a.expect(event="answered"))["value"]["by"] == "b"
    await pair.a.expect(event="turn_finished")


async def test_a_follower_steers_the_turn_of_another_process_and_a_retry_is_the_same_message(
    pair: Pair,
) -> None:
    turn_id = (await pair.a.do("prompt", text="listen"))["turn_id"]
    await pair.see(ev.Text)
    prompt = Prompt.of("from b", busy="steer", key="k", message_id="m-b")
    receipt = await soon(pair.session.prompt(prompt))
    assert receipt.prompt_id == "k"
    joined = await pair.see(ev.UserMessage, lambda message: message.message_id == "m-b")
    assert (joined.turn_id, joined.prompt_id) == (turn_id, "k")
    await pair.see(ev.TurnFinished)
    assert await soon(pair.session.prompt(prompt)) == receipt
    assert "heard from b" in text_of([entry.event for entry in pair.seen])
    said = [entry.event for entry in pair.seen if isinstance(entry.event, ev.UserMessage)]
    assert [message.message_id for message in said][1:] == ["m-b"]


async def test_a_message_that_waits_when_the_owner_is_killed_is_dropped_with_the_reason(pair: Pair) -> None:
    await pair.a.do("prompt", text="talk")
    await pair.see(ev.Text, lambda text: "blah" in text.delta)
    await soon(pair.session.prompt(Prompt.of("more", busy="steer", key="k")))
    await pair.a.kill()
    await soon(pair.session.prompt("mine"))
    dropped = await pair.see(ev.PromptDropped)
    assert (dropped.prompt_id, "send it again" in (dropped.reason or "")) == ("k", True)


async def test_the_follower_takes_over_with_a_higher_fence_when_the_owner_is_killed(pair: Pair) -> None:
    turn_id = (await pair.a.do("prompt", text="talk"))["turn_id"]
    await pair.see(ev.Text, lambda text: "blah" in text.delta)
    before = await pair.fence()
    await pair.a.kill()
    receipt = await soon(pair.session.prompt("mine"))
    failed = await pair.see(ev.TurnFailed)
    assert (failed.turn_id, failed.code) == (turn_id, "interrupted")
    await pair.see(ev.TurnFinished)
    assert await pair.fence() > before
    output = text_of([entry.event for entry in pair.seen if entry.event.turn_id == receipt.turn_id])
    assert output == f"[{os.getpid()}] mine in mode calm"
    await soon(pair.session.wait_for_ending_turn())  # Readers are first, the journal is right behind.
    events = [record.event for record in await pair.records() if record.event is not None]
    assert fold(events) == fold(entry.event for entry in pair.seen)


async def test_a_question_of_a_killed_owner_is_settled_and_can_no_longer_be_answered(pair: Pair) -> None:
    await pair.a.do("prompt", text="ask")
    asked = await pair.see(ev.Asked)
    await pair.a.kill()
    with pytest.raises(AlreadyAnswered) as late:
        await soon(pair.session.answer(Answer(question_id=asked.question_id, option_id="allow_once", by="b")))
    assert late.value.by == "trunkline"
    assert (await pair.see(ev.Answered)).outcome == "cancelled"
    assert (await pair.see(ev.TurnFailed)).code == "interrupted"


async def stop_between_writes(pair: Pair) -> None:
    """Stop process A at a moment when it does not hold the file's write lock."""
    while True:
        pair.a.send(signal.SIGSTOP)
        try:
            with closing(sqlite3.connect(pair.path, timeout=0.2, isolation_level=None)) as db:
                db.execute("BEGIN IMMEDIATE")
                db.execute("ROLLBACK")
            return
        except sqlite3.OperationalError:
            pair.a.send(signal.SIGCONT)
            await asyncio.sleep(0)


async def test_a_stopped_owner_that_wakes_is_refused_and_follows_again(pair: Pair) -> None:
    turn_id = (await pair.a.do("prompt", text="talk"))["turn_id"]
    await pair.see(ev.Text, lambda text: "blah" in text.delta)
    await stop_between_writes(pair)
    receipt = await soon(pair.session.prompt("mine"))
    assert (await pair.see(ev.TurnFailed)).code == "interrupted"
    await pair.see(ev.TurnFinished)
    taken = await pair.fence()

    pair.a.send(signal.SIGCONT)
    failed = await pair.a.expect(event="turn_failed")
    assert (failed["turn_id"], failed["value"]["code"]) == (turn_id, "fenced")
    assert (await pair.a.expect(state="lost"))["code"] == "fenced"
    await pair.a.expect(state="following")

    second = await soon(pair.session.prompt("again"))
    await pair.see(ev.TurnFinished)
    assert (await pair.a.expect(event="turn_started"))["turn_id"] == second.turn_id
    await pair.a.expect(event="turn_finished")
    events = [record.event for record in await pair.records() if record.event is not None]
    known = (await pair.a.do("read"))["messages"]
    assert known == [message.text for message in fold(events).messages]

    records = await pair.records()
    takeover = next(r.seq for r in records if isinstance(r.event, ev.TurnFailed))
    assert {record.fence for record in records if record.seq >= takeover} == {taken}
    assert [e.turn_id for e in only([r.event for r in records], ev.TurnStarted)] == [
        turn_id,
        receipt.turn_id,
        second.turn_id,
    ]


async def test_a_process_of_another_target_follows_and_answers_but_never_runs(pair: Pair) -> None:
    async with hub_on(pair.path, target="other") as other:
        session = await other.session("shared")
        async with session.follow() as reader:
            await pair.a.do("prompt", text="ask")
            asked = await pair.see(ev.Asked)
            await soon(session.answer(Answer(question_id=asked.question_id, option_id="allow_once", by="o")))
            while not any(isinstance(entry.event, ev.TurnFinished) for entry in await soon(reader.next())):
                pass
            await pair.a.kill()
            async with asyncio.timeout(WAIT):
                while (info := await pair.journal.get(session.key)) and info.owner:
                    await asyncio.sleep(0.05)
            with pytest.raises(SessionBusy, match="belongs to 'peer': start that first"):
                await soon(session.prompt("mine"), within=5)
            assert await pair.journal.commands(session.key) == []
            assert not session.is_owner
    assert len(only([record.event for record in await pair.records()], ev.TurnStarted)) == 1


async def test_a_session_deleted_elsewhere_ends_its_followers_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    async with hub_on(path) as one, hub_on(path) as two:
        for name in ("gone", "stays"):
            await (await two.create(name)).close()
        gone, stays = await one.session("gone"), await one.session("stays")
        async with gone.follow() as lost, stays.follow() as kept:
            await two.delete("gone")
            with pytest.raises(Exception, match="there is no session 'gone'"):
                await soon(lost.next())
            events = await collect(await two.session("stays"), "hello")
            seen: list[ev.AnyEvent] = []
            while not only(seen, ev.TurnFinished):
                seen += [entry.event for entry in await soon(kept.next())]
            assert fold(seen) == fold(events)
        await until(lambda: gone.closed)
