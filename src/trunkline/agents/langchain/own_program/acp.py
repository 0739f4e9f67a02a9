"""ACP without a server of ours: a channel over any object that can ``emit`` and ``request``.

What an agent says goes through the grammar and the ACP encoder, so updates are legal whatever the
agent does, and then to the transport.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, cast

import orjson

from trunkline import events as ev
from trunkline.agents.langchain.own_program.run import LineVoice
from trunkline.agents.langchain.own_program.sender import Line
from trunkline.commands import Answer
from trunkline.cursor import Entry
from trunkline.errors import TurnCancelled
from trunkline.frontends.acp.encoder import AcpEncoder, Ask
from trunkline.frontends.acp.questions import Asker
from trunkline.grammar import Grammar
from trunkline.protocols.acp import wire
from trunkline.protocols.jsonrpc import REQUEST_CANCELLED, RpcError
from trunkline.questions import Question
from trunkline.session.handles import in_loop
from trunkline.session.questions import check_answer
from trunkline.tools.naming import KindMapper
from trunkline.translate import Translator

__all__ = ["AcpLine", "AcpVoice", "Transport"]

_PATIENCE = 3600.0  # seconds a person has for an answer
_SIGN_OF_LIFE = 5.0  # seconds a loop has to show that it runs


class Transport(Protocol):
    """Whatever carries ACP to a client; ``trunkline.stdio_transport`` makes one."""

    def emit(self, method: str, params: Any, /) -> None:
        """Tell the client something."""
        ...

    async def request(self, method: str, params: Any, /, *, timeout: float | None) -> Any:
        """Ask the client and give its result."""
        ...


class _Script(NamedTuple):
    """What keeps the updates of a session legal from one run to the next."""

    grammar: Grammar
    encoder: AcpEncoder


class AcpLine(Line):
    """One session on one transport.

    A session without an id leaves it to the transport to add its own.
    """

    def __init__(
        self,
        transport: Transport,
        session_id: str | None,
        *,
        client: wire.ClientCapabilities | None = None,
        home: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Speak to a client with these capabilities; ``home`` is where the transport may live."""
        super().__init__(transport, session_id or "default", home=home)
        self.session_id = session_id
        self.client = client or wire.ClientCapabilities()
        self.turns = 0

    def lend(self) -> _Script:
        """Give a run what it speaks by; a second run at the same time gets its own."""
        return self.ties.lend() or _Script(Grammar(), AcpEncoder(self.session_id or "", self.client))

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification of the session."""
        self.send(method, self.addressed(params))

    def addressed(self, params: dict[str, Any]) -> dict[str, Any]:
        """Put the session's id into a message, or leave it to the transport."""
        if self.session_id is None:
            params.pop("sessionId", None)
        return params


class AcpVoice(LineVoice):
    """Talks to an ACP client for one run of an agent."""

    line: AcpLine

    def __init__(
        self,
        line: AcpLine,
        *,
        run_id: str | None = None,
        kind_mapper: KindMapper | None = None,
        discretion: Translator[ev.AnyEvent, ev.AnyEvent] | None = None,
        on_over: Callable[[Any], None] | None = None,
        kept: bool = False,
    ) -> None:
        """Begin a turn, as every channel on a line does."""
        line.turns += 1
        self._script = line.lend()
        self._asks: dict[str, Ask] = {}
        self._questions = 0
        super().__init__(
            line,
            f"turn-{line.turns}",
            self._script.grammar,
            kind_mapper=kind_mapper,
            discretion=discretion,
            on_over=on_over,
            kept=kept,
        )
        self.say(ev.TurnStarted(turn_id=self.turn_id, run_id=run_id))

    def _give_back(self) -> None:
        self.line.ties.take_back(self._script)

    def _deliver(self, event: ev.AnyEvent) -> None:
        if type(event) is ev.StateReplaced:
            self._extend("_trunkline/state", {"state": event.state})
        elif type(event) is ev.StatePatched:
            self._extend("_trunkline/state", {"patch": list(event.patch)})
        for out in self._script.encoder.feed(Entry(0, 0, 0, time.time(), event)):
            if isinstance(out, bytes):
                self.line.tell("session/update", orjson.loads(out)["params"])
            elif isinstance(out, Ask):
                self._asks[out.asked.question_id] = out

    def _extend(self, method: str, params: dict[str, Any]) -> None:
        """Say what ACP has no update for, as an extension of it that a client may ignore."""
        self.line.tell(method, {"sessionId": self.line.session_id, **params})

    # -- asking ------------------------------------------------------------------------------------

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
        asker = Asker(cast("Any", _Wire(self.line)), self.line.session_id, desk.answer, self.line.client)
        await asker.ask(ask)
        answered = desk.answered
        self.say(answered)
        if answered.outcome == "cancelled":
            raise TurnCancelled("the turn was cancelled while a question was open")
        return answered


class _Wire:
    """The part of a connection that questions need, on a transport."""

    def __init__(self, line: AcpLine) -> None:
        self._line = line

    def ask(self, method: str, params: dict[str, Any]) -> tuple[int, asyncio.Future[Any]]:
        return 0, asyncio.ensure_future(self._request(method, self._line.addressed(params)))

    async def _request(self, method: str, params: dict[str, Any]) -> Any:
        try:
            return await self._line.transport.request(method, params, timeout=_PATIENCE)
        except TimeoutError:
            raise RpcError(REQUEST_CANCELLED, "nobody answered in time") from None

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self._line.tell(method, params)


class _Desk:
    """The part of a session that questions need: where the answer to one is given."""

    def __init__(self, asked: ev.Asked, session_id: str | None) -> None:
        self.session_id = session_id
        self._asked = asked
        self.answered: ev.Answered

    async def answer(self, answer: Answer) -> None:
        self.answered = check_answer(self._asked, answer)
