"""A run of an agent in somebody's own program: who follows it, and how its hosted turn ends."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, cast

from langgraph.errors import GraphBubbleUp

from trunkline import events as ev
from trunkline.agents.langchain.errors import code_of, explain
from trunkline.agents.langchain.graph.interrupts import OpenCalls, Pending, pending_questions
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.agents.langchain.messages.history import unanswered_calls
from trunkline.agents.langchain.stop_reasons import map_to_stop_reason
from trunkline.conversation import Call
from trunkline.error_redaction import marks_of
from trunkline.session.hosted.frontends import RequestOutput, RunInfo
from trunkline.session.hosted.turn import HostedTurn

log = logging.getLogger("trunkline.langchain")


class OwnRun:
    """One run that the caller started, and those that resume it."""

    def __init__(
        self,
        turn: HostedTurn,
        emitter: Emitter,
        *,
        ended_by_wrapper: bool = False,
        on_released: Callable[[OwnRun, bool], None] | None = None,
    ) -> None:
        """Follow a hosted turn; a callback handler that sees the run end ends it, unless the wrapper does.

        ``on_released`` is called when the run is over, and told whether its turn waits to be resumed.
        """
        self.turn = turn
        self.emitter = emitter
        self.ended_by_wrapper = ended_by_wrapper
        """Whether ``acp_agent`` or ``agui_agent`` started the run, and ends it."""
        self.is_observed = ended_by_wrapper
        """Whether something sees the run end: the wrapper, or a callback handler."""
        self.ends_on_question = turn.session.front_end.ends_run_on_question
        # Where questions end a run, another client may come with the next one.
        self.shown: dict[Any, Any] = {} if self.ends_on_question else turn.session.view.memory
        """What the client was shown, to tell it only of changes."""
        self.transport: Any = None
        self.final: Any = None
        """The last message of the run, as far as a callback handler follows it."""
        self._follower: object | None = None
        self._on_released = on_released
        self._interrupted = False
        self._resumed = False
        self._interrupts: dict[str, tuple[str | None, Any]] = {}
        self._stop_watching: Callable[[], object] | None = None

    # -- who follows it ----------------------------------------------------------------------------

    def claim(self, follower: object) -> bool:
        """Let one callback handler emit the tokens of this run; False for a second one."""
        if self._follower is None:
            self._follower = follower
            self.is_observed = True
        return self._follower is follower

    def is_followed_by(self, follower: object) -> bool:
        """Whether this callback handler emits the tokens of the run."""
        return self._follower is follower

    @property
    def requests(self) -> RequestOutput:
        """The output, of a front end whose runs begin with a request."""
        return cast("RequestOutput", self.turn.output)

    def cancel_when_client_leaves(self) -> None:
        """Cancel the task that runs here when the client leaves, if the front end wants that."""
        self._stop_watching = self.requests.cancel_when_gone()

    # -- earlier runs ------------------------------------------------------------------------------

    def resume(self, run: RunInfo, *, ended_by_wrapper: bool) -> None:
        """Go on in another run."""
        with self.turn.lock:
            self._interrupts.clear()
            self._interrupted, self._resumed = False, True
            self.ended_by_wrapper = self.is_observed = ended_by_wrapper
            self.turn.begin(run)

    def restore(self, messages: list[Any], asked: Iterable[ev.Asked] = ()) -> None:
        """Take as shown what an earlier run showed, in this process or another."""
        self.emitter.add_history(messages)
        last = next((message.id for message in reversed(messages) if message.type == "ai"), None)
        turn_id = self.turn.turn_id
        for call in unanswered_calls(messages):
            call_id, name = str(call["id"]), str(call["name"])
            if self.emitter.call_id_of(None, call_id) is None:
                known = Call(call_id=call_id, name=name, native_id=call_id, input=call["args"])
                self.emitter.restore_calls([known])
                self.turn.prime(
                    ev.ToolCall(
                        turn_id=turn_id, call_id=call_id, name=name, native_id=call_id, message_id=last
                    )
                )
                self.turn.prime(ev.ToolUpdate(turn_id=turn_id, call_id=call_id, input=call["args"]))
        for one in asked:
            self.turn.prime(one)

    def cancel_open_calls(self, reason: str) -> None:
        """End the calls that wait for an answer which will not come."""
        for call in list(self.turn.output.turn_so_far.calls.values()):
            if call.status not in ev.FINAL_STATUSES:
                self.turn.emit(
                    ev.ToolUpdate(lane=call.lane, call_id=call.call_id, status="cancelled", reason=reason)
                )

    # -- the end -----------------------------------------------------------------------------------

    def interrupt(self, error: BaseException | None = None, lane: str | None = None) -> None:
        """The graph stops to be resumed; the innermost graph is the first to say where that was."""
        self._interrupted = True
        stops = cast("Iterable[Any]", error.args[0]) if error is not None and error.args else ()
        for stop in stops:
            self._interrupts.setdefault(str(stop.id), (lane, stop))

    @property
    def is_interrupted(self) -> bool:
        """Whether the graph stopped to be resumed."""
        return self._interrupted

    def is_over(self, outcome: Any) -> bool:
        """Whether the run ends for good; an interrupted one waits to be resumed."""
        # A caller that has read the interrupt of a stream may close it: GeneratorExit.
        broken = isinstance(outcome, BaseException) and not isinstance(outcome, GraphBubbleUp | GeneratorExit)
        return not self._interrupted or (broken and self.turn.output.is_open)

    def end(self, outcome: Any = None) -> None:
        """End the run with its last message or with an error; an interrupted one suspends its turn.

        A call may interrupt the graph while another one fails or is cancelled: the run ends as that.
        """
        with self.turn.lock:
            if self.is_over(outcome):
                self.finish(self.final if outcome is None else outcome)
            elif self.turn.live:
                self._suspend()

    def _suspend(self) -> None:
        """Show what the graph waits for; a run that waits for nothing is over."""
        if self.ends_on_question:
            if not self.turn.output.is_open:
                return
            calls = OpenCalls()
            for lane, stop in self._interrupts.values():
                calls.add_interrupts(lane, [stop])
            calls.restore(self.turn.output.turn_so_far)
            stops = [stop for _, stop in self._interrupts.values()]
            pending = pending_questions(stops, calls, self.emitter.describe)
            self.turn.suspend([question_of(item) for item in pending])
            if self.turn.output.is_open:
                self.finish(self.final)
                return
        self._release(suspended=True)

    def finish(self, outcome: Any = None) -> None:
        """End the turn for good and settle what is open; idempotent."""
        with self.turn.lock:
            if not self.turn.live:
                return
            self.emitter.finish_calls(None)
            terminal = terminal_for(outcome, self.turn.turn_id)
            if terminal.meta is not None:
                # Clients far away are told to look for this id in the log.
                log.warning(
                    "%s of session %s failed: %s: %s",
                    self.turn.turn_id,
                    self.turn.session.view.session_id,
                    type(outcome).__name__,
                    outcome,
                )
            self.turn.finish(terminal)
            self._release(suspended=False)

    def refuse(self, error: Exception) -> None:
        """End a run whose request cannot be carried out."""
        self.requests.refuse(error)
        self._leave_unchanged()

    def finish_too_late(self) -> None:
        """End a run that answers a question which is no longer open."""
        self.requests.finish_too_late()
        self._leave_unchanged()

    def _leave_unchanged(self) -> None:
        """End a run in which nothing was done; what the turn waits for can still be answered."""
        with self.turn.lock:
            if self._resumed:
                self._interrupted = True
                self._release(suspended=True)
            else:
                self.finish()

    def _release(self, *, suspended: bool) -> None:
        self._follower = None
        if self._stop_watching is not None:
            self._stop_watching()
            self._stop_watching = None
        if self.ended_by_wrapper:
            self.turn.session.busy = False
        if self._on_released is not None:
            self._on_released(self, suspended)


def question_of(item: Pending) -> ev.Asked:
    """Give what a graph stopped for as a question; its id is the same in every process."""
    return ev.Asked(
        question_id=item.key,
        question=item.question,
        durable_key=item.key,
        group=item.interrupt_id,
        lane=item.lane,
    )


def terminal_for(outcome: Any, turn_id: str) -> ev.TurnFinished | ev.TurnFailed:
    """Say how a turn ended, from its last message or from what it raised."""
    reason = map_to_stop_reason(outcome)
    if isinstance(outcome, Exception) and reason == "end_turn":
        return ev.TurnFailed(
            turn_id=turn_id, code=code_of(outcome), message=explain(outcome), meta=marks_of(outcome)
        )
    return ev.TurnFinished(turn_id=turn_id, stop_reason=reason)
