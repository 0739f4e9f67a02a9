"""Small worlds for tests: a hub on a journal, an agent in one line, and bounded waits."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import msgspec

from trunkline import events as ev
from trunkline.agents.function import FunctionAgent
from trunkline.agents.interface import Agent, AgentCard
from trunkline.commands import Prompt
from trunkline.cursor import Entry
from trunkline.errors import TrunklineError
from trunkline.journal import Journal, Record, SessionKey, open_journal
from trunkline.journal.memory import MemoryJournal
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.session.settings import Settings
from trunkline.workspace import Policy

T = TypeVar("T")
E = TypeVar("E", bound=ev.Event)
J = TypeVar("J", bound=Journal)

WAIT = 30.0
BRISK = Settings(
    suspend_after=0.02,
    detach_after=2.0,
    close_agent_after=0.5,
    finish_grace=0.2,
    lease_ttl=0.6,
    poll_busy=0.01,
    poll_idle=0.05,
)


class CountingJournal(MemoryJournal):
    """Counts the records that are read."""

    def __init__(self) -> None:
        super().__init__()
        self.read_records = 0

    async def read(self, key: SessionKey, after: int = 0, limit: int = 1000) -> list[Record]:
        found = await super().read(key, after, limit)
        self.read_records += len(found)
        return found


class Turnstile:
    """Lets three callers through one by one, and counts how many are inside at once."""

    def __init__(self) -> None:
        self.gates = [asyncio.Event() for _ in range(3)]
        self.came = 0
        self.inside = 0
        self.most = 0

    async def pass_through(self) -> None:
        """Wait inside until the gate of this caller is opened."""
        self.came, self.inside = self.came + 1, self.inside + 1
        self.most = max(self.most, self.inside)
        try:
            await self.gates[self.came - 1].wait()
        finally:
            self.inside -= 1

    async def let_three_pass(self, call: Callable[[], Awaitable[Any]]) -> int:
        """Let a third caller come while the second is inside, who had waited for the first one.

        Gives how many were inside at once.
        """

        async def one() -> None:
            with contextlib.suppress(TrunklineError):
                await call()

        first = asyncio.create_task(one())
        await until(lambda: self.came == 1)
        second = asyncio.create_task(one())
        await asyncio.sleep(0)
        self.gates[0].set()
        await until(lambda: self.came == 2)
        third = asyncio.create_task(one())
        for _ in range(100):
            await asyncio.sleep(0)
        for gate in self.gates:
            gate.set()
        await soon(asyncio.gather(first, second, third))
        return self.most


async def soon(awaitable: Awaitable[T], within: float = WAIT) -> T:
    """Wait, but never for ever."""
    async with asyncio.timeout(within):
        return await awaitable


async def until(condition: Callable[[], bool], within: float = WAIT) -> None:
    """Wait for a condition, tick by tick."""
    async with asyncio.timeout(within):
        while not condition():
            await asyncio.sleep(0.001)


def make(function: Callable[..., Any], **card: Any) -> Agent:
    """Make an agent of a function for a test."""
    return FunctionAgent(function, AgentCard(name=card.pop("name", "tester"), **card))


async def echo(prompt: Prompt) -> AsyncIterator[str]:
    """Say the prompt back, word by word."""
    for word in prompt.text.split():
        yield word + " "


@asynccontextmanager
async def opened(journal: J) -> AsyncGenerator[J]:
    """A journal that is open."""
    await journal.open()
    try:
        yield journal
    finally:
        await journal.close()


@asynccontextmanager
async def hub_for(
    agent: Agent | Callable[..., Any] = echo,
    *,
    journal: Journal | None = None,
    settings: Settings = BRISK,
    policy: Policy | None = None,
    target: str = "",
    **changes: Any,
) -> AsyncGenerator[Hub]:
    """A hub with an agent, on a journal of its own unless one is given."""
    own = journal is None
    journal = journal or await open_journal("memory:")
    chosen = agent if isinstance(agent, Agent) else make(agent)
    settings = msgspec.structs.replace(settings, **changes)
    try:
        async with Hub(chosen, journal, settings=settings, policy=policy, target=target) as hub:
            yield hub
    finally:
        if own:
            await journal.close()


@asynccontextmanager
async def session_for(
    agent: Agent | Callable[..., Any] = echo,
    *,
    session_id: str | None = None,
    cwd: str | None = None,
    **options: Any,
) -> AsyncGenerator[Session]:
    """A new session on a hub of its own."""
    async with hub_for(agent, **options) as hub:
        yield await hub.create(session_id, cwd=cwd)


@asynccontextmanager
async def reopened(
    session_id: str, agent: Agent | Callable[..., Any] = echo, **options: Any
) -> AsyncGenerator[Session]:
    """A session that an earlier hub left in a journal, or an agent remembers, on a hub of its own."""
    async with hub_for(agent, **options) as hub:
        yield await hub.session(session_id)


async def run_turn(
    agent: Agent | Callable[..., Any], prompt: Prompt | str = "go", **options: Any
) -> list[ev.Event]:
    """All events of one turn in a new session, on a hub of its own."""
    async with session_for(agent, **options) as session:
        return await collect(session, prompt)


async def collect(
    session: Session,
    prompt: Prompt | str,
    answers: Mapping[type[ev.Event], Callable[[Any], Awaitable[Any]]] | None = None,
    within: float = WAIT,
) -> list[ev.Event]:
    """Send a prompt, react to events as told, and give all events of the turn."""
    output: list[ev.Event] = []

    async def run() -> None:
        async for event in session.stream(prompt):
            output.append(event)
            react = (answers or {}).get(type(event))
            if react is not None:
                await react(event)

    await soon(run(), within)
    return output


async def events_of(session: Session) -> list[ev.AnyEvent]:
    """Everything a session said so far."""
    return [entry.event async for entry in session.replay()]


async def entries_of(session: Session) -> list[Entry]:
    """Everything a session said so far, with places."""
    return [entry async for entry in session.replay()]


def only(events: list[Any], kind: type[E]) -> list[E]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def text_of(events: list[Any]) -> str:
    """All text said."""
    return "".join(event.delta for event in only(events, ev.Text))


async def forever() -> None:
    """Wait until cancelled."""
    await asyncio.Event().wait()
