"""The ACP agent side: one client's methods on the sessions of a hub.

Above is the client; below are the hub and its sessions, which outlive this connection. A prompt is
a window on the turn it starts: its updates are written in order, and nothing follows its answer, unless
the turn waits for the person's next message and another client answers first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar

import msgspec

from trunkline.agents.interface import Authenticates
from trunkline.commands import Prompt
from trunkline.content import Content
from trunkline.errors import InvalidCommand, SessionClosed, SessionNotFound, TrunklineError
from trunkline.frontends.acp.opened_session import OpenedSession, RunningPrompt
from trunkline.frontends.acp.prompt_view import answer_to_prompt
from trunkline.frontends.acp.request_checks import check_content, check_folders, is_command
from trunkline.frontends.acp.session_list import list_sessions
from trunkline.frontends.acp.session_updates import SessionUpdates
from trunkline.frontends.acp.steering import METHOD as STEERING
from trunkline.frontends.acp.steering import PROMPT_REQUIRED, steering_outcome, wants_prompt
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.config_options import mode_option
from trunkline.protocols.acp.content import blocks_from_wire
from trunkline.protocols.acp.lossless import decode
from trunkline.protocols.jsonrpc.connection import Connection, Reply
from trunkline.protocols.jsonrpc.messages import METHOD_NOT_FOUND, Params, RpcError
from trunkline.session.hub import Hub
from trunkline.session.session import Session


class AcpEndpoint:
    """Serves one client."""

    def __init__(
        self,
        hub: Hub,
        connection: Connection,
        client: wire.ClientCapabilities | None = None,
        *,
        principal: str = "local",
        may_answer: bool = True,
        may_follow: bool = True,
        mcp_reach: Sequence[str] | None = None,
        local: bool = False,
    ) -> None:
        """Serve a client that announced these capabilities; one that may not answer is asked nothing.

        One that may not follow is shown the turns that it starts, and nothing else of a session.
        ``mcp_reach`` are the hosts whose MCP servers it may name; None: any, it is on this machine, and
        gets the texts of exceptions too.
        """
        self._hub = hub
        self._connection = connection
        self._client = client or wire.ClientCapabilities()
        self._principal = principal
        self._may_follow = may_follow
        self._mcp_reach = mcp_reach
        self._local = local
        self._open_sessions: dict[str, OpenedSession] = {}
        self._updates = SessionUpdates(
            connection,
            self._client,
            may_answer=may_answer,
            may_follow=may_follow,
            shows_exceptions=mcp_reach is None,
        )

    # -- the handler's side ------------------------------------------------------------------------

    async def handle(self, method: str, params: Params) -> Any:
        """Carry out a request."""
        found = self._methods.get(method)
        if found is None:
            raise RpcError(METHOD_NOT_FOUND, f"method not found: {method}")
        kind, carry_out = found
        return await carry_out(self, decode(kind, {} if params is None else params))

    def handle_notification(self, method: str, params: Params) -> None:
        """Take a notification; only ``session/cancel`` means anything to us."""
        if method == "session/cancel":
            request = decode(wire.CancelNotification, params)
            self._cancel(request.session_id)

    def withdraw(self, method: str, params: Params) -> bool:
        """Cancel the turn of a prompt that the client withdraws; False for any other request."""
        session_id = params.get("sessionId") if isinstance(params, dict) else None
        if method != "session/prompt" or not isinstance(session_id, str):
            return False
        return self._cancel(session_id)

    def detach(self, session_id: str | None = None) -> None:
        """The client is gone, or follows a session no more: cancel the turns that have no other follower."""
        for name, opened in self._open_sessions.items():
            if opened.newest is None or session_id not in (None, name):
                continue
            if opened.followed_elsewhere:
                opened.detach()
            else:
                self._cancel(name)

    def release(self) -> None:
        """Take the client's files and terminals from its sessions, which live on."""
        for opened in self._open_sessions.values():
            for tools in (opened.files, opened.terminals):
                if tools is not None:
                    opened.session.view.discard_tools(tools)

    # -- authentication ----------------------------------------------------------------------------

    async def _authenticate(self, request: wire.AuthenticateRequest) -> Any:
        methods = {method.method_id: method for method in self._hub.agent.card.auth_methods}
        method = methods.get(request.method_id)
        if method is None:
            known = ", ".join(methods) or "none"
            raise InvalidCommand(f"there is no way {request.method_id!r} to log in; known: {known}")
        if method.kind != "agent" or not isinstance(self._hub.agent, Authenticates):
            by_variables = f"by variables: set {', '.join(method.variables)} and start the agent again"
            way = by_variables if method.kind == "env_var" else "in a terminal: run it there, then reconnect"
            raise InvalidCommand(f"{request.method_id!r} is a login {way}")
        await self._hub.agent.authenticate(request.method_id)
        return {}

    async def _logout(self, request: wire.LogoutRequest) -> Any:
        if isinstance(self._hub.agent, Authenticates):
            await self._hub.agent.logout()
        return {}

    # -- sessions ----------------------------------------------------------------------------------

    async def _new(self, request: wire.NewSessionRequest) -> Any:
        check_folders(request.cwd, request.additional_directories, local=self._local)
        session = await self._hub.create(
            principal=self._principal,
            cwd=request.cwd,
            roots=request.additional_directories,
            mcp_servers=self._servers(request.mcp_servers),
            meta=request.meta,
        )
        try:
            await session.prepare()
        except TrunklineError:
            await self._hub.delete(session.session_id, principal=self._principal)
            raise
        return self._reply(session, {"sessionId": session.session_id})

    async def _load(self, request: wire.LoadSessionRequest) -> Any:
        session = await self._reopen(request)
        opened = self._attach(session)
        await self._updates.replay(opened)
        # "When all the conversation entries have been streamed to the Client, the Agent MUST respond to the
        # original session/load request." (https://agentclientprotocol.com/protocol/v1/session-setup) The
        # conformance kit takes any update after that answer for a late one (ACP-LOAD-002).
        self._updates.send_commands(session)
        opened.commands_due = True
        return self._reply(session, {}, commands=False)

    async def _resume(self, request: wire.ResumeSessionRequest) -> Any:
        return self._reply(await self._reopen(request), {})

    async def _reopen(self, request: wire.LoadSessionRequest | wire.ResumeSessionRequest) -> Session:
        check_folders(request.cwd, request.additional_directories, local=self._local)
        session = await self._find_own(request.session_id)
        servers = self._servers(request.mcp_servers)
        session.view.move(request.cwd, request.additional_directories, servers)
        await session.prepare()
        if session.busy:
            await session.own()  # A turn that a dead process left open is settled, or asks again.
        return session

    async def _find_own(self, session_id: str) -> Session:
        session = await self._hub.session(session_id, principal=self._principal)
        if not self._hub.may_run(session.info):
            raise SessionNotFound(f"the session {session_id!r} belongs to another agent: ask for it there")
        return session

    async def _fork(self, request: wire.ForkSessionRequest) -> Any:
        check_folders(request.cwd, request.additional_directories, local=self._local)
        origin = await self._find_own(request.session_id)
        fork = await self._hub.fork(origin)
        servers = self._servers(request.mcp_servers)
        fork.view.move(request.cwd, request.additional_directories, servers)
        await fork.prepare()
        return self._reply(fork, {"sessionId": fork.session_id})

    async def _list(self, request: wire.ListSessionsRequest) -> Any:
        if request.cwd is not None:
            check_folders(request.cwd)
        return await list_sessions(self._hub, self._principal, request.cwd, request.cursor)

    async def _delete(self, request: wire.DeleteSessionRequest) -> Any:
        self._open_sessions.pop(request.session_id, None)
        await self._hub.delete(request.session_id, principal=self._principal)
        return {}

    async def _close(self, request: wire.CloseSessionRequest) -> Any:
        opened = self._open_sessions.pop(request.session_id, None)
        if opened is not None and opened.newest is not None:
            opened.newest.cancelled = True  # It may not have begun yet.
        open_now = self._hub.session
        session = opened.session if opened else await open_now(request.session_id, principal=self._principal)
        await session.close()
        return {}

    def _servers(self, servers: Sequence[wire.McpServer]) -> list[dict[str, Any]]:
        reach = {} if self._mcp_reach is None else {"reach": list(self._mcp_reach)}
        return [{**msgspec.to_builtins(server), **reach} for server in servers]

    def _reply(self, session: Session, result: dict[str, Any], *, commands: bool = True) -> Reply:
        """Answer with the session's options; what else the client should know follows the answer."""
        result |= self._updates.options_of(session)
        return Reply(result, lambda: self._updates.begin(self._attach(session), commands=commands))

    def _attach(self, session: Session) -> OpenedSession:
        """Let the session use what this client offers."""
        opened = self._open_sessions.get(session.session_id)
        if opened is None:
            opened = self._open_sessions[session.session_id] = OpenedSession(session)
        opened.session = session
        # What others' turns write passes through its files and terminals.
        if self._may_follow:
            opened.use_editor(self._connection, self._client)
        return opened

    # -- options -----------------------------------------------------------------------------------

    async def _set_mode(self, request: wire.SetSessionModeRequest) -> Any:
        session = await self._current_session(request.session_id)
        mode = mode_option(session.view.options)
        if mode is None:
            raise InvalidCommand("this agent has no modes")
        await session.set_config(mode.option_id, request.mode_id, by="acp")
        return {}

    async def _set_option(self, request: wire.SetSessionConfigOptionRequest) -> Any:
        session = await self._current_session(request.session_id)
        await session.set_config(request.config_id, request.value, by="acp")
        return {"configOptions": self._updates.options_of(session).get("configOptions", [])}

    # -- prompts -----------------------------------------------------------------------------------

    async def _prompt(self, request: wire.PromptRequest) -> Any:
        # "If there are no pending tool calls, the turn ends and the Agent MUST respond to the original
        # session/prompt request with a StopReason." Updates come before that answer, also after a cancel: "it
        # MUST ensure that it does so before responding to the session/prompt request."
        # (https://agentclientprotocol.com/protocol/v1/prompt-turn)
        content = blocks_from_wire(request.prompt)
        check_content(content, self._hub.agent.card.prompt)
        opened = self._find(request.session_id)
        # From here on a cancel is for this prompt, even before its turn has begun.
        running = await opened.begin_prompt()
        try:
            session = await self._current_session(request.session_id)
            view = opened.asking
            if view is not None and is_command(content, session.view.commands):
                await view.cancel_turn()
                view = None
            if view is not None:
                await view.answer_from_message(content, request.meta)
            else:
                turn_id = await self._start_turn(session, running, content, request.meta)
                if opened.commands_due:
                    # Jupyter AI ignores updates while a session is loaded.
                    opened.commands_due = False
                    self._updates.send_commands(session)
                view = self._updates.show(opened, turn_id)
                running.begun.set()
                if running.cancelled:
                    self._connection.spawn(session.cancel(turn_id, by="acp"))
            result = answer_to_prompt(await view.wait())
            self._updates.warn_of_unused_servers(opened, view.turn_id)
            return result
        except (SessionClosed, SessionNotFound):
            if not running.cancelled:
                raise
            return {"stopReason": "cancelled"}
        finally:
            opened.finish_prompt(running)

    async def _steer(self, request: wire.PromptRequest) -> Any:
        content = blocks_from_wire(request.prompt)
        check_content(content, self._hub.agent.card.prompt)
        needs_turn = wants_prompt(request.meta)
        session = await self._current_session(request.session_id)
        opened = self._find(request.session_id)
        await session.wait_for_ending_turn()
        if needs_turn and not session.busy:
            return PROMPT_REQUIRED
        prompt = Prompt(key=opened.begin_steering(), content=content, by="acp", busy="steer")
        receipt = await session.prompt(prompt)
        if receipt.turn_id and not (receipt.steered or self._may_follow):
            self._updates.show(opened, receipt.turn_id)
        return steering_outcome(receipt)

    async def _start_turn(
        self,
        session: Session,
        running: RunningPrompt,
        content: tuple[Content, ...],
        meta: dict[str, Any] | None,
    ) -> str:
        """Start a turn and give its id."""
        if session.waits_for_answers:
            # Its questions wait for answers, and the person sends another prompt instead.
            await session.cancel(session.last_turn_id, by="acp")
        prompt = Prompt(key=running.key, content=content, meta=meta, by="acp")
        untitled = session.info.title is None
        turn_id = (await session.prompt(prompt)).turn_id or ""
        if untitled and session.info.title is not None:
            # The first prompt made it, and so it is no event of the turn.
            self._updates.send_title(session)
        return turn_id

    def _cancel(self, session_id: str) -> bool:
        """Cancel the newest prompt, or the turn that waits for another one; False if there is neither."""
        if (opened := self._open_sessions.get(session_id)) is None:
            return False
        if (running := opened.newest) is not None:
            running.cancelled = True
            if running is opened.prompt:
                self._connection.spawn(opened.session.cancel(by="acp"))
            return True
        if (view := opened.shown) is None:
            return False
        # Its prompt is answered, but its turn still waits for a message that will not come; or it had none.
        view.stop_waiting()
        self._connection.spawn(opened.session.cancel(view.turn_id, by="acp"))
        return True

    def _find(self, session_id: str) -> OpenedSession:
        opened = self._open_sessions.get(session_id)
        if opened is None:
            raise SessionNotFound(f"there is no session {session_id!r} here: create, load or resume it first")
        return opened

    async def _current_session(self, session_id: str) -> Session:
        """The session of a request; one that was lost or closed is opened again."""
        opened = self._find(session_id)
        if opened.session.closed:
            asked = opened.view.asked if opened.view is not None else None
            session = await self._hub.session(session_id, principal=self._principal)
            self._updates.follow_changes(self._attach(session))
            if asked is not None and session.busy:
                await session.own()
                self._updates.ask_again(opened, asked)
        return opened.session

    _methods: ClassVar[dict[str, tuple[Any, Callable[[AcpEndpoint, Any], Awaitable[Any]]]]] = {
        "authenticate": (wire.AuthenticateRequest, _authenticate),
        "logout": (wire.LogoutRequest, _logout),
        "session/new": (wire.NewSessionRequest, _new),
        "session/load": (wire.LoadSessionRequest, _load),
        "session/resume": (wire.ResumeSessionRequest, _resume),
        "session/fork": (wire.ForkSessionRequest, _fork),
        "session/list": (wire.ListSessionsRequest, _list),
        "session/delete": (wire.DeleteSessionRequest, _delete),
        "session/close": (wire.CloseSessionRequest, _close),
        "session/set_mode": (wire.SetSessionModeRequest, _set_mode),
        "session/set_config_option": (wire.SetSessionConfigOptionRequest, _set_option),
        "session/prompt": (wire.PromptRequest, _prompt),
        STEERING: (wire.PromptRequest, _steer),
    }
