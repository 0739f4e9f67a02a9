"""Journals that cannot keep up or cannot write, and agents that do not listen."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.faults.children.slow_reader import PIECE
from tests.faults.processes import child
from tests.hubs import collect, echo, events_of, forever, hub_for, only, session_for, soon, text_of, until
from tests.journal.test_sqlite import SmallDisk
from trunkline import events as ev
from trunkline.agents.interface import AgentCard
from trunkline.commands import Prompt
from trunkline.errors import JournalError, SessionClosed
from trunkline.folding import fold
from trunkline.journal import Lease, Record, SessionKey, open_journal
from trunkline.journal.memory import MemoryJournal
from trunkline.journal.sqlite import SqliteJournal
from trunkline.session.context import SessionView, TurnContext
from trunkline.session.stream.reader import Reader

COUNT = 60_000


async def flood(prompt: Prompt) -> AsyncIterator[str]:
    while prompt.text == "flood":
        yield "x" * 2000
        await asyncio.sleep(0.001)
    yield prompt.text


async def read_to_the_end(reader: Reader) -> tuple[list[ev.AnyEvent], Exception]:
    """Everything a reader gets, and the error it ends with."""
    output: list[ev.AnyEvent] = []
    async with asyncio.timeout(20):
        try:
            async for entry in reader:
                output.append(entry.event)
        except JournalError as error:
            return output, error
    raise AssertionError("the reader ended without a word")


async def test_a_full_disk_fails_the_turn_with_its_cause_and_nothing_else(tmp_path: Path) -> None:
    small, other = SmallDisk(tmp_path / "small.db"), await open_journal(f"sqlite:{tmp_path / 'other.db'}")
    await small.open()
    async with hub_for(flood, journal=small) as hub, hub_for(flood, journal=other) as elsewhere:
        session, neighbour = await hub.create(), await elsewhere.create()
        async with session.follow() as one, session.follow() as two:
            await session.prompt("flood")
            await until(lambda: session.stored_seq > 2)
            await small.leave_pages(40)
            (results, error), (told_too, _) = await asyncio.gather(read_to_the_end(one), read_to_the_end(two))
        for seen in (results, told_too):
            (failed,) = [event for event in seen if isinstance(event, ev.TurnFinished | ev.TurnFailed)]
            assert isinstance(failed, ev.TurnFailed)
            assert (failed.code, failed.fault) == ("journal", "ours")
            assert "full: free some space" in failed.message
            assert seen[-1] is failed
        assert str(error) == failed.message
        with pytest.raises(SessionClosed):
            await session.prompt("go on")
        assert text_of(await collect(neighbour, "fine here")) == "fine here"

        await small.leave_pages(10_000)
        again = await hub.session(session.session_id)
        assert again is not session
        assert text_of(await collect(again, "back")) == "back"
        turns = (await again.history()).turns
        assert [(turn.status, turn.code) for turn in turns] == [("failed", "interrupted"), ("finished", None)]
    await small.close()
    await other.close()


async def test_a_session_that_a_full_disk_closed_still_serves_other_processes(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    small, other = SmallDisk(path), SqliteJournal(path)
    await small.open()
    await other.open()
    async with hub_for(flood, journal=small) as hub, hub_for(flood, journal=other) as elsewhere:
        session = await hub.create("s")
        follower = await elsewhere.session("s")
        async with session.follow() as reader:
            await session.prompt("flood")
            await until(lambda: session.stored_seq > 2)
            await small.leave_pages(20)
            await read_to_the_end(reader)
        await small.leave_pages(10_000)
        assert text_of(await collect(follower, "hello")) == "hello"
        assert not follower.is_owner
        assert [turn.code for turn in (await follower.history()).turns] == ["interrupted", None]
    await small.close()
    await other.close()


class Unwritable(MemoryJournal):
    """A journal that refuses to write from some moment on."""

    broken = False

    def append(
        self, lease: Lease, records: Sequence[Record], *, durable: bool = False
    ) -> asyncio.Future[None]:
        if not self.broken:
            return super().append(lease, records, durable=durable)
        refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        refused.set_exception(JournalError("the disk is gone"))
        return refused


class Careful:
    """An agent that notes which sessions are open."""

    card = AgentCard(name="careful")

    def __init__(self) -> None:
        self.open: list[str] = []

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "working"
        await forever()

    async def open_session(self, session: SessionView) -> None:
        self.open.append(session.session_id)

    async def close_session(self, session: SessionView) -> None:
        self.open.remove(session.session_id)


async def test_closing_on_a_broken_journal_ends_readers_and_lets_go_of_everything() -> None:
    journal, agent = Unwritable(), Careful()
    await journal.open()
    tasks = asyncio.all_tasks()
    async with hub_for(agent, journal=journal) as hub:
        session = await hub.create("s")
        reader = session.follow()
        await session.prompt("go")
        await until(lambda: "s" in agent.open)
        journal.broken = True
    output, error = await read_to_the_end(reader)
    assert str(error) == "the disk is gone"
    assert len([event for event in output if isinstance(event, ev.TurnFinished | ev.TurnFailed)]) == 1
    await until(lambda: asyncio.all_tasks() == tasks)
    assert agent.open == []
    await journal.close()


async def test_a_lost_session_lets_go_of_its_agent_before_it_is_opened_again() -> None:
    journal, agent = Unwritable(), Careful()
    await journal.open()
    async with hub_for(agent, journal=journal) as hub:
        session = await hub.create("s")
        await session.prompt("go")
        await until(lambda: "s" in agent.open)
        journal.broken = True
        session.emit(ev.Notice(title="unheard"))
        await until(lambda: session.closed)
        journal.broken = False
        again = await soon(hub.session("s"))
        assert again is not session
        await again.prompt("go on")
        assert agent.open == ["s"]
    assert agent.open == []
    await journal.close()


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_reader_that_sleeps_costs_no_memory_and_gets_everything_in_the_end(tmp_path: Path) -> None:
    async with child("slow_reader", tmp_path / "journal.db", COUNT) as reading:
        result = await reading.expect(within=90)
    assert result["equal"]
    assert result["size"] == sum(len(f"{number} {PIECE}") for number in range(COUNT))
    assert result["last"] == f"{COUNT - 1} {PIECE}"
    # Kept as they were said, the events alone would take several times this.
    assert result["grown"] < 8 * 2**20


async def test_an_agent_that_blocks_in_a_thread_cannot_hold_up_its_cancellation() -> None:
    blocked, released = threading.Event(), threading.Event()

    def stubborn() -> str:
        blocked.set()
        released.wait(20)
        return "too late"

    async with session_for(stubborn) as session:
        try:
            async with session.follow() as reader:
                await session.prompt("go")
                await until(blocked.is_set)
                assert await soon(session.cancel(by="me"), within=2)
                output: list[ev.AnyEvent] = []
                while not only(output, ev.TurnFinished):
                    output += [entry.event for entry in await soon(reader.next())]
            assert only(output, ev.TurnFinished)[0].stop_reason == "cancelled"
            assert not session.busy
        finally:
            released.set()
        assert text_of(await events_of(session)) == ""


async def test_a_prompt_that_waits_is_dropped_in_words_when_its_process_ends() -> None:
    async def stuck(prompt: Prompt) -> AsyncIterator[str]:
        yield prompt.text
        if prompt.text == "block":
            await forever()

    journal: Any = MemoryJournal()
    await journal.open()
    async with hub_for(stuck, journal=journal, busy="queue") as hub:
        session = await hub.create("s")
        await session.prompt("block")
        await session.prompt(Prompt.of("waits", key="closed"))
    lease = await journal.claim(SessionKey("local", "s"), "crashing", 0.0)
    event = ev.PromptQueued(prompt_id="crashed")
    await journal.append(lease, [Record(seq=lease.last_seq + 1, at=0.0, fence=lease.fence, event=event)])
    async with hub_for(echo, journal=journal, busy="queue") as hub:
        session = await hub.session("s")
        await collect(session, "hello")
        whole = fold(await events_of(session))
        assert whole.queued == []
        dropped = only(await events_of(session), ev.PromptDropped)
        assert [event.prompt_id for event in dropped] == ["closed", "crashed"]
        assert dropped[0].reason == "the session was closed"
        assert "send it again" in dropped[1].reason
        retried = await collect(session, Prompt.of("waits", key="crashed"))
        assert text_of(retried) == "waits "
    await journal.close()
