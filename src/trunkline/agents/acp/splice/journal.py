"""The journal of one spliced session: takes copies of what passes, in order, and never holds a line up.

What the editor and the agent say is put into a queue here and worked off by a task of its own. A queue that
grows too long lets the agent wait, and nothing else does: a journal that fails is reported, and the pair goes
on without it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from trunkline import events as ev
from trunkline.agents.acp.native_session import FACTS, kept_id
from trunkline.agents.acp.replayed_updates import KeptUpdates
from trunkline.agents.acp.splice.agent import SpliceAgent
from trunkline.agents.acp.splice.connection import wait_for_event
from trunkline.agents.acp.splice.held_prompts import BUSY, STUCK, WENT_ON
from trunkline.agents.acp.splice.own_requests import OwnRequest, retrieve, settle
from trunkline.agents.acp.splice.session_prompts import OpenPrompt, SplicePrompts, missed_prompts
from trunkline.commands import Prompt
from trunkline.errors import SessionBusy, SessionNotFound, TrunklineError
from trunkline.journal import SessionKey
from trunkline.protocols.acp.fields import as_list, as_object, text_in
from trunkline.protocols.jsonrpc.messages import Params, Response
from trunkline.session.hub import Hub
from trunkline.session.ids import new_id
from trunkline.session.imported_history import import_agent_history
from trunkline.session.session import Session

log = logging.getLogger("trunkline.splice")

QUEUE_LIMIT = 1000
"""How many messages of a session may wait for the journal before the agent has to wait."""
TURN_WITHIN = 30.0
"""Seconds in which a turn must begin, or end, once the agent has said so."""
TAKE_OVER_WITHIN = 10.0
"""Seconds in which another process must hand a session over; until the next prompt it is not asked again."""
_SESSIONS_LOOKED_AT = 1000
_AT_ONCE = 64
ENTER_WITHIN = 15.0
"""Seconds after which a prompt goes to the agent although the journal does not say whose the session is."""

BY = "acp"
"""Who the editor is in the journal, as in our own ACP front end."""


class SpliceHost(Protocol):
    """What the journal of a session needs of the splice."""

    agent: SpliceAgent
    client: dict[str, Any] | None

    async def hub(self) -> Hub:
        """Give the hub, once it is open."""
        ...

    def journal_of(self, session_id: str) -> SessionJournal | None:
        """Give the journal of another session."""
        ...

    def asked(self, session: Session, asked: ev.Asked) -> None:
        """Take that a turn asks a question."""

    def leave_to_editor(self, session_id: str) -> None:
        """Let the editor alone answer what it was asked in a turn that is over."""


class SessionJournal:
    """Writes one session of the pair to the journal."""

    def __init__(self, host: SpliceHost, session_id: str) -> None:
        self._host = host
        self.session_id = session_id
        """The agent's id of the session."""
        self._journal_id = session_id
        """The id in the journal: another one where the session was begun by ``exec`` or in a page."""
        self.session: Session | None = None
        """The session in the journal; None as long as it is not open, or cannot be."""
        self.prompts: SplicePrompts | None = None
        self.failure: str | None = None
        """Why the session is not journalled."""
        self.editor_left = False
        self._is_new = True
        """Whether the agent has not opened the session yet, or made it: no other process has it then."""
        self._known_turn: str | None = None  # The last one that the editor's agent knows.
        self._asked_at = 0.0  # When the editor asked for the session: its agent knows nothing later.
        self._went_on = False
        """Whether there are turns that it does not know, until the editor opens the session again."""
        self._refusal: str | None = None
        """What the editor is told then; None before the agent was asked to close the session."""
        self._missed = 0
        """How many prompts of the editor the journal does not have since it last had one."""
        self._result: Mapping[str, Any] = {}  # What the agent answered when the editor opened the session.
        self.editor_prompts = 0
        self.own_prompts = 0
        """How many prompts of the editor, and of other clients, the agent works on."""
        self._queue: deque[tuple[Callable[..., Any], tuple[Any, ...]]] = deque()
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._loading = False
        self._known = False
        self._replay = KeptUpdates()
        self._held: list[Mapping[str, Any]] = []
        self._waiting: dict[str, OpenPrompt] = {}
        """Prompts whose turns wait for another one."""
        self._steered: dict[str, asyncio.Task[Any]] = {}
        """What is done with messages for the running turn."""
        self._worker = asyncio.create_task(self._work(), name=f"trunkline splice {session_id}")

    @property
    def is_foreign(self) -> bool:
        """Whether the agent works for another client, and not for the editor."""
        return self.own_prompts > 0 and self.editor_prompts == 0

    # -- the queue ---------------------------------------------------------------------------------

    def put(self, work: Callable[..., Any], *args: Any) -> None:
        """Let something be done in its turn."""
        self._queue.append((work, args))
        self._wake.set()
        if len(self._queue) >= QUEUE_LIMIT:
            self._room.clear()

    @property
    def is_full(self) -> bool:
        """Whether so much waits that the agent should."""
        return not self._room.is_set()

    async def has_room(self) -> None:
        """Wait until less waits."""
        await self._room.wait()

    async def _work(self) -> None:
        while True:
            if not self._queue:
                self._room.set()
                self._wake.clear()
                await self._wake.wait()
            for _ in range(min(_AT_ONCE, len(self._queue))):
                work, args = self._queue.popleft()
                try:
                    waiting = work(*args)
                    if waiting is not None:
                        await waiting
                except Exception as error:
                    self._fail(error)
                if self.session is not None and self.session.lease_is_current:
                    self._known_turn = self.session.last_turn_id
            if len(self._queue) < QUEUE_LIMIT // 2:
                self._room.set()
            await asyncio.sleep(0)

    def _fail(self, error: Exception) -> None:
        """Report that something is not journalled; the pair goes on."""
        why = str(error) or type(error).__name__
        if self.editor_left and not self._missed:
            return  # Nothing was said that the journal lacks.
        if self.editor_left:
            why = "the editor left before the process that has the session open handed it over"
        if self.failure != why:
            log.warning("session %s is not journalled as it should be: %s", self.session_id, why)
            if not isinstance(error, TrunklineError):
                log.debug("the cause", exc_info=error)
        self.failure = why

    async def drained(self, within: float) -> None:
        """Wait, for a while, until everything is worked off."""
        done = asyncio.Event()
        self.put(done.set)
        await wait_for_event(done, within)

    def close(self) -> None:
        """Take nothing more."""
        self._worker.cancel()
        self._room.set()

    # -- opening -----------------------------------------------------------------------------------

    def begin_open(self, *, replays: bool) -> None:
        """Take that the editor asked for this session; before the answer to a load comes a replay."""
        self._asked_at = time.time()
        if replays:
            self._loading = True
            self.put(self._look)

    async def _look(self) -> None:
        self._known = await self._find_in_journal(await self._host.hub())
        self._replay = KeptUpdates()

    async def _find_in_journal(self, hub: Hub) -> bool:
        """Find the session by its id, or by the agent's id that is kept with it; whether there is one."""
        if await hub.journal.get(SessionKey("local", self._journal_id)) is not None:
            return True
        for info in await hub.list(limit=_SESSIONS_LOOKED_AT):
            if kept_id(info.kept) == self.session_id and hub.may_run(info):
                self._journal_id = info.session_id
                return True
        return False

    def end_load(self) -> None:
        """Take that the load was answered: what comes after is new."""
        self._loading = False

    def opened(self, method: str, params: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Take that the agent opened the session."""
        self._is_new = method not in ("session/load", "session/resume")
        self._refusal = self._refusal if self._refusal is STUCK else None
        self.put(self._open, method, params, result)

    async def _open(self, method: str, params: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        if self.session is not None and not self.may_be_elsewhere and self.prompts is not None:
            await self._emit(self.prompts.decoder.take_result(result))
        else:
            session = await self._open_in_journal(method, params, result)
            if self._went_on:
                await self._release(session)
        self._replay = KeptUpdates()
        held, self._held = self._held, []
        for update in held:
            await self._take(update)

    async def _open_in_journal(
        self, method: str, params: Mapping[str, Any], result: Mapping[str, Any], within: float | None = None
    ) -> Session:
        hub, agent = await self._host.hub(), self._host.agent
        self._result = result or self._result
        agent.opened[self.session_id] = self._result
        try:
            session = await self._find(hub, method, params)
            if method:
                # The agent has not got, or not wholly, a turn of another process that ran when it was asked.
                ran = not await session.own() and (session.busy or session.turn_ended_at > self._asked_at)
                self._went_on = self._refusal is STUCK or ran
                self._known_turn = session.last_turn_id
            try:
                await session.take_over(within or TAKE_OVER_WITHIN)
            except SessionBusy as error:
                raise SessionBusy(f"{error}; it is tried again at the next prompt") from None
            self._went_on = self._went_on or session.last_turn_id != self._known_turn
            await session.prepare()
        finally:
            agent.opened.pop(self.session_id, None)
        prompts = agent.prompts(session.view)
        session.watch_questions(lambda asked: self._host.asked(session, asked))
        self.session, self.prompts, self._is_new = session, prompts, False
        return session

    async def _find(self, hub: Hub, method: str, params: Mapping[str, Any]) -> Session:
        """Open the session that the journal has, or make one."""
        servers = [as_object(server) for server in as_list(params.get("mcpServers"))]
        if await self._find_in_journal(hub):
            with suppress(SessionNotFound):  # It may have been deleted just now.
                return await hub.session(self._journal_id, mcp_servers=servers, client=self._host.client)
        origin = self._host.journal_of(str(params.get("sessionId"))) if method == "session/fork" else None
        if origin is not None and origin is not self and origin.session is not None:
            return await hub.fork(origin.session, self.session_id)
        session = await hub.create(
            self.session_id,
            cwd=text_in(params, "cwd"),
            roots=[str(root) for root in as_list(params.get("additionalDirectories"))],
            mcp_servers=servers,
            client=self._host.client,
            meta=as_object(params.get("_meta")) or None,
        )
        if self._replay.updates:
            if self._replay.is_full:
                log.warning("session %s: its replay is too long, the journal lacks its end", self.session_id)
            self._host.agent.replays[self.session_id] = self._replay.updates
            await import_agent_history(session)
        return session

    async def _usable(self, within: float | None = None) -> Session:
        """Give the session in the journal; one that is closed here, or elsewhere by now, is opened again."""
        session = self.session
        if session is None or session.closed or not session.is_owner or not await session.own():
            self.session = self.prompts = None
            session = await self._open_in_journal("", {}, {}, within)
        return session

    # -- other processes ---------------------------------------------------------------------------

    @property
    def may_be_elsewhere(self) -> bool:
        """Whether another process may run the turns of the session."""
        if self._went_on or self.session is None:
            return not self._is_new
        return self.session.closed or not self.session.lease_is_current

    async def enter(self) -> str | None:
        """Let the turns run here; gives why they cannot. A journal that fails keeps no prompt back."""
        loop = asyncio.get_running_loop()
        entered: asyncio.Future[str | None] = loop.create_future()
        self.put(self._enter, entered, loop.time() + TAKE_OVER_WITHIN)
        with suppress(TimeoutError):
            async with asyncio.timeout(ENTER_WITHIN):
                return await entered
        return None

    async def _enter(self, entered: asyncio.Future[str | None], until: float) -> None:
        why = None
        try:
            if not self._went_on:
                session = await self._usable(max(0.5, until - asyncio.get_running_loop().time()))
                if self._went_on:
                    await self._release(session)
            if self._went_on:
                why = await self._close_at_agent()
        except SessionBusy:
            why = BUSY
        finally:
            if not entered.done():
                entered.set_result(why)

    async def _release(self, session: Session) -> None:
        """Let another process run the turns: its agent can load what this one does not know."""
        self.session = self.prompts = None
        await session.close()

    async def _close_at_agent(self) -> str:
        """Let the agent close the session, so that it reads it when the editor opens it again."""
        if self._refusal is None:
            self._refusal = WENT_ON if await self._host.agent.close_at_agent(self.session_id) else STUCK
        return self._refusal

    # -- prompts -----------------------------------------------------------------------------------

    def prompt(self, params: Params) -> OpenPrompt:
        """Take a prompt that the editor sent."""
        open_prompt = OpenPrompt.of(params)
        self.editor_prompts += 1
        self.put(self._prompt, open_prompt, as_object(as_object(params).get("_meta")) or None)
        return open_prompt

    async def _prompt(self, open_prompt: OpenPrompt, meta: dict[str, Any] | None) -> None:
        self._missed += 1
        session = await self._usable()
        assert self.prompts is not None
        self._tell_of_missed()
        self.prompts.editor_prompts[open_prompt.key] = open_prompt
        prompt = Prompt(content=open_prompt.content, key=open_prompt.key, by=BY, meta=meta, busy="queue")
        if goes_on := self.prompts.events.end_own_turn():  # What the agent says now is about the prompt.
            self._host.leave_to_editor(self.session_id)
        try:
            receipt = await session.carry_out(prompt)
        except BaseException:
            self.prompts.editor_prompts.pop(open_prompt.key, None)
            raise
        self._missed, self.failure = 0, None
        is_behind = next(iter(session.open_state.queue), open_prompt.key) != open_prompt.key
        if receipt.get("turn_id") is None and (is_behind or not goes_on):
            self._waiting[open_prompt.key] = open_prompt
        else:
            await wait_for_event(open_prompt.begun, TURN_WITHIN)

    def _tell_of_missed(self) -> None:
        """Say in the session how many prompts before this one are not in it."""
        if (missed := self._missed - 1) > 0 and self.session is not None:
            self.session.view.emit(missed_prompts(missed, self.failure))
            self._missed = 1

    def answered(self, open_prompt: OpenPrompt, response: Response) -> None:
        """Take the agent's answer to a prompt of the editor's."""
        self.editor_prompts -= 1
        self.put(self._end_prompt, open_prompt, response)

    async def _end_prompt(self, open_prompt: OpenPrompt, response: Response) -> None:
        if as_object(response.result).get("stopReason") != "cancelled":
            self._host.leave_to_editor(self.session_id)  # What works in the background may still need it.
        settle(open_prompt.answer, response)
        has_begun = open_prompt.begun.is_set()
        if has_begun and self.session is not None:
            receipt = self.session.receipt(open_prompt.key)
            async with asyncio.timeout(TURN_WITHIN):
                await self.session.wait_for_ending_turn(receipt and receipt.turn_id)
        open_prompt.stored.set()
        if has_begun:
            await self._next_turn()

    # -- messages for the running turn -------------------------------------------------------------

    def steer(self, params: Params) -> OpenPrompt:
        """Take a message that the editor sent for the turn that runs."""
        message = OpenPrompt.of(params)
        self.put(self._steer, message)
        return message

    async def _steer(self, message: OpenPrompt) -> None:
        if self.editor_prompts and (self.session is None or self.session.closed):
            return  # The turn that it is for is not journalled either.
        session = await self._usable()
        assert self.prompts is not None
        self.prompts.begin_steering(message)
        prompt = Prompt(content=message.content, key=message.key, by=BY)
        self._steered[message.key] = task = asyncio.create_task(session.steering.offer(message.key, prompt))
        task.add_done_callback(retrieve)

    def steered(self, message: OpenPrompt, response: Response) -> None:
        """Take the agent's answer to such a message: what it says next stands behind it."""
        self.put(self._end_steer, message, response)

    async def _end_steer(self, message: OpenPrompt, response: Response) -> None:
        settle(message.answer, response)
        task = self._steered.pop(message.key, None)
        if task is not None:
            await asyncio.wait({task}, timeout=TURN_WITHIN)
        if self.prompts is not None:
            await self._take_begun(message)
            self.prompts.end_steering(message)

    async def _take_begun(self, message: OpenPrompt) -> None:
        """Journal a message with which an idle agent began a turn of its own."""
        answer = message.answer
        outcome = None if answer.exception() else as_object(answer.result()).get("outcome")
        known = self.session is None or self.session.receipt(message.key) is not None
        if outcome == "startedNewTurn" and not known:
            new = new_id("message")
            sent = ev.UserMessage(message_id=new, content=message.content, prompt_id=message.key)
            await self._emit([sent])

    def own_answered(self, own: OwnRequest, response: Response) -> None:
        """Take the agent's answer to a prompt of another client's."""
        self.own_prompts -= 1
        self.put(self._end_own, own, response)

    async def _end_own(self, own: OwnRequest, response: Response) -> None:
        settle(own.future, response)
        await self._next_turn()

    async def _next_turn(self) -> None:
        """Wait until the turn is over, and the next one has begun if one waits: what follows is of that."""
        if self.prompts is None:
            return
        await wait_for_event(self.prompts.over, TURN_WITHIN)
        # The turn that is over may be one of these: its prompt came while the turn before was being stored.
        self._waiting = {key: one for key, one in self._waiting.items() if not one.begun.is_set()}
        if self._waiting:
            await wait_for_event(self.prompts.running, TURN_WITHIN)

    # -- what the agent says -----------------------------------------------------------------------

    def update(self, update: Mapping[str, Any]) -> None:
        """Take an update."""
        self.put(self._take_replayed if self._loading else self._take, update)

    def _take_replayed(self, update: Mapping[str, Any]) -> None:
        if update.get("sessionUpdate") in FACTS:
            self._held.append(update)
        elif not self._known:
            self._replay.add(update)

    def _take(self, update: Mapping[str, Any]) -> Any:
        if self.prompts is None or self.session is None or self.session.closed:
            return None
        return self.prompts.take_update(update)

    async def _emit(self, events: list[ev.AnyEvent]) -> None:
        if self.prompts is not None and (waiting := self.prompts.events.take(events)) is not None:
            await waiting

    def notification(self, method: str, params: Params) -> None:
        """Take a notification that is no update."""
        self.put(self._emit, [ev.Raw(source="acp", payload={"method": method, "params": params})])

    def elicited(self, params: Params) -> None:
        """Take that what a link led to is done."""
        self.put(self._complete, params)

    def _complete(self, params: Params) -> None:
        if self.prompts is not None:
            self.prompts.requests.handle_notification("elicitation/complete", params)

    # -- options -----------------------------------------------------------------------------------

    def configured(self, method: str, params: Mapping[str, Any], result: Any) -> None:
        """Take that the editor set a mode, a model or another option."""
        self.put(self._configure, method, params, as_object(result))

    async def _configure(self, method: str, params: Mapping[str, Any], result: dict[str, Any]) -> None:
        if self.prompts is not None:
            await self._emit(self.prompts.configured(method, params, result))

    # -- ends --------------------------------------------------------------------------------------

    def closed(self, *, deleted: bool) -> None:
        """Take that the editor closed the session, or had it deleted."""
        self.put(self._close, deleted)

    async def _close(self, deleted: bool) -> None:
        session, self.session, self.prompts = self.session, None, None
        if session is not None and not session.closed:
            await session.close()
        if deleted:
            await (await self._host.hub()).delete(self._journal_id)
