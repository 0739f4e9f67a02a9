"""ACP without a server of ours: a voice over any object that can ``emit`` and ``request``.

What an agent says goes through the grammar and the ACP encoder, so updates are legal whatever the
agent does, and then to the transport.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import orjson

from trunkline import events as ev
from trunkline.agents.langchain.emitter import Emitter
from trunkline.agents.langchain.kinds import KindMapper
from trunkline.agents.langchain.line import Line
from trunkline.agents.langchain.stops import explain, map_to_stop_reason
from trunkline.commands import Answer
from trunkline.context import Decision
from trunkline.cursor import Entry
from trunkline.desk import settle
from trunkline.errors import TurnCancelled
from trunkline.frontends.acp.asking import Asker
from trunkline.frontends.acp.encoder import Ask
from trunkline.handles import in_loop
from trunkline.jsonrpc import REQUEST_CANCELLED, RpcError
from trunkline.questions import Question
from trunkline.translate import Translator

if TYPE_CHECKING:
    from trunkline.frontends.acp.connection import Connection
    from trunkline.session import Session

__all__ = ["AcpVoice"]

_PATIENCE = 3600.0  # seconds a person has for an answer
_SIGN_OF_LIFE = 5.0  # seconds a loop has to show that it runs


class AcpVoice:
    """Talks to an ACP client for one run of an agent."""

    mode: str | None = None
    client_tools: tuple[Any, ...] = ()

    def __init__(
        self,
        line: Line,
        *,
        run_id: str | None = None,
        kind_mapper: KindMapper | None = None,
        discretion: Translator[ev.AnyEvent, ev.AnyEvent] | None = None,
        on_over: Callable[[AcpVoice], None] | None = None,
        kept: bool = False,
    ) -> None:
        """Begin a turn; ``discretion`` leaves out what is not to be shown.

        One that is ``kept`` is ended by whoever made it, any other by the first who sees its run end.
        """
        line.turns += 1
        line.locate()
        self.line = line
        self.turn_id = f"turn-{line.turns}"
        self.kind_mapper = kind_mapper
        self.kept = kept
        self.emitter = Emitter(self.say, self.turn_id, kind_mapper=kind_mapper)
        self._script = line.lend()
        self._discretion = discretion
        self._on_over = on_over
        self._speaker: object | None = None
        self._asks: dict[str, Ask] = {}
        self._questions = 0
        self._interrupted = False
        self._over = False
        self._lock = threading.RLock()
        self.say(ev.TurnStarted(turn_id=self.turn_id, run_id=run_id))

    @property
    def session_id(self) -> str:
        """The session, which is the thread of a graph."""
        return self.line.name

    @property
    def memory(self) -> dict[Any, Any]:
        """The session's own place for things, on this transport."""
        return self.line.memory

    # -- life --------------------------------------------------------------------------------------

    def claim(self, speaker: object) -> bool:
        """Let one callback handler say the tokens of this run; False for a second one."""
        if self._speaker is None:
            self._speaker = speaker
        return self._speaker is speaker

    @property
    def claimed(self) -> bool:
        """Whether a callback handler follows this run, and will say when it is over."""
        return self._speaker is not None

    def interrupt(self) -> None:
        """The run stops to be resumed: what is open stays open when it ends."""
        self._interrupted = True

    def go_on(self) -> None:
        """Another run resumes the interrupted one."""
        self._interrupted = False
        self.line.interrupted = None
        self.line.locate()

    def end(self, outcome: Any = None) -> None:
        """End the run with its last message or with an error; an interrupted one only rests."""
        if not self._interrupted:
            self.finish(outcome)
            return
        with self._lock:
            if not self._over:
                self.line.interrupted = self
                self._let_go()

    def finish(self, outcome: Any = None) -> None:
        """End the turn for good and settle what is open; idempotent."""
        with self._lock:
            if self._over:
                return
            self.emitter.settle(None)
            self.say(_terminal(outcome, self.turn_id))
            self._over = True
            self.line.take_back(self._script)
            if self.line.interrupted is self:
                self.line.interrupted = None
            self._let_go()

    def _let_go(self) -> None:
        self._speaker = None
        if self._on_over is not None:
            self._on_over(self)

    # -- saying ------------------------------------------------------------------------------------

    def say(self, event: ev.AnyEvent) -> None:
        """Say an event; safe from any thread, never raises."""
        with self._lock:
            if self._over:
                return
            try:
                shown = [event] if self._discretion is None else self._discretion.feed(event)
                for item in shown:
                    for legal in self._script.grammar.feed(item):
                        self._deliver(cast("ev.AnyEvent", legal))
            except Exception as error:
                self.line.complain(explain(error))

    def _deliver(self, event: ev.AnyEvent) -> None:
        if isinstance(event, ev.StateReplaced):
            self._extend("_trunkline/state", {"state": event.state})
        elif isinstance(event, ev.StatePatched):
            self._extend("_trunkline/state", {"patch": list(event.patch)})
        for out in self._script.encoder.feed(Entry(0, 0, 0, time.time(), event)):
            if isinstance(out, bytes):
                self.line.send("session/update", orjson.loads(out)["params"])
            elif isinstance(out, Ask):
                self._asks[out.asked.question_id] = out

    def _extend(self, method: str, params: dict[str, Any]) -> None:
        """Say what ACP has no update for, as an extension of it that a client may ignore."""
        self.line.send(method, {"sessionId": self.line.session_id, **params})

    # -- asking ------------------------------------------------------------------------------------

    def decide(self, call: Mapping[str, Any], kind: ev.ToolKind, *, durable_key: str) -> Decision | None:
        """What an earlier "always" says of a tool call; None to ask."""
        tool = str(call["name"])
        earlier = self.line.always.get(tool)
        if earlier is None:
            return None
        why = f"an earlier answer was to always {'allow' if earlier else 'refuse'} {tool}"
        return Decision(allowed=earlier, call_id=str(call["id"]), reason=why, by="earlier answer")

    def remember(self, tool: str, decision: Decision) -> None:
        """Keep an "always" for the rest of the session."""
        if decision.always and tool:
            self.line.always[tool] = decision.allowed

    async def ask(
        self,
        question: Question,
        *,
        durable_key: str | None = None,
        group: str | None = None,
        lane: str | None = None,
    ) -> ev.Answered:
        """Ask the client and wait; raises TurnCancelled when it says that the turn is cancelled."""
        asking = self._ask(question, durable_key, group, lane)
        if not self.line.is_far:
            return await asking
        loop = cast("asyncio.AbstractEventLoop", self.line.loop)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asking, loop))

    def ask_sync(
        self,
        question: Question,
        *,
        durable_key: str | None = None,
        group: str | None = None,
        lane: str | None = None,
    ) -> ev.Answered:
        """Ask from a plain function, which runs in a thread of its own."""
        if in_loop():
            raise RuntimeError("ask_sync() is for plain functions: write await ask() instead")
        if not self.line.is_far:
            return asyncio.run(self._ask(question, durable_key, group, lane))
        loop = cast("asyncio.AbstractEventLoop", self.line.loop)
        alive = threading.Event()
        loop.call_soon_threadsafe(alive.set)
        if not alive.wait(_SIGN_OF_LIFE):
            raise RuntimeError("the event loop is blocked, so no answer can come: call ainvoke() instead")
        asking = self._ask(question, durable_key, group, lane)
        return asyncio.run_coroutine_threadsafe(asking, loop).result()

    async def _ask(
        self, question: Question, durable_key: str | None, group: str | None, lane: str | None
    ) -> ev.Answered:
        with self._lock:
            self._questions += 1
            asked = ev.Asked(
                turn_id=self.turn_id,
                lane=lane,
                question_id=f"{self.turn_id}.q{self._questions}",
                question=question,
                durable_key=durable_key,
                group=group,
            )
            self.say(asked)
            ask = self._asks.pop(asked.question_id, None)
        if ask is None:
            raise TurnCancelled("the run is over")
        desk = _Desk(ask.asked, self.line.session_id)
        asker = Asker(
            cast("Connection", _Wire(self.line)), cast("Session", cast("object", desk)), self.line.client
        )
        await asker.ask(ask)
        answered = desk.answered
        self.say(answered)
        if answered.outcome == "cancelled":
            raise TurnCancelled("the turn was cancelled while a question was open")
        return answered


class _Wire:
    """The part of a connection that questions need, on a transport."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def ask(self, method: str, params: dict[str, Any]) -> tuple[int, asyncio.Future[Any]]:
        return 0, asyncio.ensure_future(self._request(method, self._line.addressed(params)))

    async def _request(self, method: str, params: dict[str, Any]) -> Any:
        try:
            return await self._line.transport.request(method, params, timeout=_PATIENCE)
        except TimeoutError:
            raise RpcError(REQUEST_CANCELLED, "nobody answered in time") from None

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self._line.send(method, params)


class _Desk:
    """The part of a session that questions need: where the answer to one is given."""

    def __init__(self, asked: ev.Asked, session_id: str | None) -> None:
        self.session_id = session_id
        self._asked = asked
        self.answered: ev.Answered

    async def answer(self, answer: Answer) -> None:
        self.answered = settle(self._asked, answer)


def _terminal(outcome: Any, turn_id: str) -> ev.TurnFinished | ev.TurnFailed:
    reason = map_to_stop_reason(outcome)
    if isinstance(outcome, TurnCancelled) or (
        isinstance(outcome, BaseException) and not isinstance(outcome, Exception)
    ):
        reason = "cancelled"
    if isinstance(outcome, Exception) and reason == "end_turn":
        return ev.TurnFailed(turn_id=turn_id, code="agent_failed", message=explain(outcome))
    return ev.TurnFinished(turn_id=turn_id, stop_reason=reason)
