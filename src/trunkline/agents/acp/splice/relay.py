"""The splice: lines between an editor and an agent, unchanged; a copy of each is read for the journal.

Every line is forwarded before anything is done with its copy. Only five things are held back: what the
policy judges (``policy_checks``), the updates of a turn that another client began ("an editor shows turns it
started"), what the agent prints on stdout that is no message, prompts to a session that another process
may be working on (``held_prompts``), and, for a moment, the end of a turn until the journal has it: who opens
the session then, in whatever client, finds the whole turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, Protocol, cast

import orjson

from trunkline import events as ev
from trunkline.agents.acp.agent import AcpAgent
from trunkline.agents.acp.native_session import FACTS
from trunkline.agents.acp.session_routes import update_in
from trunkline.agents.acp.splice.agent import SpliceAgent
from trunkline.agents.acp.splice.agent_requests import SpliceRequests
from trunkline.agents.acp.splice.connection import SpliceConnection, wait_for_event
from trunkline.agents.acp.splice.held_prompts import HeldPrompts
from trunkline.agents.acp.splice.journal import SessionJournal
from trunkline.agents.acp.splice.loose_parsing import (
    IdKey,
    id_key,
    method_in,
    methods_if_ambiguous,
    read_line,
)
from trunkline.agents.acp.splice.own_requests import settle
from trunkline.agents.acp.splice.policy_checks import JUDGED
from trunkline.agents.acp.splice.session_prompts import OpenPrompt
from trunkline.protocols.acp.fields import as_object
from trunkline.protocols.jsonrpc.connection import Transport
from trunkline.protocols.jsonrpc.framing import MAX_LINE, LineFramer, Oversize
from trunkline.protocols.jsonrpc.long_message_id import refuse_oversize
from trunkline.protocols.jsonrpc.messages import (
    INTERNAL_ERROR,
    Id,
    Malformed,
    Message,
    NoAnswer,
    Notification,
    Request,
    Response,
    written,
)
from trunkline.session.hub import Hub
from trunkline.session.session import Session

log = logging.getLogger("trunkline.splice")

OPEN_LIMIT = 10_000
"""How many requests of the editor are remembered; their answers pass in any case."""
EARLY_SESSIONS, EARLY_UPDATES = 64, 1000
"""Of how many sessions updates are kept that come before the session is known, and how many of each."""
STORED_WITHIN = 1.0
"""Seconds for which the answer to a prompt waits for the journal; a slow one holds it up no longer."""
_MAKES = ("session/new", "session/fork")
_OPENS = ("session/load", "session/resume")
_CONFIGURES = ("session/set_mode", "session/set_config_option", "session/set_model")


class EditorTransport(Transport, Protocol):
    """Moves bytes from and to the editor."""

    def pause_reading(self) -> None:
        """Let the editor wait when it writes more."""

    def resume_reading(self) -> None:
        """Read again."""


class _Open(NamedTuple):
    """A request of the editor that the agent has not answered."""

    id: Id
    method: str
    params: dict[str, Any]
    prompt: OpenPrompt | None


class Splice:
    """Joins an editor and an agent; ``start`` it, give it what the editor writes, and ``close`` it."""

    def __init__(
        self,
        agent: AcpAgent,
        transport: EditorTransport,
        open_hub: Callable[[SpliceAgent], Awaitable[Hub]],
        *,
        has_policy: bool,
        max_line: int = MAX_LINE,
    ) -> None:
        """Use an agent that is not started yet; ``open_hub`` opens the journal, beside the pair."""
        self.agent = SpliceAgent(agent, self._from_agent, self._own_prompt_sent)
        self.client: dict[str, Any] | None = None
        self.ended = asyncio.Event()
        """Set when the agent has ended, or could not be started."""
        self._transport = transport
        self._framer = LineFramer(max_line)
        self._requests = SpliceRequests(self, has_policy=has_policy)
        self._held = HeldPrompts(self)
        self._open_hub = open_hub
        self._hub: asyncio.Task[Hub] | None = None
        self._connection: SpliceConnection | None = None
        self._before_start: list[bytes] = []
        self._open: dict[IdKey, deque[_Open]] = {}
        self._open_count = 0
        self._journals: dict[str, SessionJournal] = {}
        self._full: set[SessionJournal] = set()
        """The journals that let the agent wait."""
        self._early: dict[str, deque[Mapping[str, Any]]] = {}
        self._outgoing: list[bytes] = []
        self._flushing = False
        self._unstored = 0
        """How many answers to prompts wait for the journal, with all that follows them."""
        self._agent_waits: asyncio.Task[None] | None = None
        self._heard = asyncio.Event()
        self._started = asyncio.Event()

    # -- the beginning -----------------------------------------------------------------------------

    async def start(self) -> None:
        """Start the agent; what the editor wrote meanwhile follows."""
        self._hub = asyncio.create_task(self._open_the_hub())
        connection = await self.agent.processes.take()
        assert isinstance(connection, SpliceConnection)
        connection.on_end.append(self._agent_ended)
        self._connection = connection
        self._started.set()
        waiting, self._before_start = self._before_start, []
        for line in waiting:
            self._from_editor(line)
        if connection.ended.is_set():
            self._agent_ended()

    async def _open_the_hub(self) -> Hub:
        return await self._open_hub(self.agent)

    async def hub(self) -> Hub:
        """Give the hub, once it is open."""
        assert self._hub is not None
        return await asyncio.shield(self._hub)

    @property
    def hub_opening(self) -> asyncio.Task[Hub] | None:
        """The task that opens the hub."""
        return self._hub

    def journal_of(self, session_id: str) -> SessionJournal | None:
        """Give the journal of a session."""
        return self._journals.get(session_id)

    def _own_prompt_sent(self, session_id: str) -> None:
        if (journal := self._journals.get(session_id)) is not None:
            journal.own_prompts += 1

    def asked(self, session: Session, asked: ev.Asked) -> None:
        """Take that a session asks its clients."""
        self._requests.asked(session, asked)

    def leave_to_editor(self, session_id: str) -> None:
        """Let the editor alone answer what it was asked in a turn that is over."""
        self._requests.leave_to_editor(session_id)

    # -- from the editor ---------------------------------------------------------------------------

    def receive(self, data: bytes) -> None:
        """Take what the editor writes."""
        self._take_lines(self._framer.feed(data))

    def receive_eof(self) -> None:
        """Take that the editor writes no more; its last line may lack a newline."""
        self._take_lines(self._framer.close())

    def _take_lines(self, lines: list[bytes | Oversize]) -> None:
        for line in lines:
            if isinstance(line, Oversize):
                self._refuse_oversize(line)
            elif self._connection is None:
                self._before_start.append(line)
                self._heard.set()
            else:
                self._from_editor(line)
        connection = self._connection
        if (
            self._held.is_full
            or (connection is None and len(self._before_start) > EARLY_UPDATES)
            or (connection is not None and connection.congested)
        ):
            self._let_editor_wait()

    def _let_editor_wait(self) -> None:
        """Read no more until the agent has read what there is."""
        if self._agent_waits is None:
            self._transport.pause_reading()
            self._agent_waits = asyncio.create_task(self._wait_for_agent())

    async def _wait_for_agent(self) -> None:
        try:
            await self._started.wait()
            await self._held.settled()
            if self._connection is not None:
                await self._connection.drained()
        finally:
            self._agent_waits = None
            self._transport.resume_reading()

    def _from_editor(self, raw: bytes) -> None:
        message = read_line(raw)
        if isinstance(message, Response):
            if self._requests.take_answer(message):
                self.to_agent(raw)
        elif message is None or isinstance(message, Malformed) or not self._held.take(raw, message):
            self.forward(raw, message)

    def forward(self, raw: bytes, message: Message | Malformed | None) -> None:
        """Send a line of the editor to the agent."""
        self.to_agent(raw)
        if isinstance(message, Request):
            self._take_editor_request(message)
        elif isinstance(message, Notification) and message.method == "session/cancel":
            self._expect_no_words(message)

    def _expect_no_words(self, message: Request | Notification) -> None:
        session_id = as_object(message.params).get("sessionId")
        for request in (one for waiting in self._open.values() for one in waiting):
            if request.prompt is not None and request.params.get("sessionId") == session_id:
                request.prompt.may_be_mute = True

    def _take_editor_request(self, message: Request) -> None:
        if self._connection is None or self._connection.ended.is_set():
            self._fail_open(message.id)
            return
        params = as_object(message.params)
        journal = self._journals.get(str(params.get("sessionId")))
        prompt = None
        if message.method == "session/prompt" and journal is not None:
            prompt = journal.prompt(params)
        elif message.method == self.agent.profile.steering and journal is not None:
            prompt = journal.steer(params)
        elif message.method in _OPENS and isinstance(params.get("sessionId"), str):
            if journal is None:
                journal = self._add_journal(params["sessionId"])
            journal.begin_open(replays=message.method == "session/load")
        elif message.method == "initialize":
            self.client = {**as_object(params.get("clientInfo")), "protocol": "acp"}
        if self._open_count < OPEN_LIMIT:
            self._open_count += 1
            request = _Open(message.id, message.method, params, prompt)
            self._open.setdefault(id_key(message.id), deque()).append(request)

    def _refuse_oversize(self, line: Oversize) -> None:
        """Answer a message of the editor that is too long in the place of who should have got it."""
        refused = refuse_oversize(line)
        error = {"code": refused.code, "message": refused.message}
        answer = orjson.dumps({"jsonrpc": "2.0", "id": written(refused.id), "error": error})
        log.warning("a message of the editor was not forwarded: %s", refused.message)
        if not refused.is_answer:
            self.to_editor(answer)
        elif self._requests.take_answer(Response(refused.id, None, NoAnswer(refused.message))):
            self.to_agent(answer)

    def to_agent(self, line: bytes) -> None:
        """Send a line to the agent."""
        if self._connection is not None:
            self._connection.send_line(line)

    # -- from the agent ----------------------------------------------------------------------------

    def _from_agent(self, raw: bytes) -> bool:
        """Take a line of the agent; False for one that is no message."""
        message = read_line(raw)
        if message is None:
            return False
        if isinstance(message, Notification):
            self._take_notification(raw, message)
        elif isinstance(message, Response):
            self._take_response(raw, message)
        elif isinstance(message, Request):
            self._expect_no_words(message)
            self._requests.take(raw, message)
        elif method_in(raw) in JUDGED or methods_if_ambiguous(raw):
            return False  # Of an odd shape, so that the policy cannot judge what the editor might do.
        else:
            self.to_editor(raw)
        return True

    def _take_notification(self, raw: bytes, message: Notification) -> None:
        params = as_object(message.params)
        session_id = params.get("sessionId")
        journal = self._journals.get(session_id) if isinstance(session_id, str) else None
        if message.method == "session/update":
            update = as_object(update_in(params))
            if journal is None or not journal.is_foreign or update.get("sessionUpdate") in FACTS:
                self.to_editor(raw)
            if journal is not None:
                journal.update(update)
                if journal.is_full and journal not in self._full:
                    self._full.add(journal)
                    self._wait_for(self._until_room(journal))
            elif isinstance(session_id, str):
                self._keep_early(session_id, update)
        elif message.method == "$/cancel_request":
            if self._requests.withdraw(cast("Any", params.get("requestId"))):
                self.to_editor(raw)
        elif message.method in JUDGED:
            log.warning("%s without an id was not forwarded: nobody could answer it", message.method)
        else:
            self.to_editor(raw)
            for one in self._journals.values() if message.method == "elicitation/complete" else ():
                one.elicited(message.params)
            if journal is not None:
                journal.notification(message.method, message.params)

    def _keep_early(self, session_id: str, update: Mapping[str, Any]) -> None:
        if session_id not in self._early and len(self._early) >= EARLY_SESSIONS:
            self._early.pop(next(iter(self._early)))
        self._early.setdefault(session_id, deque(maxlen=EARLY_UPDATES)).append(update)

    def _take_response(self, raw: bytes, message: Response) -> None:
        assert self._connection is not None
        own = self._connection.own_requests.take_answer(message)
        if own is not None:
            journal = self._journals.get(str(as_object(own.params).get("sessionId")))
            if own.method == "session/prompt" and journal is not None:
                journal.own_answered(own, message)
            else:
                settle(own.future, message)
            return
        self.to_editor(raw)
        waiting = self._open.get(id_key(message.id))
        if waiting:
            request = waiting.popleft()
            self._open_count -= 1
            if not waiting:
                del self._open[id_key(message.id)]
            self._take_answer(request, message)

    def _take_answer(self, request: _Open, message: Response) -> None:
        """Take the agent's answer to a request of the editor."""
        session_id = request.params.get("sessionId")
        journal = self._journals.get(session_id) if isinstance(session_id, str) else None
        result = as_object(message.result)
        method = request.method
        if request.prompt is not None and journal is not None:
            if method != "session/prompt":
                journal.steered(request.prompt, message)
                return
            journal.answered(request.prompt, message)
            if journal.failure is None:
                self._unstored += 1
                self._wait_for(self._until_stored(request.prompt))
            return
        if method == "session/load" and journal is not None:
            journal.end_load()
        if message.error is not None:
            if method in _OPENS and journal is not None and journal.session is None:
                self._drop_journal(journal)
        elif method == "initialize":
            assert self._connection is not None
            self._connection.initialize = result
            self.agent.take_initialize(result)
        elif method in _MAKES and isinstance(new := result.get("sessionId"), str):
            self._add_journal(new).opened(method, request.params, result)
            for update in self._early.pop(new, ()):
                self._journals[new].update(update)
        elif journal is not None:
            if method in _OPENS:
                journal.opened(method, request.params, result)
            elif method in _CONFIGURES:
                journal.configured(method, request.params, result)
            elif method in ("session/close", "session/delete"):
                journal.closed(deleted=method == "session/delete")

    def _add_journal(self, session_id: str) -> SessionJournal:
        journal = self._journals.get(session_id)
        if journal is None:
            journal = self._journals[session_id] = SessionJournal(self, session_id)
        return journal

    def _drop_journal(self, journal: SessionJournal) -> None:
        journal.close()
        self._journals.pop(journal.session_id, None)

    async def _until_room(self, journal: SessionJournal) -> None:
        try:
            await journal.has_room()
        finally:
            self._full.discard(journal)

    def _wait_for(self, waiting: Awaitable[Any]) -> None:
        """Read no more from the agent until something is done."""
        assert self._connection is not None
        self._connection.wait_for(waiting)

    async def _until_stored(self, prompt: OpenPrompt) -> None:
        try:
            await wait_for_event(prompt.stored, STORED_WITHIN)
        finally:
            self._unstored -= 1
            self._flush()

    # -- to the editor -----------------------------------------------------------------------------

    def to_editor(self, line: bytes) -> None:
        """Send a line to the editor; what is sent within one tick is written in one piece."""
        self._outgoing.append(line)
        if not self._flushing:
            self._flushing = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._flushing = False
        if self._outgoing and not self._unstored:
            self._write()

    def _write(self) -> None:
        self._outgoing.append(b"")
        data = b"\n".join(self._outgoing)
        self._outgoing.clear()
        self._transport.write(data)
        if self._transport.congested and self._connection is not None:
            self._wait_for(self._transport.drained())

    # -- the end -----------------------------------------------------------------------------------

    def _agent_ended(self) -> None:
        """Answer what the editor still waits for: the agent never will."""
        if self.ended.is_set():
            return
        for waiting in self._open.values():
            for request in waiting:
                self._fail_open(request.id)
                journal = self._journals.get(str(request.params.get("sessionId")))
                if journal is not None:
                    self._take_answer(request, Response(request.id, None, NoAnswer(self.why_gone())))
        self._open.clear()
        self._flush()
        self.ended.set()

    def why_gone(self) -> str:
        """Say why the agent answers nothing any more."""
        return str(self._connection.gone()) if self._connection is not None else "the agent is gone"

    def _fail_open(self, request_id: Id, why: str | None = None) -> None:
        self.refuse(request_id, why or self.why_gone(), INTERNAL_ERROR)

    def refuse(self, request_id: Id, why: str, code: int) -> None:
        """Refuse a request of the editor's in the place of the agent."""
        error = {"code": code, "message": " ".join(why.split()), "data": {"details": why}}
        self.to_editor(orjson.dumps({"jsonrpc": "2.0", "id": written(request_id), "error": error}))

    def answer(self, request_id: Id, result: Any) -> None:
        """Answer a request of the editor's in the place of the agent."""
        self.to_editor(orjson.dumps({"jsonrpc": "2.0", "id": written(request_id), "result": result}))

    async def refuse_all(self, why: str, within: float = 2.0) -> None:
        """Tell the editor, as the answer to what it asks first, why there is no agent."""
        await wait_for_event(self._heard, within)
        for line in self._before_start:
            if isinstance(message := read_line(line), Request):
                self._fail_open(message.id, why)
        self._flush()
        self._started.set()
        self.ended.set()

    async def close(self, drain: float = 2.0) -> None:
        """Write what is left to the journal, cancel what runs, and end the agent."""
        self._held.close()
        for journal in self._journals.values():
            journal.editor_left = True
        for journal in list(self._journals.values()):
            await journal.drained(drain)
        hub = self._hub
        if hub is not None:
            await asyncio.wait({hub})
            if not hub.cancelled() and hub.exception() is None:
                closing = asyncio.create_task(hub.result().close())
                await asyncio.wait({closing})
                closing.result()
        self._requests.close()
        for journal in self._journals.values():
            journal.close()
        await self.agent.close_agent()
        if self._outgoing:
            self._write()
