"""Owners: a process that died on this machine is seen to be gone, any other is waited for."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.hubs import collect, echo, forever, hub_for, make, only, soon, text_of, until

from trunkline import events as ev
from trunkline.agents.function import FunctionAgent
from trunkline.agents.interface import AgentCard
from trunkline.commands import HandOver, Prompt
from trunkline.cursor import Entry
from trunkline.errors import Fenced, SessionBusy, SessionClosed
from trunkline.journal import Lease, SessionInfo, SessionKey, open_journal
from trunkline.journal.lease_clock import lease_clock
from trunkline.journal.memory import MemoryJournal
from trunkline.journal.sqlite import SqliteJournal
from trunkline.options import ConfigOption
from trunkline.session.context import SessionView
from trunkline.session.hub import Hub
from trunkline.session.owners import is_gone, new_owner
from trunkline.session.session import Session
from trunkline.session.settings import Settings
from trunkline.session.window import Window


def owner_of_a_dead_process() -> str:
    program = "from trunkline.session.owners import new_owner; print(new_owner())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True
    )
    return done.stdout.strip()


def test_a_process_that_ended_is_gone_and_one_that_runs_is_not() -> None:
    assert is_gone(owner_of_a_dead_process())
    assert not is_gone(new_owner())
    assert new_owner() != new_owner()


def test_a_process_that_waits_to_be_buried_is_gone() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    mine = new_owner().split("/")
    assert is_gone(f"{mine[0]}/{child.pid}/hub")
    child.wait()


def test_an_owner_of_elsewhere_or_of_another_form_is_never_taken_for_gone() -> None:
    for owner in ("", "unknown", "elsewhere/999999999/hub", "/1/hub", "elsewhere/x/hub"):
        assert not is_gone(owner)


async def test_the_lease_of_a_dead_process_is_taken_at_once(tmp_path: Path) -> None:
    async def halfway(prompt: Prompt) -> AsyncIterator[ev.Event]:
        yield ev.ToolCall(call_id="c1", name="x")
        raise SystemExit

    journal = await open_journal(f"sqlite:{tmp_path / 'journal.db'}")
    dead = Hub(make(halfway), journal, settings=Settings(lease_ttl=600))
    dead.owner = owner_of_a_dead_process()
    session = await dead.create()
    assert await session.own()
    async with hub_for(echo, journal=journal, lease_ttl=600.0) as hub:
        again = await hub.session(session.session_id)
        assert text_of(await collect(again, "hello")) == "hello "
        assert again.event_stream.fence > session.event_stream.fence
    await dead.close()
    await journal.close()


LONG = 60.0
"""A lease that no renewal is due for while a test runs."""


async def busy(prompt: Prompt) -> AsyncIterator[str]:
    yield "working"
    if prompt.text != "quick":
        await forever()


async def give_away(session: Session, other: Hub) -> Session:
    """Let another process take a session over, as if the lease had run out."""
    lease = session.event_stream.lease
    assert lease is not None
    await session.hub.journal.release(lease)
    theirs = await other.session(session.session_id)
    assert await theirs.own()
    return theirs


def doubt(session: Session) -> None:
    """Let the owner's own deadline pass."""
    session.event_stream.extend_lease(0.0)


async def test_an_idle_owner_that_was_taken_over_follows_and_forwards(tmp_path: Path) -> None:
    ours, others = SqliteJournal(tmp_path / "j.db"), SqliteJournal(tmp_path / "j.db")
    await ours.open()
    await others.open()
    async with hub_for(journal=ours) as hub, hub_for(journal=others) as other:
        session = await hub.create("s")
        await collect(session, "mine")
        async with session.follow() as reader:
            theirs = await give_away(session, other)
            await collect(theirs, "by the other")
            seen: list[Any] = []
            while not only(seen, ev.TurnFinished):
                seen += [entry.event for entry in await soon(reader.next())]
        assert text_of(seen) == "by the other "
        assert text_of(await collect(session, "passed on")) == "passed on "
        assert not session.is_owner
        assert len(only([entry.event async for entry in theirs.replay()], ev.TurnFinished)) == 3
    await ours.close()
    await others.close()


async def test_a_command_to_an_owner_in_doubt_is_carried_out_where_the_session_is_now(
    journal: MemoryJournal,
) -> None:
    async with (
        hub_for(journal=journal, lease_ttl=LONG) as hub,
        hub_for(journal=journal, lease_ttl=LONG) as other,
    ):
        session = await hub.create("s")
        await collect(session, "mine")
        theirs = await give_away(session, other)
        assert session.event_stream.held_lease.is_current
        doubt(session)
        receipt = await soon(session.prompt("again"))
        assert theirs.turn is not None or receipt.turn_id in theirs.receipts.turn_starts
        assert not session.is_owner


async def test_a_running_turn_that_was_taken_over_ends_here_with_the_reason(journal: MemoryJournal) -> None:
    async with hub_for(busy, journal=journal) as hub, hub_for(busy, journal=journal) as other:
        session = await hub.create("s")
        await session.prompt("go")
        async with session.follow() as reader:
            await give_away(session, other)
            seen: list[Entry] = []

            async def read() -> None:
                while True:
                    seen.extend(await soon(reader.next()))

            with pytest.raises(Fenced, match=r"took this session over|was taken over"):
                await read()
        failed = only([entry.event for entry in seen], ev.TurnFailed)
        assert [event.code for event in failed] == ["fenced"]
        again = await soon(hub.session("s"))
        assert again is not session
        assert only([entry.event async for entry in again.replay()], ev.TurnFailed)[0].code == "interrupted"


class Names:
    """Encodes an entry as the name of its event."""

    def feed(self, item: Entry, /) -> list[str]:
        return [type(item.event).__name__]

    def close(self) -> list[str]:
        return []


async def test_a_window_on_a_closed_session_shows_what_is_stored_and_always_ends() -> None:
    async with hub_for() as hub:
        session = await hub.create("s")
        events = await collect(session, "hello")
        await session.close()
        turn_id = events[0].turn_id or ""
        window = Window(session, Names(), turn_id=turn_id, run_id="r", front_end="test")
        shown = [name async for _, names in window for name in names]
        assert shown[-1] == "TurnFinished"
        missing = Window(session, Names(), turn_id="never stored", run_id="r", front_end="test")
        with pytest.raises(SessionClosed):
            await soon(anext(aiter(missing)))


@pytest.mark.parametrize("jump", [60.0, -3600.0])
async def test_a_clock_that_jumps_neither_takes_nor_locks_a_session(jump: float, tmp_path: Path) -> None:
    jumped = 0.0
    ours = SqliteJournal(tmp_path / "j.db", clock=lambda: time.time() + jumped)
    theirs = SqliteJournal(tmp_path / "j.db", clock=lambda: time.time() + jump)
    await ours.open()
    await theirs.open()
    async with hub_for(busy, journal=ours) as hub, hub_for(busy, journal=theirs) as other:
        session = await hub.create("s")
        await session.prompt("go")
        jumped = jump
        seen = await other.session("s")
        with pytest.raises(SessionBusy, match="a turn is running"):
            await soon(seen.prompt("mine now"))
        assert not seen.is_owner
        assert session.turn is not None
        await session.cancel()
        lease = session.event_stream.lease
        assert isinstance(lease, Lease)
        await session.close()
        # The owner is gone: whatever its clock shows, the next one does not wait for an hour.
        assert text_of(await collect(seen, "quick")) == "working"
    await ours.close()
    await theirs.close()


async def test_two_claims_at_once_are_one() -> None:
    async with hub_for(echo) as hub:
        session = await hub.create("s")
        assert await asyncio.gather(session.own(), session.own()) == [True, True]
        assert session.event_stream.fence == 1


class SlowToOpen(FunctionAgent):
    """Takes its time to get ready for a session."""

    def __init__(self) -> None:
        super().__init__(echo, AgentCard(name="slow"))
        self.asked = asyncio.Event()
        self.may_open = asyncio.Event()

    async def open_session(self, session: SessionView) -> None:
        self.asked.set()
        await self.may_open.wait()


async def test_a_prompt_whose_session_is_taken_over_while_its_agent_gets_ready_is_refused() -> None:
    journal, agent = MemoryJournal(), SlowToOpen()
    await journal.open()
    async with (
        hub_for(agent, journal=journal, lease_ttl=LONG) as hub,
        hub_for(journal=journal, lease_ttl=LONG) as other,
    ):
        session = await hub.create("s")
        prompting = asyncio.create_task(session.prompt("hi"))
        await soon(agent.asked.wait())
        await give_away(session, other)
        await hub.lease_renewal.renew()
        agent.may_open.set()
        with pytest.raises(Fenced, match="send it again"):
            await soon(prompting)
        assert session.turn is None
        assert await soon(session.prompt("hi"))
        assert (await journal.get(session.key) or pytest.fail("it is gone")).last_seq
    await journal.close()


async def test_a_turn_that_ends_in_doubt_of_a_lost_lease_holds_up_no_other_lease(
    journal: MemoryJournal,
) -> None:
    may_end = asyncio.Event()

    async def ends_when_told(prompt: Prompt) -> AsyncIterator[str]:
        yield "working"
        await may_end.wait()

    async with (
        hub_for(ends_when_told, journal=journal, lease_ttl=LONG) as hub,
        hub_for(journal=journal, lease_ttl=LONG) as other,
    ):
        session = await hub.create("s")
        await session.prompt("go")
        async with session.follow() as reader:
            await give_away(session, other)
            stream, turn = session.event_stream, session.turn
            assert turn is not None
            stream.extend_lease(lease_clock() + 0.01)
            await until(lambda: not stream.held_lease.is_current)
            may_end.set()
            await soon(turn.finished.wait(), 5.0)
            await until(lambda: not hub.lease_renewal.is_renewing)
            seen = [entry.event for entry in await soon(reader.next())]
        assert only(seen, ev.TurnFinished) == []
        assert [event.code for event in only(seen, ev.TurnFailed)] == ["fenced"]


async def test_a_session_that_is_closed_in_doubt_of_a_lost_lease_ends_at_once(journal: MemoryJournal) -> None:
    async with (
        hub_for(journal=journal, lease_ttl=LONG) as hub,
        hub_for(journal=journal, lease_ttl=LONG) as other,
    ):
        session = await hub.create("s")
        await collect(session, "mine")
        await give_away(session, other)
        session.emit(ev.Notice(title="not stored"))
        doubt(session)
        with pytest.raises(Fenced):
            await soon(session.close(), 5.0)
        assert session.released.is_set()


# -- handing over ------------------------------------------------------------------------------------


class Remembers:
    """An agent that notes how its sessions are opened and closed, and recalls what it was told since."""

    card = AgentCard(name="remembers")

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.told: list[str] = []
        self.stays = asyncio.Event()
        self.stays.set()

    async def open_session(self, session: SessionView) -> None:
        self.notes.append("open")

    async def close_session(self, session: SessionView) -> None:
        self.notes.append("close")
        await self.stays.wait()

    async def run(self, prompt: Prompt, ctx: Any) -> AsyncIterator[str]:
        self.told.append(prompt.text)
        yield "working"
        if prompt.text == "wait":
            await forever()


async def test_an_idle_owner_hands_the_session_over_and_goes_on_as_a_follower(tmp_path: Path) -> None:
    ours, others = SqliteJournal(tmp_path / "j.db"), SqliteJournal(tmp_path / "j.db")
    await ours.open()
    await others.open()
    first, second = Remembers(), Remembers()
    async with hub_for(first, journal=ours) as hub, hub_for(second, journal=others) as other:
        session = await hub.create("s")
        await collect(session, "one")
        theirs = await other.session("s")
        async with session.follow() as reader:
            await soon(theirs.ownership.take_over(5.0))
            assert (session.is_owner, theirs.is_owner) == (False, True)
            assert first.notes == ["open", "close"]
            await collect(theirs, "two")
            seen: list[Any] = []
            while not only(seen, ev.TurnFinished):
                seen += [entry.event for entry in await soon(reader.next())]
        await collect(session, "three")  # It is passed on to the new owner.
        assert (first.told, second.told) == (["one"], ["two", "three"])
        await theirs.close()
        await collect(session, "four")
        assert session.is_owner
        assert (first.told, first.notes) == (["one", "four"], ["open", "close", "open"])
        prompts = only([entry.event async for entry in session.replay()], ev.UserMessage)
        assert [event.content[0].text for event in prompts] == ["one", "two", "three", "four"]  # type: ignore[union-attr]
    await ours.close()
    await others.close()


async def test_a_busy_owner_keeps_the_session_and_hands_it_over_once_its_turn_is_over(
    journal: MemoryJournal,
) -> None:
    async with hub_for(busy, journal=journal) as hub, hub_for(busy, journal=journal) as other:
        session = await hub.create("s")
        await session.prompt("wait")
        theirs = await other.session("s")
        with pytest.raises(SessionBusy, match="is busy with it"):
            await theirs.ownership.take_over(0.3)
        assert session.is_owner
        assert not await journal.commands(session.key), "the journal shows the turn: nobody need be asked"
        taking = asyncio.create_task(theirs.ownership.take_over(10.0))
        await session.cancel()
        await soon(taking)
        assert theirs.is_owner


async def test_an_owner_keeps_the_session_while_a_command_is_carried_out(journal: MemoryJournal) -> None:
    class SlowToSet(Remembers):
        card = AgentCard(name="slow", options=(ConfigOption(option_id="loud", name="Loud", value=False),))

        async def set_config(
            self, session: SessionView, options: tuple[ConfigOption, ...]
        ) -> tuple[ConfigOption, ...]:
            await self.stays.wait()
            return options

    agent = SlowToSet()
    async with hub_for(agent, journal=journal) as hub, hub_for(agent, journal=journal) as other:
        session = await hub.create("s")
        assert await session.own()
        agent.stays.clear()
        setting = asyncio.create_task(session.set_config("loud", True))
        await until(lambda: not session.can_hand_over)
        theirs = await other.session("s")
        with pytest.raises(SessionBusy):
            await theirs.ownership.take_over(0.2)
        agent.stays.set()
        await soon(setting)
        await soon(theirs.ownership.take_over(5.0))


async def test_an_agent_that_does_not_close_in_time_holds_no_hand_over_up(journal: MemoryJournal) -> None:
    agent = Remembers()
    async with hub_for(agent, journal=journal) as hub, hub_for(journal=journal) as other:
        session = await hub.create("s")
        await collect(session, "one")
        agent.stays.clear()
        await soon((await other.session("s")).ownership.take_over(5.0))
        assert not session.is_owner


async def test_an_owner_that_does_not_answer_keeps_the_session(journal: MemoryJournal) -> None:
    """As one of an earlier version does, which knows no hand-over."""
    await journal.create(SessionInfo(principal="local", session_id="s"))
    assert isinstance(await journal.claim(SessionKey("local", "s"), "elsewhere/1/hub", LONG), Lease)
    async with hub_for(journal=journal) as hub:
        session = await hub.session("s")
        for _ in range(3):
            with pytest.raises(SessionBusy, match="did not answer"):
                await session.ownership.take_over(0.2)
        assert len(await journal.commands(session.key)) == 1, "what nobody answers does not pile up"


async def test_a_hand_over_to_nobody_changes_nothing(journal: MemoryJournal) -> None:
    async with hub_for(journal=journal) as hub:
        session = await hub.create("s")
        await collect(session, "one")
        told: list[str] = []

        async def tell() -> None:
            told.append("told")

        for to in (hub.owner, owner_of_a_dead_process()):
            await session.ownership.hand_over(to, tell)
        assert await session.submit(HandOver(to=hub.owner)) == {}
        assert (session.is_owner, told) == (True, ["told", "told"])
