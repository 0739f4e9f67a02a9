"""Where an agent's events go: into the running turn, to the session, or into a turn that the agent begins.

Agents send updates also after they answered a prompt. What concerns the session is emitted at once; text and
tools open a turn of the agent's own, which ends when nothing more comes.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Any

from trunkline import events as ev
from trunkline.agents.acp.requests.session_requests import AgentRequests
from trunkline.errors import SessionClosed, TrunklineError
from trunkline.protocols.acp.decoder import AcpDecoder, is_of_session
from trunkline.session.context import TurnContext
from trunkline.session.view import SessionView

log = logging.getLogger("trunkline.acp")

QUIET = 0.3
"""Seconds without an event after which a turn that the agent began is over."""
QUIET_IN_CALL = 10.0
"""The same while a call of it has not ended."""
LATE_LIMIT = 1000
"""Events out of turn that may wait for their turn before the agent has to wait."""
LATE_BYTES = 4 * 1024 * 1024
"""How long they may be together, as JSON."""
TURN_WITHIN = 10.0
AFTER_CANCEL = 1.0
"""Seconds in which what comes after a cancelled turn is taken for the rest of it, and discarded."""

_ASKING = ("session/request_permission", "elicitation/create")


class TurnEvents:
    """Emits the events of one session at an agent, and gives its requests the turn that they need."""

    def __init__(self, view: SessionView, decoder: AcpDecoder, requests: AgentRequests) -> None:
        self._view = view
        self._decoder = decoder
        self._requests = requests
        self._ctx: TurnContext | None = None
        self._loop = asyncio.get_running_loop()
        self.heard_at = self._loop.time()
        """When the agent last said something, or was answered."""
        self.has_said = False
        """Whether something was said in the turn of the last prompt."""
        self._late: deque[ev.AnyEvent] = deque()
        self._late_bytes = 0
        self._room = asyncio.Event()
        self._has_turn = asyncio.Event()
        self._over = asyncio.Event()
        self._is_own = False
        """Whether the turn that runs is one that the agent began."""
        self._beginning: asyncio.Task[None] | None = None
        self._open_requests = 0
        self._cancelled: asyncio.Future[Any] | None = None
        """The prompt whose turn is over, and to which the agent has not answered yet."""
        self._discard_until = 0.0

    # -- turns of prompts --------------------------------------------------------------------------

    def begin(self, ctx: TurnContext) -> None:
        """Emit into this turn from now on, beginning with what came out of turn before it."""
        if self._beginning is not None:
            self._beginning.cancel()
        late = [*self._late, *self._decoder.close()]
        self._clear_late()
        self._room.set()
        self._set_turn(ctx)
        self.has_said = False
        for event in late:
            if not isinstance(event, ev.UserMessage):
                ctx.emit(event)

    def end(self, stop_reason: str, *, prompt: asyncio.Future[Any]) -> None:
        """Settle what is open in the turn; what a prompt without an answer still brings is discarded."""
        for event in self._decoder.close(stop_reason):
            if self._ctx is not None:
                self._ctx.emit(event)
        self._ctx = None
        self._has_turn.clear()
        if stop_reason == "cancelled":
            self._discard_until = self._loop.time() + AFTER_CANCEL
        if prompt.done():
            _discard_error(prompt)
            self._requests.turn = None
        else:
            self._cancelled = prompt
            prompt.add_done_callback(self._settled)

    def _settled(self, prompt: asyncio.Future[Any]) -> None:
        _discard_error(prompt)
        if self._cancelled is prompt:
            self._cancelled = None
            self._discard_until = self._loop.time() + AFTER_CANCEL
            self._decoder.close("cancelled")
            if self._ctx is None:
                self._requests.turn = None

    def _set_turn(self, ctx: TurnContext) -> None:
        self._ctx = ctx
        self._cancelled = None
        self._requests.turn = ctx
        self.heard_at = self._loop.time()
        self._has_turn.set()

    # -- what the agent says -----------------------------------------------------------------------

    def take(self, events: Sequence[ev.AnyEvent]) -> Any:
        """Emit what the agent said; gives something to wait for when the agent should not say more now."""
        self.heard_at = self._loop.time()
        ctx = self._ctx
        if ctx is None:
            return self._take_out_of_turn(events)
        for event in events:
            if type(event) is ev.Text and event.lane is None and event.meta is None:
                self.has_said = True
                ctx.emit_text(event.delta, event.message_id)
            else:
                self.has_said = self.has_said or not is_of_session(event)
                ctx.emit(event)
        return ctx.ready() if ctx.lagging else None

    def _take_out_of_turn(self, events: Sequence[ev.AnyEvent]) -> Any:
        for event in events:
            if is_of_session(event):
                with suppress(SessionClosed):
                    self._view.emit(event)
            elif self._cancelled is None and self.heard_at >= self._discard_until:
                self._late.append(event)
                self._late_bytes += len(ev.encode_event(event))
        if not self._late:
            if events:
                self._decoder.close()  # What is discarded opens no turn.
            return None
        self._begin_turn_soon()
        if len(self._late) < LATE_LIMIT and self._late_bytes < LATE_BYTES:
            return None
        self._room.clear()
        return self._room.wait()

    def _clear_late(self) -> None:
        self._late.clear()
        self._late_bytes = 0

    # -- turns that the agent begins ---------------------------------------------------------------

    def _begin_turn_soon(self) -> None:
        if self._beginning is None:
            self._beginning = asyncio.create_task(self._begin_turn())

    async def _begin_turn(self) -> None:
        try:
            await self._view.begin_turn(self._run)
        except TrunklineError as error:
            log.warning("what the agent said out of turn is not shown: %s", error)
            self._clear_late()
            self._decoder.close()
        finally:
            self._beginning = None
            self._room.set()

    async def _run(self, ctx: TurnContext) -> AsyncIterator[ev.AnyEvent]:
        """Show what the agent says by itself, until it is quiet."""
        late = list(self._late)
        self._clear_late()
        self._over.clear()
        self._is_own = True
        self._set_turn(ctx)
        self._room.set()
        try:
            for event in late:
                ctx.emit(event)
            while (left := self._seconds_to_quiet()) > 0:
                with suppress(TimeoutError):
                    async with asyncio.timeout(left):
                        await self._over.wait()
            for event in self._decoder.close():
                ctx.emit(event)
        finally:
            self._ctx, self._is_own = None, False
            self._has_turn.clear()
            self._decoder.close("cancelled")
            self._requests.turn = None
        yield ev.TurnFinished()

    def _seconds_to_quiet(self) -> float:
        if self._over.is_set():
            return 0.0
        if self._open_requests:
            return QUIET
        quiet = QUIET_IN_CALL if self._decoder.has_open_calls else QUIET
        return self.heard_at + quiet - self._loop.time()

    # -- what the agent asks -----------------------------------------------------------------------

    async def handle(self, method: str, params: Any) -> Any:
        """Answer a request; a question out of turn gets a turn."""
        self._open_requests += 1
        self.has_said = True
        try:
            if self._ctx is None and self._cancelled is None and method in _ASKING:
                self._begin_turn_soon()
                with suppress(TimeoutError):
                    async with asyncio.timeout(TURN_WITHIN):
                        await self._has_turn.wait()
            return await self._requests.handle(method, params)
        finally:
            self._open_requests -= 1
            self.heard_at = self._loop.time()

    # -- how it is ---------------------------------------------------------------------------------

    @property
    def silent_for(self) -> float | None:
        """For how long the agent has said nothing; None while it waits for an answer of ours."""
        return None if self._open_requests else self._loop.time() - self.heard_at

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs, or something waits for one."""
        return self._ctx is not None or self._beginning is not None or bool(self._open_requests)

    def end_own_turn(self) -> bool:
        """End the turn that the agent began, if one runs: the agent has a prompt; whether one ran."""
        ran = self._is_own
        if ran or self._beginning is not None:
            self.close()
        return ran

    def close(self) -> None:
        """End the turn that the agent began: its process is gone, or the session is closed."""
        self._over.set()
        if self._beginning is not None:
            self._beginning.cancel()


def _discard_error(prompt: asyncio.Future[Any]) -> None:
    """Let nobody complain about the error of a prompt whose turn is over."""
    if not prompt.cancelled():
        prompt.exception()
