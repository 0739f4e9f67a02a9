"""Hosted turns: turns that the caller's own task or thread drives, in a program without a hub.

``agent.ainvoke(...)`` in the user's own program runs where it is called. Its turn uses the parts of a
session: the grammar, the open questions, the permissions, the view and the turn context. There is no
journal, because nothing else can follow such a session, and no event loop is needed: events are shown as
they come, from any thread. (With a journal in memory, a stream and a window a turn of ten events takes
0.45 ms instead of 0.04 ms.)
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, TypeVar, cast

import msgspec

from trunkline import events as ev
from trunkline.commands import Answer, Prompt
from trunkline.conversation import Conversation
from trunkline.errors import TurnCancelled
from trunkline.grammar import Grammar
from trunkline.grammar.event_check import is_plain_text, with_well_formed_texts
from trunkline.session.context import TurnContext
from trunkline.session.handles import check_plain, discard
from trunkline.session.hosted.frontends import HostedFrontEnd, HostedOutput, RunInfo
from trunkline.session.permissions import Permissions
from trunkline.session.questions import OpenQuestions
from trunkline.session.turns.base_turn import BaseTurn, with_well_formed_text
from trunkline.session.view import SessionView
from trunkline.transports.event_loops import background_loop, wait_in_thread

log = logging.getLogger("trunkline.session")

T = TypeVar("T")

_QUESTION_TTL = 3600.0  # seconds a person has for an answer
_LOOP_REPLY_WITHIN = 5.0  # seconds an event loop has to show that it is not blocked


class HostedView(SessionView):
    """A hosted session as its agent sees it."""

    @property
    def thread_id(self) -> str:
        """The session's name as the caller gave it: nothing else shares the graph's threads."""
        return self.session_id


class HostedSession:
    """What outlives the turns of one conversation in the user's own program."""

    def __init__(self, front_end: HostedFrontEnd, name: str) -> None:
        """Begin with nothing; ``name`` is the thread of the graph."""
        self.front_end = front_end
        self.view = HostedView(session_id=name)
        self.permissions = Permissions(None, self.view)
        self.busy = False
        """Whether a caller runs the agent in this session, and ends the turn itself."""
        self.closing: asyncio.Event | None = None
        """Set once the run has ended whose caller left its stream."""
        self._idle: tuple[Grammar, HostedOutput] | None = None
        self._turns = 0

    def start(self, run: RunInfo) -> HostedTurn:
        """Begin a turn; a second one at the same time has a grammar and an output of its own."""
        idle, self._idle = self._idle, None
        grammar, last = idle or (Grammar(), None)
        self._turns += 1
        turn_id = run.turn_id or f"turn-{self._turns}"
        turn = HostedTurn(self, turn_id, grammar, self.front_end.open(run, last))
        turn.begin(run)
        turn.emit(ev.TurnStarted(turn_id=turn_id, run_id=run.run_id))
        return turn

    def turn_ended(self, grammar: Grammar, output: HostedOutput) -> None:
        """Keep for the next turn what an ended one used."""
        self._idle = (grammar, output)


class HostedTurn(BaseTurn):
    """One turn that the caller drives, through every run that resumes it."""

    def __init__(self, session: HostedSession, turn_id: str, grammar: Grammar, output: HostedOutput) -> None:
        """Made by the session."""
        super().__init__(turn_id, "the agent", OpenQuestions(self._show), self._show)
        self.session = session
        self.prefix = turn_id
        self.output = output
        self.lock = threading.RLock()
        """Held while something is shown, and while the turn ends."""
        self._grammar = grammar
        self.transport: Any = None
        """Where the run is shown that goes on now, or that was the last."""
        self.ctx = TurnContext(self, Prompt(), session.view)

    def begin(self, run: RunInfo) -> None:
        """Begin a run: the first, or one that resumes the turn."""
        self.transport = run.transport
        self.output.begin(run)
        self.ctx.prompt = Prompt(tools=self.output.client_tools, run_id=run.run_id)

    # -- what the agent emits ----------------------------------------------------------------------

    @property
    def lagging(self) -> bool:
        """Nothing is written, so nothing lags."""
        return False

    @property
    def permissions(self) -> Permissions:
        """What is known of a call before a person is asked."""
        return self.session.permissions

    @property
    def questions(self) -> Mapping[str, ev.Asked]:
        """The open questions, as the client was asked them."""
        return self._grammar.questions

    def emit(self, item: Any) -> None:
        """Show an item, from any thread; one that is no event raises here, in the agent's code."""
        event = self._event_of(item)
        with self.lock:
            if not self._live:
                return
            self._release_held_before(event)
            if is_plain_text(event):
                event = with_well_formed_text(event)
            else:
                event = with_well_formed_texts(event)
                if isinstance(event, ev.StateReplaced | ev.StatePatched):
                    self.session.view.apply(event)
                elif isinstance(event, ev.Notice):
                    if event.severity != "info":
                        # Not every client shows it, and nothing else keeps it.
                        log.warning("%s: %s", event.title, event.description)
                    event = msgspec.structs.replace(event, turn_id=event.turn_id or self.turn_id)
            self._show(event)

    def _show(self, event: ev.Event) -> None:
        """Show an event as the grammar allows it; one that cannot be shown is logged."""
        with self.lock:
            if not self.output.is_open:
                return
            for legal in self._grammar.feed(event):
                try:
                    self.output.show(cast("ev.AnyEvent", legal))
                except Exception as error:
                    self.output.report(f"{type(error).__name__}: {error}")

    def emit_text(self, text: str, message_id: str) -> None:
        """Show a piece of a message."""
        self.emit(ev.Text(turn_id=self.turn_id, message_id=message_id, delta=text))

    def record(self, decided: ev.Decided) -> None:
        """Show a decision about a permission, if the front end can show it."""
        self.emit(decided)

    def prime(self, event: ev.AnyEvent) -> None:
        """Take an event as shown in an earlier run, in this process or another."""
        with self.lock:
            for legal in self._grammar.feed(event):
                self.output.prime(cast("ev.AnyEvent", legal))

    async def ready(self) -> None:
        """Wait for a client that reads slowly."""
        await self.output.ready()

    async def durable(self) -> None:
        """Nothing is stored, so there is nothing to wait for."""

    async def history(self) -> Conversation:
        """The conversation before this turn is the caller's own."""
        return Conversation()

    async def turn_so_far(self) -> Conversation:
        """The conversation of this turn so far, as far as its front end keeps it."""
        return self.output.turn_so_far

    async def steered(self) -> list[Prompt]:
        """Nobody can send a message to a run of the caller's own."""
        return []

    # -- what the agent asks -----------------------------------------------------------------------

    async def ask(self, asked: ev.Asked, expires_in: float | None) -> ev.Answered:
        """Put a question to the client, in the event loop of its transport."""
        asking = self._ask(asked, _QUESTION_TTL if expires_in is None else expires_in)
        elsewhere = self.output.loop_elsewhere
        if elsewhere is None:
            return await asking
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asking, elsewhere))

    async def _ask(self, asked: ev.Asked, ttl: float) -> ev.Answered:
        with self.lock:
            if not self._live:
                raise TurnCancelled("the run is over")
            asked = cast("ev.Asked", with_well_formed_texts(asked))
            answered = self._open_questions.ask(asked, expires_in=ttl)
        asking = asyncio.ensure_future(self.output.ask(asked, self._answer))
        try:
            await asyncio.wait({asking, answered}, return_when=asyncio.FIRST_COMPLETED)
            if not answered.done():
                await asking
            return await answered
        finally:
            asking.cancel()
            with self.lock:
                self._open_questions.withdraw_one(asked.question_id, "the question was withdrawn")

    async def _answer(self, answer: Answer) -> None:
        with self.lock:
            self._open_questions.answer([answer])

    def wait(self, awaitable: Awaitable[T]) -> T:
        """Wait for something from a plain function: in the transport's event loop, or in the background."""
        check_plain(awaitable)
        loop = self.output.loop_elsewhere or background_loop()
        alive = threading.Event()
        loop.call_soon_threadsafe(alive.set)
        if not alive.wait(_LOOP_REPLY_WITHIN):
            discard(awaitable)
            raise RuntimeError("the event loop is blocked, so no answer can come: call ainvoke() instead")
        try:
            return wait_in_thread(awaitable, loop)
        except concurrent.futures.CancelledError:
            raise TurnCancelled("what was waited for was cancelled") from None

    # -- the end -----------------------------------------------------------------------------------

    def suspend(self, asked: Sequence[ev.Asked] = ()) -> None:
        """Show what the turn waits for; a front end whose questions end a run ends it."""
        for question in asked:
            self.emit(question)
        ids = tuple(question.question_id for question in asked)
        self.emit(ev.TurnSuspended(turn_id=self.turn_id, question_ids=ids))

    def finish(self, terminal: ev.TurnFinished | ev.TurnFailed) -> None:
        """End the turn for good and settle what is open; idempotent. Between two runs nothing is shown."""
        with self.lock:
            if self._end(terminal):
                self._grammar.close()
                self.session.turn_ended(self._grammar, self.output)
