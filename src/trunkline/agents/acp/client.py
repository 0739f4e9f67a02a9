"""AcpClient: an ACP agent for a program that wants a client and nothing else.

No hub, no journal, no front end: one agent process, one session, updates as they are on the wire.

::

    async with AcpClient("claude-code-acp", cwd="/workspace") as client:
        client.set_update_callback(print)
        await client.ensure_session()
        result = await client.prompt("Hello")
        assert result.stop_reason == "end_turn"
"""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self, cast

from trunkline.agents.acp.connection import AgentConnection, command_line
from trunkline.agents.acp.errors import translate_error
from trunkline.agents.acp.initialize import capability, card_of, initialize_params
from trunkline.agents.acp.replayed_updates import KeptUpdates
from trunkline.agents.acp.requests.client_requests import ClientRequests, FormAnswers, PermissionAnswers
from trunkline.agents.acp.requests.permission_options import PermissionRequest
from trunkline.agents.acp.requests.permission_requests import Permission
from trunkline.agents.acp.update_delivery import Callback, UpdateDelivery
from trunkline.agents.interface import AgentCard
from trunkline.content import Content
from trunkline.errors import AgentError, AgentExited, AuthenticationRequired, InvalidCommand, SessionBusy
from trunkline.events import AnyEvent, TokenUsage
from trunkline.protocols.acp.content import block_to_wire
from trunkline.protocols.acp.profiles import Profile, profile_for
from trunkline.protocols.acp.prompt_result import turn_finished
from trunkline.protocols.acp.replay import decode_replay
from trunkline.protocols.jsonrpc.messages import NoAnswer, RpcError
from trunkline.questions import Form
from trunkline.state_files import StateFile, protect_state_folder

__all__ = ["AcpClient", "PromptResult"]

log = logging.getLogger("trunkline.acp")

SESSION_WITHIN = 120.0
"""Seconds for the answer to session/new, load and resume."""
CLOSE_WITHIN = 5.0
"""Seconds for the answer to session/close."""
CANCEL_WITHIN = 5.0
"""Seconds that a prompt waits for the one before, if that was cancelled."""

Block = Content | Mapping[str, Any]
_WAYS = {"session/load": ("loadSession",), "session/resume": ("sessionCapabilities", "resume")}
"""How a session is opened again, in this order, and the capability that each needs."""


class PromptResult(NamedTuple):
    """How a prompt ended."""

    stop_reason: str
    usage: tuple[TokenUsage, ...]
    answer: dict[str, Any]
    """The agent's answer as it came."""


class AcpClient:
    """One agent process and one session of it; use it as an async context manager, or connect it."""

    def __init__(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        cwd: str | os.PathLike[str],
        env: Mapping[str, str] | None = None,
        permission: Permission = "ask",
        session_meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Prepare; nothing runs yet.

        ``cwd`` is the agent's folder: its files and commands stay inside of it, as far as they are ours.
        ``env`` are variables besides the user's own. ``permission`` is ``"allow"`` (once), ``"refuse"``, a
        function that is given a PermissionRequest, or ``"ask"``, which asks the function of
        ``set_permission_callback`` and refuses without one. ``session_meta`` is the ``_meta`` of session/new.
        """
        self.command_line = command_line(command, args)
        self.cwd = os.path.abspath(cwd)
        self.session_id: str | None = None
        """The session at the agent; None before ``ensure_session``."""
        self.replayed: list[AnyEvent] = []
        """What the agent replayed when the session was loaded."""
        self._env = env
        self._session_meta = session_meta
        self._permissions = PermissionAnswers(permission)
        self._forms = FormAnswers()
        self._offers_forms = False
        self._requests = ClientRequests(self.cwd, self._permissions)
        self._updates = UpdateDelivery()
        self._connection: AgentConnection | None = None
        self._connecting = asyncio.Lock()
        self._lock = asyncio.Lock()
        self._prompt: asyncio.Future[Any] | None = None
        protect_state_folder()
        self._kept = StateFile("acp-sessions", *self.command_line, "in", self.cwd)

    async def __aenter__(self) -> Self:
        """Connect."""
        await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Disconnect."""
        await self.disconnect()

    # -- the process -------------------------------------------------------------------------------

    async def connect(self) -> None:
        """Start the agent and do the handshake; does nothing while it runs.

        Raises AgentCommandNotFound ("Agent command not found: X"), HandshakeFailed or another AgentError.
        """
        async with self._connecting:
            if self._connection is None or self._connection.ended.is_set():
                await self._close_connection()
                await self._start()

    async def _start(self) -> None:
        profile = profile_for({}, self.command_line)
        command, *args = self.command_line
        connection = AgentConnection(command, args, cwd=self.cwd, env=self._env)
        params = initialize_params(fs=profile.files, meta=profile.client_meta)
        del params["clientCapabilities"]["elicitation"]
        self._offers_forms = self._forms.ask is not None
        if self._offers_forms:
            params["clientCapabilities"]["elicitation"] = {"form": {}}
        try:
            await connection.spawn()
            await connection.handshake(params)
        except BaseException:
            await connection.close(grace=0)
            raise
        self._connection = connection
        self._requests = ClientRequests(
            self.cwd, self._permissions, self._forms if self._offers_forms else None, self._profile
        )

    async def disconnect(self) -> None:
        """End the agent and all that it started.

        A prompt that runs ends as cancelled, if the agent still says so, or else fails with AgentExited.
        """
        await self._close_connection()

    async def _close_connection(self) -> None:
        connection, self._connection, self.session_id = self._connection, None, None
        if connection is not None:
            await connection.close(interrupt=self._is_busy)
        self._updates.close()
        await self._requests.close()

    @property
    def initialize(self) -> dict[str, Any]:
        """The agent's answer to ``initialize``; empty before ``connect``."""
        return {} if self._connection is None else self._connection.initialize

    @property
    def card(self) -> AgentCard:
        """The agent as it describes itself: name, version, what a prompt may contain, ways to log in."""
        return card_of(self.initialize, os.path.basename(self.command_line[0]))

    @property
    def stderr(self) -> str:
        """The end of what the agent wrote on stderr."""
        return "" if self._connection is None else self._connection.stderr

    async def authenticate(self, method_id: str) -> None:
        """Log in by one of ``card.auth_methods`` whose kind is ``agent``."""
        await self.connect()
        known = [method.method_id for method in self.card.auth_methods if method.kind == "agent"]
        if method_id not in known:
            raise InvalidCommand(
                f"it cannot log in by {method_id!r}; it can by: {', '.join(known) or 'none'}"
            )
        await self._request("authenticate", {"methodId": method_id}, timeout=None)

    # -- functions of the program ------------------------------------------------------------------

    def set_update_callback(self, callback: Callback | None) -> None:
        """Give each update of the session to a function, plain or async, one after another.

        It gets the ``update`` of session/update as it is on the wire, also while a session is loaded. The
        agent waits for an async function, so it must not wait for a prompt itself.
        """
        self._updates.callback = callback

    def set_permission_callback(self, callback: Callable[[PermissionRequest], Any] | None) -> None:
        """Ask a function for permissions, plain or async; for ``permission="ask"``.

        It gives the id or the kind of an option, True or False; None is a no.
        """
        self._permissions.ask = callback

    def set_form_callback(self, callback: Callable[[Form], Any] | None) -> None:
        """Let a function, plain or async, fill in the agent's forms; set it before ``connect``.

        It is given a Form (``message``, and ``fields`` as a JSON schema) and gives the values by the names of
        the fields, or None to decline. An agent's question tool is on only for clients that offer forms.
        """
        running = self._connection is not None and not self._connection.ended.is_set()
        if running and callback is not None and not self._offers_forms:
            raise InvalidCommand(
                "forms are offered to the agent when it starts: set the form callback before connect()"
            )
        self._forms.ask = callback

    # -- sessions ----------------------------------------------------------------------------------

    async def ensure_session(self) -> str:
        """Open the session of this command and folder, and give its id.

        The last one is loaded, or else resumed; or else a new one is made. Each error leads to the next way,
        with a warning; an agent that ended is started again.
        """
        async with self._lock:
            await self.connect()
            if self.session_id is not None:
                return self.session_id
            known = (self._kept.load() or {}).get("session_id")
            for method in _WAYS if isinstance(known, str) else ():
                if await self._reopen(method, cast("str", known)):
                    return cast("str", known)
            return await self._begin()

    async def new_session(self) -> str:
        """Begin a new session instead of the present one, and give its id."""
        async with self._lock:
            await self.connect()
            self._check_idle()
            return await self._begin()

    async def _reopen(self, method: str, session_id: str) -> bool:
        """Load or resume a session; False, with a warning, if that cannot be done."""
        why: object = "it does not offer it"
        if capability(self.initialize, *_WAYS[method]):
            replay = KeptUpdates()
            try:
                await self._open(method, session_id, replay)
                if replay.is_full:
                    log.warning("%s replays more than is kept: `replayed` lacks the end", self.card.name)
                self.replayed = decode_replay(replay.updates, profile=self._profile)
                return True
            except (RpcError, TimeoutError, AgentExited) as error:
                why = str(error) or f"no answer within {SESSION_WITHIN:g} s"
                await self.connect()
        log.warning("%s: %s of %s failed: %s", self.card.name, method, session_id, why)
        return False

    async def _begin(self) -> str:
        meta = {} if self._session_meta is None else {"_meta": dict(self._session_meta)}
        connection = self._connected()
        with connection.opening(self._requests):
            answer = await self._request("session/new", self._session_params(**meta), SESSION_WITHIN)
        session_id = answer.get("sessionId")
        if not isinstance(session_id, str):
            raise AgentError(f"{self.card.name} answered session/new without a sessionId")
        if self.session_id is not None:
            connection.detach(self.session_id)
        self.replayed = []
        self._take(connection, session_id)
        return session_id

    def _take(self, connection: AgentConnection, session_id: str) -> None:
        """Make a session the present one, in other processes too."""
        self.session_id = session_id
        try:
            self._kept.store({"session_id": session_id, "command": self.command_line, "cwd": self.cwd})
        except OSError as error:
            log.warning("the session cannot be remembered: %s", error)
        connection.attach(session_id, self._deliver, self._requests)

    def _deliver(self, update: Mapping[str, Any]) -> Awaitable[None] | None:
        self._requests.take_update(update)
        return self._updates.deliver(update)

    async def _open(self, method: str, session_id: str, replay: KeptUpdates) -> None:
        connection = self._connected()

        def take(update: Mapping[str, Any]) -> Any:
            replay.add(update)
            return self._updates.deliver(update)

        # The history comes before the answer.
        connection.attach(session_id, take, self._requests)
        try:
            await connection.request(method, self._session_params(sessionId=session_id), SESSION_WITHIN)
        except BaseException:
            connection.detach(session_id)
            raise
        self._take(connection, session_id)
        await self._updates.delivered()

    def _session_params(self, **fields: Any) -> dict[str, Any]:
        return {"cwd": self.cwd, "mcpServers": [], **fields}

    async def replay(self, session_id: str) -> list[AnyEvent]:
        """Give what was said in a session of the agent, as events; ``fold`` makes a conversation of them.

        The present session stays the present one, and the update callback hears nothing of this.
        """
        async with self._lock:
            await self.connect()
            if not capability(self.initialize, "loadSession"):
                raise AgentError(f"{self.card.name} cannot load sessions, and so it replays none")
            if session_id == self.session_id:
                self._check_idle()
            replay = KeptUpdates()
            connection = self._connected()
            connection.attach(session_id, replay.add, self._requests)
            try:
                await self._request(
                    "session/load", self._session_params(sessionId=session_id), SESSION_WITHIN
                )
            finally:
                connection.detach(session_id)
                if session_id == self.session_id:
                    connection.attach(session_id, self._deliver, self._requests)
            if session_id != self.session_id and capability(self.initialize, "sessionCapabilities", "close"):
                await self._close_session(session_id)
            if replay.is_full:
                raise AgentError(f"{self.card.name} replays more of {session_id!r} than can be kept")
            return decode_replay(replay.updates, profile=self._profile)

    async def _close_session(self, session_id: str) -> None:
        """Let the agent free a session that was only read; what it replayed counts also if it cannot."""
        try:
            await self._request("session/close", {"sessionId": session_id}, CLOSE_WITHIN)
        except AgentError as error:
            log.warning("%s keeps the session %s open: %s", self.card.name, session_id, error)

    # -- prompts -----------------------------------------------------------------------------------

    async def prompt(self, content: str | Block | Iterable[Block]) -> PromptResult:
        """Send a prompt, and give how it ended, when every update of it has been delivered.

        ``content`` is text, or blocks: dicts as ACP has them, or blocks of ``trunkline.content``. Opens the
        session if there is none, also after the agent ended. A prompt whose task is cancelled is
        cancelled at the agent.
        """
        blocks = _blocks(content)
        session_id = await self.ensure_session()
        if self._is_busy and self._requests.is_cancelled:
            await asyncio.wait({cast("asyncio.Future[Any]", self._prompt)}, timeout=CANCEL_WITHIN)
            if self._is_busy:
                raise SessionBusy(
                    f"{self.card.name} goes on with a prompt that was cancelled: disconnect() ends it"
                )
        self._check_idle()
        connection = self._connected()
        self._requests.begin_turn()
        params = {"sessionId": session_id, "prompt": blocks}
        self._prompt = future = connection.ask("session/prompt", params)
        # A task that is cancelled leaves the prompt to its end at the agent.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            answer = await asyncio.shield(future)
        except asyncio.CancelledError:
            await self.cancel()
            raise
        except NoAnswer:
            raise connection.gone() from None
        except RpcError as error:
            raise self._explain(error, "the prompt") from None
        await self._updates.delivered()
        ended = turn_finished(answer, self._profile)
        given = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
        return PromptResult(ended.stop_reason, ended.usage, given)

    async def cancel(self) -> None:
        """Cancel the prompt that runs, if one does: it ends with the stop reason ``cancelled``.

        Permissions that the agent waits for, and those that it still asks for, are answered with "cancelled"
        (https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation).
        """
        if self._is_busy and self.session_id is not None and not self._requests.is_cancelled:
            self._requests.cancel_turn()
            self._connected().notify("session/cancel", {"sessionId": self.session_id})

    @property
    def _is_busy(self) -> bool:
        return self._prompt is not None and not self._prompt.done()

    def _check_idle(self) -> None:
        if self._is_busy:
            raise SessionBusy("a prompt runs: wait for it, or cancel() it first")

    # -- requests ----------------------------------------------------------------------------------

    @property
    def _profile(self) -> Profile:
        return profile_for(self.initialize, self.command_line)

    def _connected(self) -> AgentConnection:
        if self._connection is None:
            raise AgentExited(f"{self.command_line[0]} is not connected: connect() first")
        return self._connection

    async def _request(self, method: str, params: dict[str, Any], timeout: float | None) -> dict[str, Any]:
        try:
            answer = await self._connected().request(method, params, timeout)
        except RpcError as error:
            raise self._explain(error, method) from None
        except TimeoutError:
            why = f"did not answer {method} within {timeout:g} s"
            raise AgentError(self._connected().blame(why, self.card.name)) from None
        return cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}

    def _explain(self, error: RpcError, what: str) -> AgentError:
        explained = translate_error(error, what, self.card)
        if isinstance(explained, AuthenticationRequired):
            return explained.advise(f"acp:{shlex.join(self.command_line)}")
        return explained


def _blocks(content: str | Block | Iterable[Block]) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, Mapping):
        return [dict(cast("Mapping[str, Any]", content))]
    if isinstance(content, Content):
        return [block_to_wire(content)]
    return [dict(one) if isinstance(one, Mapping) else block_to_wire(one) for one in content]
