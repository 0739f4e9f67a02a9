"""Remote commands: posted by one process, carried out by the owner, answered through the journal."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest
from tests.hubs import soon

from trunkline.commands import Cancel, Command, HandOver, SetConfig
from trunkline.errors import AlreadyAnswered, JournalError, SessionBusy, TrunklineError
from trunkline.journal import Disposition, Lease, SessionInfo, SessionKey
from trunkline.journal.memory import MemoryJournal
from trunkline.session.remote_commands import RemoteCommands, error_of
from trunkline.session.settings import Settings

KEY = SessionKey("local", "s")


class Process:
    """One process with a session, as its remote commands see it."""

    def __init__(self, journal: MemoryJournal, *, may_run: bool = True, timeout: float = 5.0) -> None:
        self.lease: Lease | None = None
        self.done: list[Command] = []
        self.error: Exception | None = None
        self.handed_to: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.changed = asyncio.Event()
        self.remote = RemoteCommands(
            journal,
            SessionInfo(principal="local", session_id="s", target="app.py:agent"),
            Settings(command_timeout=timeout),
            may_run=may_run,
            own=self.own,
            lease=lambda: self.lease,
            carry_out=self.carry_out,
            hand_over=self.hand_over,
            journal_changed=self.wait_for_change,
            spawn=self.spawn,
        )

    async def own(self) -> bool:
        return self.lease is not None

    async def carry_out(self, command: Command) -> dict[str, Any]:
        self.done.append(command)
        if self.error is not None:
            raise self.error
        return {"cancelled": True}

    async def hand_over(self, to: str, tell: Callable[[], Awaitable[None]]) -> None:
        if self.error is not None:
            raise self.error
        await tell()
        self.handed_to.append(to)
        self.lease = None

    async def wait_for_change(self, timeout: float) -> None:
        self.changed.set()
        await asyncio.sleep(0)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.tasks.append(asyncio.create_task(work))


async def two_processes(**fields: Any) -> tuple[Process, Process]:
    """The owner of a session, and another process."""
    journal = MemoryJournal()
    await journal.open()
    await journal.create(SessionInfo(principal="local", session_id="s"))
    owner, other = Process(journal), Process(journal, **fields)
    lease = await journal.claim(KEY, "owner", 60.0)
    assert isinstance(lease, Lease)
    owner.lease = lease
    return owner, other


async def test_the_owner_carries_a_posted_command_out_and_its_result_comes_back() -> None:
    owner, other = await two_processes()
    waiting = asyncio.create_task(other.remote.delegate(Cancel(turn_id="t")))
    await soon(other.changed.wait())
    owner.remote.carry_out_soon()
    assert await soon(waiting) == {"cancelled": True}
    assert [type(command) for command in owner.done] == [Cancel]
    assert owner.done[0].key, "the next owner would know it again"


async def test_an_error_of_the_owner_is_raised_where_the_command_was_posted() -> None:
    owner, other = await two_processes()
    owner.error = AlreadyAnswered("q1", "ada")
    waiting = asyncio.create_task(other.remote.delegate(Cancel()))
    await soon(other.changed.wait())
    await owner.remote.carry_out_posted()
    with pytest.raises(AlreadyAnswered, match="ada"):
        await soon(waiting)


async def test_a_command_stays_posted_when_the_owners_journal_fails() -> None:
    owner, other = await two_processes(timeout=0.05)
    owner.error = JournalError("the disk is full")
    waiting = asyncio.create_task(other.remote.delegate(Cancel()))
    await soon(other.changed.wait())
    with pytest.raises(JournalError):
        await owner.remote.carry_out_posted()
    owner.error = None
    await owner.remote.carry_out_posted()
    assert await soon(waiting) == {"cancelled": True}
    assert len(owner.done) == 2


async def test_a_hand_over_is_settled_and_ends_what_is_carried_out_here() -> None:
    owner, other = await two_processes()
    waiting = [
        asyncio.create_task(other.remote.delegate(command)) for command in (HandOver(to="other"), Cancel())
    ]
    await soon(other.changed.wait())
    await owner.remote.carry_out_posted()
    assert await soon(waiting[0]) == {}
    assert (owner.handed_to, owner.done) == (["other"], [])
    waiting[1].cancel()


async def test_a_hand_over_that_is_refused_says_why() -> None:
    owner, other = await two_processes()
    owner.error = SessionBusy("a turn runs")
    waiting = asyncio.create_task(other.remote.delegate(HandOver(to="other")))
    await soon(other.changed.wait())
    await owner.remote.carry_out_posted()
    with pytest.raises(SessionBusy, match="a turn runs"):
        await soon(waiting)


async def test_a_poster_that_becomes_the_owner_carries_its_command_out_itself() -> None:
    owner, other = await two_processes()
    other.lease = owner.lease
    assert await soon(other.remote.delegate(Cancel())) == {"cancelled": True}
    assert other.done
    assert not owner.done


async def test_an_owner_that_does_not_answer_is_named_with_the_remedy() -> None:
    _, other = await two_processes(timeout=0.01)
    with pytest.raises(SessionBusy, match="does not answer; close it, or try again"):
        await soon(other.remote.delegate(Cancel()))


async def test_a_session_of_another_agent_without_an_owner_is_refused_before_anything_is_posted() -> None:
    journal = MemoryJournal()
    await journal.open()
    await journal.create(SessionInfo(principal="local", session_id="s"))
    process = Process(journal, may_run=False)
    with pytest.raises(SessionBusy, match=r"'app\.py:agent': start that first"):
        await soon(process.remote.delegate(SetConfig(option_id="mode", value="plan")))
    assert await journal.commands(KEY) == []


def test_an_unknown_error_code_becomes_a_plain_error() -> None:
    error = error_of(Disposition(accepted=False, code="from_the_future", message="no"))
    assert (type(error), str(error)) == (TrunklineError, "no")
