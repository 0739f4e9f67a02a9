"""From one owner to the next: races and deaths in between, in one process so that each can be staged."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.hubs import collect, echo, events_of, forever, hub_for, make, only, session_for, soon, until
from trunkline import events as ev
from trunkline.agents.interface import AgentCard
from trunkline.commands import Prompt
from trunkline.cursor import Cursor
from trunkline.errors import JournalError, SessionBusy, SessionClosed, TrunklineError
from trunkline.grammar import Grammar
from trunkline.journal import Disposition, Held, Lease, Record, SessionInfo, SessionKey
from trunkline.journal.memory import MemoryJournal
from trunkline.journal.sqlite import SqliteJournal
from trunkline.options import ConfigOption
from trunkline.session.context import SessionView, TurnContext
from trunkline.session.hub import Hub
from trunkline.session.settings import Settings
from trunkline.session.stream.event_stream import EventStream
from trunkline.session.stream.reader import Reader

KEY = SessionKey("local", "s")


class SlowReads(MemoryJournal):
    """Gives what it read only when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.gates: list[asyncio.Event] = []

    async def read(self, key: SessionKey, after: int = 0, limit: int = 1000) -> list[Record]:
        records = await super().read(key, after, limit)
        self.gates.append(gate := asyncio.Event())
        await gate.wait()
        return records


async def filled(journal: MemoryJournal, *events: ev.AnyEvent) -> Lease:
    """A session with these events, written by an owner that is gone."""
    await journal.open()
    await journal.create(SessionInfo(principal="local", session_id="s"))
    lease = await journal.claim(KEY, "gone", 0.0)
    assert isinstance(lease, Lease)
    await append(journal, lease, *events)
    return lease


async def append(journal: MemoryJournal, lease: Lease, *events: ev.AnyEvent) -> None:
    info = await journal.get(KEY)
    assert info is not None
    numbered = enumerate(events, info.last_seq + 1)
    await journal.append(lease, [Record(seq=n, at=0.0, fence=lease.fence, event=e) for n, e in numbered])


async def test_a_line_that_is_caught_up_twice_at_once_misses_nothing() -> None:
    journal = SlowReads()
    lease = await filled(journal, ev.Notice(title="1"))
    stream = EventStream(journal, KEY, Grammar(), Settings())
    slow = asyncio.create_task(stream.catch_up())
    await until(lambda: len(journal.gates) == 1)
    await append(journal, lease, ev.Notice(title="2"))
    fast = asyncio.create_task(stream.catch_up())
    await until(lambda: len(journal.gates) == 2)
    journal.gates[0].set()
    await until(lambda: stream.committed_seq == 1)
    journal.gates[1].set()
    await until(lambda: stream.committed_seq == 2)
    for task in (slow, fast):
        task.cancel()
    await asyncio.gather(slow, fast, return_exceptions=True)


class LateCommits(MemoryJournal):
    """Commits what was appended only after the next read has looked."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[tuple[asyncio.Future[None], Lease, Sequence[Record]]] | None = None

    def append(
        self, lease: Lease, records: Sequence[Record], *, durable: bool = False
    ) -> asyncio.Future[None]:
        if self.held is None:
            return super().append(lease, records, durable=durable)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.held.append((future, lease, records))
        return future

    async def read(self, key: SessionKey, after: int = 0, limit: int = 1000) -> list[Record]:
        records = await super().read(key, after, limit)
        held, self.held = self.held or [], None
        for future, lease, appended in held:
            super().append(lease, appended)
            future.set_result(None)
        for _ in range(3):
            await asyncio.sleep(0)
        return records


async def test_a_cursor_into_what_is_written_at_this_moment_is_no_gap() -> None:
    journal = LateCommits()
    await journal.open()

    async def talking() -> AsyncIterator[str]:
        yield "hello"
        await forever()

    async with session_for(talking, journal=journal) as session, session.follow() as reader:
        await session.own()
        journal.held = []
        prompting = asyncio.create_task(session.prompt("go"))
        while reader.cursor.offset != len("hello"):
            await soon(reader.next())
        assert reader.cursor == Cursor(session.position.fence, 3, 5)
        resumed = await session.subscribe(reader.cursor)
        assert isinstance(resumed, Reader)
        resumed.close()
        await journal.read(session.key)
        await soon(prompting)
    await journal.close()


async def test_a_turn_left_open_in_a_session_with_a_trimmed_beginning_is_settled() -> None:
    journal = MemoryJournal()
    names = ("first", "second", "third")
    whole = [event for n in names for event in (ev.TurnStarted(turn_id=n), ev.TurnFinished(turn_id=n))]
    await filled(journal, *whole, ev.TurnStarted(turn_id="open"))
    assert await journal.retain(max_bytes=1) > 0
    async with hub_for(journal=journal) as hub:
        session = await hub.session("s")
        assert session.busy
        await collect(session, "hello")
        turns = (await session.history()).turns
        assert [turn.code for turn in turns] == ["interrupted", None]
        assert turns[0].turn_id == "open"
    await journal.close()


class DiesBeforeItsWord(SqliteJournal):
    """Belongs to an owner that carries a command out and dies before it can say so."""

    lease: Lease | None = None

    async def settle(self, lease: Lease, command_key: str, disposition: Disposition) -> None:
        self.lease = lease
        raise JournalError("the process died here")

    async def claim(self, key: SessionKey, owner: str, ttl: float) -> Lease | Held:
        if self.lease is not None:
            raise JournalError("the process died before")
        return await super().claim(key, owner, ttl)


async def test_a_prompt_that_a_dead_owner_began_is_not_run_a_second_time(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    theirs, ours = DiesBeforeItsWord(path), SqliteJournal(path)
    await theirs.open()
    await ours.open()
    async with hub_for(journal=theirs, lease_ttl=60) as dead, hub_for(journal=ours) as hub:
        session = await dead.create("s")
        await collect(session, "mine")
        again = await hub.session("s")
        waiting = asyncio.create_task(again.prompt("once"))
        await until(lambda: theirs.lease is not None and not session.busy)
        assert theirs.lease is not None
        await ours.release(theirs.lease)
        receipt = await soon(waiting)
        assert again.is_owner
        started = only(await events_of(again), ev.TurnStarted)
        assert len(started) == 2
        assert started[-1].turn_id == receipt.turn_id
    await theirs.close()
    await ours.close()


class Fragile:
    """An agent that fails in a way of its own when an option is set."""

    card = AgentCard(name="fragile", options=(ConfigOption(option_id="loud", name="Loud", value=False),))

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "fine"

    async def set_config(self, session: SessionView, options: Any) -> None:
        raise ValueError("no louder than this")


async def test_a_command_on_which_the_agent_fails_is_refused_with_its_words() -> None:
    journal = MemoryJournal()
    await journal.open()
    async with hub_for(Fragile(), journal=journal) as owner, hub_for(Fragile(), journal=journal) as other:
        session = await owner.create("s")
        await collect(session, "hello")
        follower = await other.session("s")
        with pytest.raises(TrunklineError, match="ValueError: no louder than this"):
            await soon(follower.set_config("loud", True))
        assert not follower.is_owner
    await journal.close()


async def test_commands_that_take_long_do_not_pile_up_helpers(tmp_path: Path) -> None:
    async def deaf() -> AsyncIterator[str]:
        while True:
            yield "la "
            try:
                await asyncio.sleep(0.002)
            except asyncio.CancelledError:
                continue

    path = tmp_path / "journal.db"
    ours, theirs = SqliteJournal(path), SqliteJournal(path)
    await ours.open()
    await theirs.open()
    quick: dict[str, Any] = {"coalesce_window": 0.0, "detach_after": 0.5}
    async with hub_for(deaf, journal=ours, **quick) as owner, hub_for(deaf, journal=theirs, **quick) as other:
        session = await owner.create("s")
        await session.prompt("sing")
        follower = await other.session("s")
        cancelling = asyncio.create_task(follower.cancel(by="b"))
        most = 0
        while not cancelling.done():
            most = max(most, len(asyncio.all_tasks()))
            await asyncio.sleep(0.005)
        assert await cancelling is True
        assert most < 20
        # The singer that did not listen is gone after its next word.
        await until(lambda: not any("turn_" in task.get_name() for task in asyncio.all_tasks()))
    await ours.close()
    await theirs.close()


class Sluggish(Fragile):
    """An agent that gets ready slowly, and counts how often."""

    def __init__(self) -> None:
        self.opened = 0
        self.ready = asyncio.Event()

    async def open_session(self, session: SessionView) -> None:
        self.opened += 1
        await self.ready.wait()


async def test_a_retry_while_the_agent_gets_ready_is_the_same_prompt_and_opens_once() -> None:
    agent = Sluggish()
    async with session_for(agent) as session:
        retries = [asyncio.create_task(session.prompt(Prompt.of("once", key="k"))) for _ in range(3)]
        await until(lambda: agent.opened > 0)
        agent.ready.set()
        receipts = await soon(asyncio.gather(*retries))
        assert len({receipt.turn_id for receipt in receipts}) == 1
        assert agent.opened == 1


async def test_a_session_closed_while_its_agent_gets_ready_begins_no_turn() -> None:
    agent = Sluggish()
    async with hub_for(agent) as hub:
        session = await hub.create()
        waiting = asyncio.create_task(session.prompt("too late"))
        await until(lambda: agent.opened > 0)
        await soon(session.close())
        agent.ready.set()
        with pytest.raises(SessionClosed):
            await soon(waiting)
        again = await soon(hub.session(session.session_id))
        assert only(await events_of(again), ev.TurnStarted) == []


async def test_a_session_that_is_made_and_opened_at_once_is_one_object() -> None:
    journal = SlowReads()
    await journal.open()
    async with hub_for(journal=journal) as hub:
        making = asyncio.create_task(hub.create("s"))
        await until(lambda: len(journal.gates) == 1)
        opening = asyncio.create_task(hub.session("s"))
        await until(lambda: len(journal.gates) == 2)
        for gate in journal.gates:
            gate.set()
        made, opened = await soon(asyncio.gather(making, opening))
        assert made is opened is await soon(hub.session("s"))
    await journal.close()


async def test_an_owner_that_lives_but_never_answers_is_named_as_the_cause() -> None:
    journal = MemoryJournal()
    await journal.open()
    mute = Hub(make(echo), journal, settings=Settings(lease_ttl=60.0))
    await collect(await mute.create("s"), "mine")
    async with hub_for(journal=journal, command_timeout=0.1) as hub:
        session = await hub.session("s")
        with pytest.raises(SessionBusy, match="does not answer; close it, or try again"):
            await soon(session.prompt("hello"))
        assert not session.is_owner
    await journal.close()
