"""A turn: one prompt on its way through an agent, in a task of its own.

The task is cancelled once and awaited shielded: frameworks leak when they are cancelled again and
again. Whatever happens, the turn ends with exactly one terminal. A task that ignores its
cancellation is detached after a while; events that it emits after that are dropped.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from trunkline import events as ev
from trunkline.agents.interface import Sayable
from trunkline.commands import Prompt
from trunkline.content import Block
from trunkline.conversation import Conversation
from trunkline.error_redaction import marks_of
from trunkline.errors import (
    AuthenticationRequired,
    JournalError,
    SessionBusy,
    TrunklineError,
    TurnCancelled,
)
from trunkline.folding import fold
from trunkline.grammar.event_check import check_event, is_plain_text, well_formed
from trunkline.session.context import CURRENT, TurnContext
from trunkline.session.handles import wait_in_loop
from trunkline.session.permissions import Permissions
from trunkline.session.turns.agent_events import TurnSession, apply_to_session
from trunkline.session.turns.base_turn import BaseTurn, with_well_formed_text
from trunkline.session.turns.suspension import Suspension
from trunkline.session.view import Run

T = TypeVar("T")

log = logging.getLogger("trunkline.agent")

# An agent that never waits must give up the loop now and then: else no reader could read, no client could
# cancel, and nothing would be written. It may emit one event before it does so, then twice as many each time,
# up to this, as long as the journal keeps up: large events never run far ahead of it, small ones cost little.
_MAX_BURST = 256
_EVENT_SIZE = 12  # As a power of two: this many bytes count as one event.

_TERMINALS = (ev.TurnFinished, ev.TurnFailed)


class Turn(BaseTurn):
    """Runs an agent for one prompt and emits its events."""

    def __init__(
        self,
        session: TurnSession,
        turn_id: str,
        prompt: Prompt,
        prefix: str | None = None,
        run: Run | None = None,
    ) -> None:
        """Prepare; ``start`` begins. Ids made in this turn begin with ``prefix``.

        ``run`` is for a turn that the agent began without a prompt, in place of ``agent.run``.
        """
        super().__init__(turn_id, session.agent_name, session.questions, session.event_stream.emit)
        self.prefix = prefix or turn_id
        self.prompt = prompt
        self.loop = asyncio.get_running_loop()
        self.finished = asyncio.Event()
        """Set once the terminal is stored."""
        self.ctx = TurnContext(self, prompt, session.view)
        self._own_run = run
        self._session = session
        self._stream = session.event_stream
        self._questions = session.questions.open
        self._thread = threading.get_ident()
        self._task: asyncio.Task[None] | None = None
        self._begun = False
        self._ending = False
        self._cancelled_by: str | None = None
        self._awaited: dict[str, str] | None = None
        self._answers: dict[str, ev.Answered] = {}
        self._weight = 0
        """How many bytes the last event had."""
        self._steering: asyncio.Task[None] | None = None
        self._suspension = Suspension(
            turn_id, self._questions, self._stream.emit, session.settings.suspend_after
        )
        self._detach_timer: asyncio.TimerHandle | None = None

    @property
    def waits_for_answers(self) -> bool:
        """Whether the turn waits for answers to questions of an earlier process."""
        return self._awaited is not None and not self.is_ending

    @property
    def is_ending(self) -> bool:
        """Whether the turn is about to end: it was cancelled, or its terminal is being stored."""
        return self._cancelled_by is not None or not self._live

    @property
    def is_current_task(self) -> bool:
        """Whether the caller is the agent's task itself, and not one that the agent started beside it."""
        return self._task is not None and asyncio.current_task() is self._task

    def start(self, answers: Mapping[str, ev.Answered] | None = None) -> None:
        """Begin to work; with answers, go on with a turn of an earlier process."""
        self._task = asyncio.create_task(self._run(answers), name=f"trunkline {self.turn_id}")

    def wait_for_answers(self, questions: Sequence[ev.Asked]) -> None:
        """Wait for the answers to questions of an earlier process; no task runs meanwhile."""
        self._awaited = {asked.question_id: asked.durable_key or "" for asked in questions}
        self.suspend()

    def cancel(self, by: str | None, reason: str = "the turn was cancelled") -> None:
        """Cancel the agent's task; the turn ends as cancelled soon, whatever the agent does."""
        if not self._live or self._cancelled_by is not None:
            return
        self._cancelled_by = by or "trunkline"
        self._session.questions.withdraw_all("cancelled", reason)
        if self._task is not None and not self._ending:
            self._task.cancel()
        if not self._begun:
            # There is no task, or it would never know: one cancelled before its first step runs nothing.
            self._finish_soon(ev.TurnFinished(turn_id=self.turn_id, stop_reason="cancelled"))
            return
        self._detach_timer = self.loop.call_later(self._session.settings.detach_after, self._detach_task)

    def detach(self) -> None:
        """Stop without an event: the session is not this process's any more."""
        self._live = False
        self._clear_timers()
        for task in (self._task, self._steering):
            if task is not None:
                task.cancel()
        self.finished.set()

    # -- messages that join the turn ---------------------------------------------------------------

    async def steer(self, prompt: Prompt, join: Callable[[], object]) -> None:
        """Offer the agent a message; ``join`` is called in the step in which it is known that it took it."""
        if self._begun and not self._ending and not self.is_ending:
            self._steering = asyncio.create_task(self._steer(prompt, join))
            try:
                await self._steering
            except asyncio.CancelledError:
                current = asyncio.current_task()
                if current is not None and current.cancelling():
                    raise
                raise undecided("before the turn ended") from None

    async def _steer(self, prompt: Prompt, join: Callable[[], object]) -> None:
        if await self._session.hooks.steer(prompt) and self._live:
            join()
            self.ctx.end_message()

    async def steered(self) -> list[Prompt]:
        """Let the agent take the messages that wait for this turn."""
        taken = [] if self.is_ending else self._session.steering.take(self)
        if taken:
            # What the agent does with them must not happen without a record of them.
            await self._stream.durable()
        return taken

    async def _settle_steering(self) -> None:
        """Wait until the agent has said whether it took a message: it is in this turn, or in the next."""
        self._ending = True
        if self._steering is not None:
            await asyncio.wait({self._steering}, timeout=self._session.settings.finish_grace)

    # -- what the agent emits ----------------------------------------------------------------------

    def emit(self, item: Any) -> None:
        """Emit an item from any thread; one that is no event raises here, in the agent's code."""
        if threading.get_ident() == self._thread:
            self._emit_item(item)
        elif isinstance(item, str | ev.Event | Block):
            self.loop.call_soon_threadsafe(self._emit_item, item)
        else:
            self._event_of(item)  # Raises, here and not in the loop.

    def emit_text(self, text: str, message_id: str) -> None:
        """Emit a piece of a message that the agent named, from any thread."""
        if threading.get_ident() != self._thread:
            self.loop.call_soon_threadsafe(self.emit_text, text, message_id)
        elif self._live:
            self._emit_text(text, message_id)

    def record(self, decided: ev.Decided) -> None:
        """Store a decision about a permission, from whatever thread it comes."""
        if threading.get_ident() != self._thread:
            self.loop.call_soon_threadsafe(self.record, decided)
        elif self._live:
            self._stream.emit(decided)

    def _emit_item(self, item: Any) -> None:
        if not self._live:
            return
        if type(item) is str:
            self._emit_text(item)
        else:
            event = self._event_of(item)
            self._emit_event(event if event.turn_id == self.turn_id else self._stamp(event))

    def _checked(self, event: ev.Event) -> ev.Event:
        event, self._weight = check_event(
            event, self._session.agent_name, foreign_words=self._session.agent.card.foreign_words
        )
        return event

    def _stamp(self, event: ev.Event) -> ev.Event:
        if event.turn_id is None:
            return msgspec.structs.replace(event, turn_id=self.turn_id)
        return event

    def _emit_text(self, text: str, message_id: str | None = None) -> None:
        """Emit plain text by the shortest way: nearly every event is one."""
        if not text.isascii():
            text = well_formed(text)
        if self._held:
            self._release_held()
        self._stream.emit_text(self.turn_id, message_id or self.ctx.message_id, text)
        if self._questions:
            self._suspension.suspend_when_quiet()

    def _emit_event(self, event: ev.Event) -> None:
        self._release_held_before(event)
        if is_plain_text(event):
            event = with_well_formed_text(event)
            self._weight = len(event.delta)
            self._stream.emit(event)
        elif apply_to_session(
            event := self._checked(event), self._session, agent_began=self._own_run is not None
        ):
            self._stream.emit(event)
        if self._questions:
            self._suspension.suspend_when_quiet()

    @property
    def lagging(self) -> bool:
        """Whether the journal is far behind."""
        return self._stream.lagging

    async def ready(self) -> None:
        """Let others run, and wait for a journal that is far behind."""
        if self._stream.lagging:
            await self._stream.ready()

    # -- what the agent asks -----------------------------------------------------------------------

    async def ask(self, asked: ev.Asked, expires_in: float | None) -> ev.Answered:
        """Put a question to the session's followers; none is put once the turn is cancelled."""
        session = self._session
        if self._cancelled_by is not None:
            raise TurnCancelled("the turn was cancelled")
        ttl = session.settings.question_ttl if expires_in is None else expires_in
        future = session.ask(asked, ttl)
        self._suspension.suspend_when_quiet()
        try:
            await self._stream.durable()
            answered = await future
        except asyncio.CancelledError:
            if self._live:  # Not the turn was cancelled, but what asked in it.
                session.questions.withdraw_one(asked.question_id, "the question was withdrawn")
            raise
        # What the agent does with the answer must not happen without a record of it.
        await self._stream.durable()
        return answered

    async def durable(self) -> None:
        """Wait until every event so far is stored; after the end of the turn nothing is stored."""
        if not self._live:
            raise TurnCancelled("the turn is over: what is done now would not be stored")
        await self._stream.durable()

    @property
    def permissions(self) -> Permissions:
        """The policy and the earlier answers of the session."""
        return self._session.permissions

    def suspend(self) -> None:
        """Emit that the turn waits for its questions."""
        self._suspension.suspend()

    def resume(self, answers: Sequence[ev.Answered]) -> None:
        """Go on after answers; a turn of an earlier process starts once it has all of them."""
        if not self._live:
            return
        self._stream.emit(ev.TurnResumed(turn_id=self.turn_id))
        still_open = bool(self._questions)
        if self._awaited is not None:
            for answered in answers:
                self._answers[self._awaited[answered.question_id]] = answered
            if not still_open:
                self._awaited = None
                self.start(self._answers)
        if still_open:
            self._suspension.suspend_when_quiet()

    async def history(self) -> Conversation:
        """The conversation before this turn."""
        return await self._session.history(before_turn=self.turn_id)

    async def turn_so_far(self) -> Conversation:
        """The conversation of this turn so far, also in an earlier process."""
        start = self._session.turn_start(self.turn_id) or 1
        entries = self._session.replay(start)
        return fold([entry.event async for entry in entries if entry.event.turn_id == self.turn_id])

    def wait(self, awaitable: Awaitable[T]) -> T:
        """Wait for something from a plain function; raises TurnCancelled once the turn is over."""
        return wait_in_loop(awaitable, self.loop, self.finished)

    # -- the task ----------------------------------------------------------------------------------

    async def _run(self, answers: Mapping[str, ev.Answered] | None) -> None:
        self._begun = True
        CURRENT.set(self.ctx)
        try:
            terminal = await self._drive(answers)
        except asyncio.CancelledError:
            if self._cancelled_by is None:
                terminal = self._failure("agent_failed", "the agent cancelled its own task")
            else:
                terminal = ev.TurnFinished(turn_id=self.turn_id, stop_reason="cancelled")
        except JournalError as error:
            self._session.fail(error)
            return
        except TrunklineError as error:
            if isinstance(error, AuthenticationRequired):
                error = error.advise(self._session.hooks.target)
            terminal = ev.TurnFailed(
                turn_id=self.turn_id, code=error.code, message=str(error), fault=error.fault
            )
        except GeneratorExit as error:
            # Nothing can be awaited here: this coroutine is being closed.
            if self._live and self.loop.is_running():
                self._finish_soon(self._failure("agent_failed", _describe(error), marks_of(error)))
            return
        except BaseException as error:
            # Also an exit or a Ctrl-C of the agent's own making: it ends its turn, not the process.
            extra = {"failed_turn": self.turn_id}
            log.exception("%s failed in turn %s", self._session.agent_name, self.turn_id, extra=extra)
            terminal = self._failure("agent_failed", _describe(error), marks_of(error))
        await self._settle_steering()
        if self._live and self._cancelled_by is not None:
            terminal = ev.TurnFinished(turn_id=self.turn_id, stop_reason="cancelled")
        await self._finish(terminal)

    async def _drive(self, answers: Mapping[str, ev.Answered] | None) -> Any:
        if answers is None:
            own_run = self._own_run
            run = self._session.agent.run
            stream = run(self.prompt, self.ctx) if own_run is None else own_run(self.ctx)
        else:
            stream = await self._session.hooks.resume(answers, self.ctx)
        try:
            terminal = await self._pull(stream)
        except BaseException:
            await self._close_stream(stream)
            raise
        if terminal is not None:
            await self._drain(stream)
            return terminal
        return ev.TurnFinished(turn_id=self.turn_id)

    async def _pull(self, stream: AsyncIterator[Sayable]) -> Any:
        budget = burst = 1
        emit_text, events = self._emit_text, self._stream
        async for item in stream:
            if not self._live:
                # It ignored its cancellation and was detached: here it ends.
                raise asyncio.CancelledError
            if type(item) is str:
                emit_text(item)
                budget -= 1
            elif isinstance(item, _TERMINALS):
                return self._checked(self._stamp(item))
            else:
                self._emit_item(item)
                budget -= 1 + (self._weight >> _EVENT_SIZE)
                if _starts_work(item):
                    # What the agent does when it goes on must not happen without a record of it.
                    await events.durable()
            if budget <= 0:
                await asyncio.sleep(0)
                burst = min(2 * burst, _MAX_BURST)
                if events.lagging:
                    burst = 1
                    await events.ready()
                budget = burst
        return None

    async def _drain(self, stream: AsyncIterator[Sayable]) -> None:
        """Let an agent stop after its own terminal; more events are a broken rule."""
        self._ending = True
        try:
            async with asyncio.timeout(self._session.settings.finish_grace):
                async for item in stream:
                    for notice in self._stream.grammar.report("after-end", type(item).__name__):
                        self._stream.emit(notice)
        except Exception:
            log.exception("%s failed after it had finished its turn", self._session.agent_name)
        await self._close_stream(stream)

    async def _close_stream(self, stream: AsyncIterator[Sayable]) -> None:
        close = getattr(stream, "aclose", None)
        if close is None:
            return
        try:
            async with asyncio.timeout(self._session.settings.finish_grace):
                await close()
        except Exception:
            log.exception("%s failed while its stream was closed", self._session.agent_name)

    # -- the end -----------------------------------------------------------------------------------

    def _failure(self, code: str, message: str, meta: dict[str, Any] | None = None) -> ev.TurnFailed:
        return ev.TurnFailed(turn_id=self.turn_id, code=code, message=message, meta=meta)

    def _detach_task(self) -> None:
        """Give up on an agent that ignores its cancellation."""
        log.error(
            "%s ignored its cancellation for %s s; its task was detached",
            self._session.agent_name,
            self._session.settings.detach_after,
        )
        self._finish_soon(ev.TurnFinished(turn_id=self.turn_id, stop_reason="cancelled"))

    def _finish_soon(self, terminal: ev.TurnFinished | ev.TurnFailed) -> None:
        self._session.tasks.spawn(self._finish(terminal))

    async def _finish(self, terminal: ev.TurnFinished | ev.TurnFailed) -> None:
        if not self._end(terminal):
            return
        if self._steering is not None:
            self._steering.cancel()
        self._clear_timers()
        try:
            await asyncio.shield(self._stream.durable())
        except JournalError as error:
            self._session.fail(error)
        finally:
            self.finished.set()
            self._session.turn_finished(self)

    def _clear_timers(self) -> None:
        self._suspension.close()
        if self._detach_timer is not None:
            self._detach_timer.cancel()


def _starts_work(item: object) -> bool:
    """Whether an agent that goes on after this event may run a tool."""
    return isinstance(item, ev.ToolCall) or (isinstance(item, ev.ToolUpdate) and item.status == "in_progress")


def undecided(when: str) -> SessionBusy:
    """The error for a message that the agent may have taken, or not."""
    return SessionBusy(
        f"the agent did not say {when} whether it took the message: "
        "look at its answer before you send it again"
    )


def _describe(error: BaseException) -> str:
    """Describe an error; one whose text cannot be made gets the name of its type."""
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__
    # What a new agent often does is to take the prompt for its text.
    used_as_text = isinstance(error, AttributeError | TypeError) and re.search(r"""["']Prompt["']""", text)
    return f"{text}; the text of a prompt is prompt.text" if used_as_text else text
