"""What the channels on a line have in common: one run of an agent, from its first word to its last.

What an agent says goes through the grammar, so it is legal whatever the agent does, and then on to the
protocol that a channel speaks.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from trunkline import events as ev
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.agents.langchain.own_program.sender import Line
from trunkline.agents.langchain.stop_reasons import code_of, explain, map_to_stop_reason
from trunkline.error_redaction import marks_of
from trunkline.errors import TurnCancelled
from trunkline.grammar import Grammar
from trunkline.questions import Coverage, Question
from trunkline.session.context import Decision
from trunkline.tools.naming import KindMapper
from trunkline.translate import Translator
from trunkline.workspace.coverage import coverage_of

__all__ = ["LineVoice", "terminal_for"]


class LineVoice:
    """Talks to a client for one run of an agent.

    Not an ABC, whose instances take long to recognize, and everybody asks.
    """

    halts = False
    """Whether a question stops the run, to be answered by another one."""
    mode: str | None = None
    client_tools: tuple[Any, ...] = ()
    final: Any = None
    """The last message of the run, as far as somebody follows it."""

    def __init__(
        self,
        line: Line,
        turn_id: str,
        grammar: Grammar,
        *,
        kind_mapper: KindMapper | None = None,
        discretion: Translator[ev.AnyEvent, ev.AnyEvent] | None = None,
        on_over: Callable[[Any], None] | None = None,
        kept: bool = False,
    ) -> None:
        """Begin a turn; ``discretion`` leaves out what is not to be shown.

        One that is ``kept`` is ended by whoever made it, any other by the first who sees its run end.
        """
        line.locate()
        self.line = line
        self.turn_id = turn_id
        self.kind_mapper = kind_mapper
        self.kept = kept
        self.emitter = Emitter(self.say, turn_id, kind_mapper=kind_mapper)
        self._grammar = grammar
        self._discretion = discretion
        self._on_over = on_over
        self.speaker: object | None = None
        """The callback handler that says the tokens of this run."""
        self._interrupted = False
        self._over = False
        self._lock = threading.RLock()

    @property
    def session_id(self) -> str:
        """The session, which is the thread of a graph."""
        return self.line.name

    @property
    def memory(self) -> dict[Any, Any]:
        """The session's own place for things, on this transport."""
        return self.line.ties.memory

    @property
    def shown(self) -> dict[Any, Any]:
        """A place for what the client was shown, to tell it only of changes."""
        return self.memory

    # -- life --------------------------------------------------------------------------------------

    def claim(self, speaker: object) -> bool:
        """Let one callback handler say the tokens of this run; False for a second one."""
        if self.speaker is None:
            self.speaker = speaker
        return self.speaker is speaker

    @property
    def claimed(self) -> bool:
        """Whether a callback handler follows this run, and will say when it is over."""
        return self.speaker is not None

    def count(self, usage: ev.TokenUsage) -> None:
        """Add to the tokens that the run spent, if the protocol has a place for them."""
        return

    async def ready(self) -> None:
        """Wait until the client can take more."""
        return

    def interrupt(self, error: BaseException | None = None, lane: str | None = None) -> None:
        """The run stops to be resumed: what is open stays open when it ends."""
        self._interrupted = True

    def go_on(self) -> None:
        """Another run resumes the interrupted one."""
        self._interrupted = False
        self.line.ties.interrupted = None
        self.line.locate()

    def end(self, outcome: Any = None) -> None:
        """End the run with its last message or with an error; an interrupted one only rests."""
        if not self._interrupted:
            self.finish(self.final if outcome is None else outcome)
            return
        with self._lock:
            if not self._over:
                self._rest()

    def _rest(self) -> None:
        self.line.ties.interrupted = self
        self._let_go()

    def finish(self, outcome: Any = None) -> None:
        """End the turn for good and settle what is open; idempotent."""
        with self._lock:
            if self._over:
                return
            self.emitter.finish_calls(None)
            self.say(self._terminal(outcome))
            self._over = True
            self._give_back()
            if self.line.ties.interrupted is self:
                self.line.ties.interrupted = None
            self._let_go()

    def _terminal(self, outcome: Any) -> ev.TurnFinished | ev.TurnFailed:
        return terminal_for(outcome, self.turn_id)

    @abstractmethod
    def _give_back(self) -> None:
        """Keep what the next run of the session speaks by."""

    def _let_go(self) -> None:
        self.speaker = None
        if self._on_over is not None:
            self._on_over(self)

    # -- saying ------------------------------------------------------------------------------------

    def say(self, event: ev.AnyEvent) -> None:
        """Say an event; safe from any thread, never raises."""
        with self._lock:
            if self._over:
                return
            try:
                for item in (event,) if self._discretion is None else self._discretion.feed(event):
                    for legal in self._grammar.feed(item):
                        self._deliver(legal)
            except Exception as error:
                self.line.complain(explain(error))

    @abstractmethod
    def _deliver(self, event: Any) -> None:
        """Put a legal event on the line."""

    # -- asking ------------------------------------------------------------------------------------

    def decide(self, call: Mapping[str, Any], kind: ev.ToolKind, *, durable_key: str) -> Decision | None:
        """What an earlier "always" says of a tool call; None to ask."""
        covers = self.covers(call, kind)
        earlier = self.line.ties.always.get(covers.key) if covers is not None else None
        if earlier is None:
            return None
        why = f"an earlier answer was to always {'allow' if earlier else 'refuse'} {covers}"
        return Decision(allowed=earlier, call_id=str(call["id"]), reason=why, by="earlier answer")

    def covers(self, call: Mapping[str, Any], kind: ev.ToolKind) -> Coverage | None:
        """What an "always" about a tool call would cover."""
        return coverage_of(str(call["name"]), kind, call.get("args"))

    def remember(self, covers: Coverage | None, decision: Decision) -> None:
        """Keep an "always" for the rest of the session."""
        if decision.always and covers is not None:
            self.line.ties.always[covers.key] = decision.allowed

    @abstractmethod
    async def ask(
        self,
        question: Question,
        *,
        durable_key: str | None = None,
        group: str | None = None,
        lane: str | None = None,
    ) -> ev.Answered:
        """Ask the client."""

    @abstractmethod
    def ask_sync(
        self,
        question: Question,
        *,
        durable_key: str | None = None,
        group: str | None = None,
        lane: str | None = None,
    ) -> ev.Answered:
        """Ask from a plain function, which runs in a thread of its own."""


def terminal_for(
    outcome: Any, turn_id: str, usage: tuple[ev.TokenUsage, ...] = ()
) -> ev.TurnFinished | ev.TurnFailed:
    """Say how a turn ended, from its last message or from what it raised."""
    reason = map_to_stop_reason(outcome)
    if isinstance(outcome, TurnCancelled) or (
        isinstance(outcome, BaseException) and not isinstance(outcome, Exception)
    ):
        reason = "cancelled"
    if isinstance(outcome, Exception) and reason == "end_turn":
        return ev.TurnFailed(
            turn_id=turn_id,
            code=code_of(outcome),
            message=explain(outcome),
            usage=usage,
            meta=marks_of(outcome),
        )
    return ev.TurnFinished(turn_id=turn_id, stop_reason=reason, usage=usage)
