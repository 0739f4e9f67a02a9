"""The ACP agent side: one client's methods on the sessions of a hub.

Above is the client; below are the hub and its sessions, which outlive this connection. A prompt is
a window on the turn it starts: its updates are written in order, and nothing follows its answer, unless
the turn waits for the person's next message and another client answers first.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar

import msgspec

from trunkline import events as ev
from trunkline.agents.interface import Authenticates
from trunkline.commands import Prompt
from trunkline.content import Content
from trunkline.cursor import Cursor, Entry
from trunkline.errors import InvalidCommand, SessionClosed, SessionNotFound, TrunklineError, WorkspaceError
from trunkline.frontends.acp.editor import EditorFiles, EditorTerminals
from trunkline.frontends.acp.encoder import AcpEncoder, Out, can_show_forms, commands_update, needs_text
from trunkline.frontends.acp.history import replay_history
from trunkline.frontends.acp.opened_session import OpenedSession, OrderedRequests, RunningPrompt
from trunkline.frontends.acp.prompt_view import PromptView, answer_to_prompt
from trunkline.frontends.acp.request_checks import check_content, check_folders, is_command
from trunkline.frontends.acp.session_list import list_sessions
from trunkline.frontends.acp.steering import METHOD as STEERING
from trunkline.frontends.acp.steering import PROMPT_REQUIRED, steering_outcome, wants_prompt
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.config_options import mode_option, modes_to_wire, options_to_wire
from trunkline.protocols.acp.content import blocks_from_wire
from trunkline.protocols.acp.lossless import decode
from trunkline.protocols.jsonrpc.connection import Connection, Reply
from trunkline.protocols.jsonrpc.messages import METHOD_NOT_FOUND, Params, RpcError
from trunkline.questions import Permission
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.session.stream.reader import Reader

log = logging.getLogger("trunkline.acp")


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
        self._may_answer = may_answer
        self._may_follow = may_follow
        self._mcp_reach = mcp_reach
        self._local = local
        self._open_sessions: dict[str, OpenedSession] = {}
        session = self._client.session
        options = session.config_options if session is not None else None
        self._boolean = options is not None and options.boolean is not None

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
        encoder = AcpEncoder(
            session.session_id,
            self._client,
            terminals=opened.terminal_ids,
            folder=session.view.cwd,
            replay=True,
            shows_exceptions=self._mcp_reach is None,
        )
        async for entry in replay_history(session):
            self._send(encoder.feed(entry))
            if self._connection.congested:
                await self._connection.drained()
        self._send(encoder.close())
        # An open question in text ends the history; requests follow the answer.
        if opened.shown is not None and opened.shown.asked is not None:
            opened.shown.ask_in_text(opened.shown.asked)
        self._ask_again(opened, announce=False)
        # "When all the conversation entries have been streamed to the Client, the Agent MUST respond to the
        # original session/load request." (https://agentclientprotocol.com/protocol/v1/session-setup) The
        # conformance kit takes any update after that answer for a late one (ACP-LOAD-002).
        self._send_commands(session)
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
        """Answer with the session's options; the commands and later changes are sent after the answer.

        A client that has not read the id of a new session yet does not know whose commands they are.
        """
        options = session.view.options
        modes = modes_to_wire(options)
        if modes is not None:
            result["modes"] = modes
        if options:
            result["configOptions"] = options_to_wire(options, boolean=self._boolean)
        return Reply(result, lambda: self._send_after_reply(session, commands))

    def _send_after_reply(self, session: Session, commands: bool) -> None:
        opened = self._attach(session)
        self._follow_changes(opened)
        self._ask_again(opened)
        if commands:
            self._send_commands(session)

    def _send_commands(self, session: Session) -> None:
        commands = session.view.commands
        if commands:
            self._send_update(session, commands_update(commands))

    def _send_update(self, session: Session, update: dict[str, Any]) -> None:
        self._connection.notify("session/update", {"sessionId": session.session_id, "update": update})

    def _attach(self, session: Session) -> OpenedSession:
        """Let the session use what this client offers."""
        client, view, session_id = self._client, session.view, session.session_id
        opened = self._open_sessions.get(session_id)
        if opened is None:
            opened = self._open_sessions[session_id] = OpenedSession(session)
        opened.session = session
        if not self._may_follow:
            return opened  # What others' turns write would pass through its files and terminals.
        if client.terminal:
            # Without a folder that we can look at, nothing of the editor's is used.
            with contextlib.suppress(WorkspaceError):
                requests = OrderedRequests(self._connection, opened)
                opened.terminals = opened.terminals or EditorTerminals(requests, session_id)
                opened.terminals.move(view.folders)
                view.terminals = opened.terminals
        if client.fs.read_text_file or client.fs.write_text_file:
            with contextlib.suppress(WorkspaceError):
                requests = OrderedRequests(self._connection, opened)
                opened.files = EditorFiles(view.folders, requests, session_id, client.fs)
                view.files = opened.files
        return opened

    def _ask_again(
        self, opened: OpenedSession, sent: ev.Asked | None = None, *, announce: bool = True
    ) -> None:
        """Ask the questions of an earlier process again, and show what comes of the answers.

        Questions in text are always asked again, because the next message would answer them; ``sent`` is one
        that the client has read. The calls of the questions are announced, unless a replay did.
        """
        session = opened.session
        questions = list(session.open_questions.values())
        live = [one for one in questions if can_show_forms(self._client) or not needs_text(one.question)]
        quiet = not live and session.is_suspended
        waits = questions and (quiet or session.waits_for_answers)
        if not (waits and self._may_answer and self._may_follow) or opened.shown is not None:
            return
        # Requests follow once the turn was read again: with the whole call.
        view = self._show(
            opened, session.last_turn_id or "", session.position, announce=announce and sent is None
        )
        if quiet:
            first = session.open_questions.get(sent.question_id) if sent is not None else None
            asked = first or questions[0]
            if first is not None or not isinstance(asked.question, Permission):
                view.ask_in_text(asked, was_sent=first is not None)

    def _show(
        self, opened: OpenedSession, turn_id: str, after: Cursor | None = None, *, announce: bool = False
    ) -> PromptView:
        opened.view = PromptView(
            self._connection,
            opened.session,
            self._client,
            turn_id,
            terminals=opened.terminal_ids,
            may_answer=self._may_answer,
            shows_exceptions=self._mcp_reach is None,
            own_prompts=opened.steering,
            after=after,
            announce=announce,
        )
        return opened.view

    def _follow_changes(self, opened: OpenedSession) -> None:
        """Send the client what changes in its session outside of turns, from now on."""
        if self._may_follow and opened.followed is not opened.session:
            opened.followed = opened.session
            self._connection.spawn(self._send_changes(opened, opened.session.follow()))

    async def _send_changes(self, opened: OpenedSession, reader: Reader) -> None:
        encoder = AcpEncoder(opened.session.session_id, self._client)
        with contextlib.suppress(TrunklineError):
            async with reader:
                while True:
                    # Whole batches: nearly all events are of turns, and are not sent here.
                    for entry in await reader.next():
                        if isinstance(entry.event, ev.TurnStarted) and opened.is_shown(entry.event):
                            # Updates are legal at any time; the turn's questions are asked as well.
                            self._show(opened, entry.event.turn_id or "")
                        elif entry.event.turn_id is None:
                            self._send(encoder.feed(entry))
                    if self._connection.congested:
                        await self._connection.drained()

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
        return {"configOptions": options_to_wire(session.view.options, boolean=self._boolean)}

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
                    self._send_commands(session)
                view = self._show(opened, turn_id)
                running.begun.set()
                if running.cancelled:
                    self._connection.spawn(session.cancel(turn_id, by="acp"))
            result = answer_to_prompt(await view.wait())
            self._warn_of_unused_servers(opened, view.turn_id)
            return result
        except (SessionClosed, SessionNotFound):
            if not running.cancelled:
                raise
            return {"stopReason": "cancelled"}
        finally:
            opened.finish_prompt(running)

    def _warn_of_unused_servers(self, opened: OpenedSession, turn_id: str) -> None:
        """Warn once if the agent does not read the client's MCP servers."""
        names = opened.session.view.unread_servers
        if not names or opened.warned_of_unused_servers:
            return
        opened.warned_of_unused_servers = True
        title = "The agent has not looked at the MCP servers of this editor"
        about = f"{', '.join(names)}: an agent uses those that it reads from ctx.session.mcp_servers."
        notice = ev.Notice(turn_id=turn_id, title=title, description=about, severity="warning")
        encoder = AcpEncoder(opened.session.session_id, self._client)
        self._send(encoder.feed(Entry(0, 0, 0, 0.0, notice)))

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
            self._show(opened, receipt.turn_id)
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
            self._send_update(session, {"sessionUpdate": "session_info_update", "title": session.info.title})
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
            self._follow_changes(self._attach(session))
            if asked is not None and session.busy:
                await session.own()
                self._ask_again(opened, asked)
        return opened.session

    def _send(self, outs: list[Out]) -> None:
        self._connection.send_lines([out for out in outs if isinstance(out, bytes)])

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
