"""Events that concern a session and none of its turns: an agent may emit them at any time.

They are journalled and shown to every follower, with a turn or without one. Text and tool calls belong to a
turn: an agent that has some out of turn begins one (``SessionView.begin_turn``).
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from trunkline import events as ev
from trunkline.agents.interface import Agent
from trunkline.commands import Prompt
from trunkline.errors import AgentProtocolError, SessionBusy, SessionClosed, TrunklineError
from trunkline.grammar.event_check import check_event
from trunkline.session.ids import new_id
from trunkline.session.turns.turn import Turn
from trunkline.session.view import Run, SessionView

log = logging.getLogger("trunkline.session")

_OF_SESSION = (
    ev.ConfigChanged,
    ev.CommandsChanged,
    ev.InfoChanged,
    ev.ContextUsage,
    ev.Notice,
    ev.Custom,
    ev.Raw,
)


class OutOfTurnEvents:
    """Takes a session's events from its agent; those that come before the session is owned wait for that."""

    def __init__(
        self,
        view: SessionView,
        agent: Agent,
        *,
        emit: Callable[[ev.Event], bool],
        claim: Callable[[], Awaitable[bool]],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        """Serve one session; ``emit`` gives False as long as this process has not claimed it."""
        self._view = view
        self._agent = agent
        self._emit = emit
        self._claim = claim
        self._spawn = spawn
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._waiting: list[ev.Event] = []
        self._announced = (view.options, view.commands)

    def emit(self, event: ev.Event) -> None:
        """Emit an event of the session. Safe from any thread; an event of a turn is refused here."""
        if not isinstance(event, _OF_SESSION):
            raise AgentProtocolError(
                f"a {type(event).__name__} belongs to a turn: emit it with ctx.emit, "
                "or begin a turn with session.begin_turn"
            )
        card = self._agent.card
        event, _ = check_event(event, card.name, foreign_words=card.foreign_words)
        self._take_in_loop(event)

    def record(self, decided: ev.Decided) -> None:
        """Store a decision about an access outside of a turn. Safe from any thread."""
        self._take_in_loop(decided)

    def _take_in_loop(self, event: ev.Event) -> None:
        if threading.get_ident() == self._thread:
            self._take(event)
        else:
            self._loop.call_soon_threadsafe(self._take, event)

    def _take(self, event: ev.Event) -> None:
        if self._waiting or not self._write(event):
            self._waiting.append(event)
            if len(self._waiting) == 1:
                self._spawn(self.flush())

    def _write(self, event: ev.Event) -> bool:
        """Emit an event and apply it to the view; False, and nothing is done, without the session's lease."""
        if not self._emit(event):
            return False
        self._view.apply(event)
        options, commands = self._announced
        if isinstance(event, ev.ConfigChanged):
            options = event.options
        elif isinstance(event, ev.CommandsChanged):
            commands = event.commands
        self._announced = (options, commands)
        return True

    async def flush(self) -> None:
        """Write what waits; a process that does not own the session discards it: the owner's agent counts."""
        if not self._waiting:
            return
        try:
            owned = await self._claim()
        except SessionClosed:
            owned = (
                False  # Whoever closed it needs no news; a session that is opened again is told them anew.
            )
        except TrunklineError as error:
            log.warning("%d events out of turn were discarded: %s", len(self._waiting), error)
            owned = False
        waiting, self._waiting = self._waiting, []
        for event in waiting if owned else ():
            self._write(event)

    def begin_watch(self) -> None:
        """Remember the options and commands, so that ``announce`` emits what the agent changes after."""
        self._announced = (self._view.options, self._view.commands)

    async def announce(self) -> None:
        """Emit the options and commands that the agent set without an event."""
        options, commands = self._announced
        if self._view.options != options:
            self.emit(ev.ConfigChanged(options=self._view.options))
        if self._view.commands != commands:
            self.emit(ev.CommandsChanged(commands=self._view.commands))
        await self.flush()


class AgentTurnSession(Protocol):
    """What a turn without a prompt needs of its session before it begins."""

    turn: Turn | None

    def check_open(self) -> None:
        """Raise SessionClosed if the session is closed."""

    async def own(self) -> bool:
        """Become the owner, if no other process is."""
        ...

    async def wait_until_idle(self) -> None:
        """Wait until no turn runs."""

    async def wait_for_rewind(self) -> None:
        """Wait until no rewind is under way."""

    def emit(self, event: ev.Event) -> None:
        """Add an event to the session's stream."""

    def start_turn(self, turn_id: str, prompt: Prompt, run: Run | None = None) -> None:
        """Let the agent work on a turn that has begun."""


async def begin_agent_turn(session: AgentTurnSession, run: Run, wait: bool) -> str:
    """Begin a turn of the agent's own and give its id; it waits for a running turn, or is refused."""
    session.check_open()
    if inspect.iscoroutinefunction(run):
        raise AgentProtocolError(
            "begin_turn needs an async generator: let the function yield what it returns"
        )
    if not await session.own():
        raise SessionBusy("another process owns this session: only its agent can begin a turn")
    if session.turn is not None and session.turn.is_current_task:
        raise AgentProtocolError("a turn cannot wait for its own end: emit what there is in this turn")
    await session.wait_for_rewind()
    while session.turn is not None:
        if not wait:
            raise SessionBusy("a turn is running in this session: emit in it, or wait for its end")
        await session.wait_until_idle()
        await session.wait_for_rewind()
    session.check_open()
    turn_id = new_id("turn")
    session.emit(ev.TurnStarted(turn_id=turn_id, by="agent"))
    session.start_turn(turn_id, Prompt(), run)
    return turn_id
