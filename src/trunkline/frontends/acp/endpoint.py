"""The ACP agent side: one client's methods on the sessions of a hub.

Above is the client; below are the hub and its sessions, which outlive this connection. A prompt is
a window on the turn it starts: its updates are written in order, and nothing follows its answer, unless
the turn waits for the person's next message and somebody else is faster.
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
from trunkline.content import Content, TextBlock
from trunkline.cursor import Cursor, Entry
from trunkline.errors import InvalidCommand, SessionNotFound, TrunklineError, WorkspaceError
from trunkline.frontends.acp.closed_words import stop_reason
from trunkline.frontends.acp.config_options import mode_option, modes_to_wire, options_to_wire
from trunkline.frontends.acp.editor import EditorFiles, EditorTerminals
from trunkline.frontends.acp.encoder import AcpEncoder, can_show_forms, commands_update, is_spoken
from trunkline.frontends.acp.history import replay_history
from trunkline.frontends.acp.open_session import Attached, OrderedRequests, Prompting
from trunkline.frontends.acp.prompt_view import PromptView
from trunkline.frontends.acp.request_checks import check_content, check_folders
from trunkline.frontends.acp.session_list import list_sessions
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.content import blocks_from_wire
from trunkline.protocols.acp.lossless import decode
from trunkline.protocols.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND, Params, RpcError
from trunkline.protocols.jsonrpc.connection import Connection, Reply, error_with_details
from trunkline.questions import Permission
from trunkline.session.hub import Hub
from trunkline.session.reader import Reader
from trunkline.session.session import Session

__all__ = ["AcpEndpoint"]

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
        is told the words of exceptions too.
        """
        self._hub = hub
        self._connection = connection
        self._client = client or wire.ClientCapabilities()
        self._principal = principal
        self._may_answer = may_answer
        self._may_follow = may_follow
        self._mcp_reach = mcp_reach
        self._local = local
        self._attached: dict[str, Attached] = {}
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
        """Take a notification; only a cancel means anything to us."""
        if method == "session/cancel":
            request = decode(wire.CancelNotification, params)
            self._cancel(request.session_id)

    def withdraw(self, method: str, params: Params) -> bool:
        """A prompt that is no longer wanted is cancelled properly; anything else may just stop."""
        session_id = params.get("sessionId") if isinstance(params, dict) else None
        if method != "session/prompt" or not isinstance(session_id, str):
            return False
        return self._cancel(session_id)

    def leave(self, session_id: str | None = None) -> None:
        """The client is gone, or stopped to listen to a session: cancel what nobody else follows."""
        for name, attached in self._attached.items():
            if attached.newest is None or session_id not in (None, name):
                continue
            if attached.followed_elsewhere:
                attached.stop()
            else:
                self._cancel(name)

    def give_back(self) -> None:
        """Let the sessions, which live on, work without what the client lent them."""
        for attached in self._attached.values():
            for lent in (attached.files, attached.terminals):
                if lent is not None:
                    attached.session.view.forget(lent)

    # -- authentication ----------------------------------------------------------------------------

    async def _authenticate(self, request: wire.AuthenticateRequest) -> Any:
        methods = {method.method_id: method for method in self._hub.agent.card.auth_methods}
        method = methods.get(request.method_id)
        if method is None:
            known = ", ".join(methods) or "none"
            raise InvalidCommand(f"there is no way {request.method_id!r} to log in; known: {known}")
        if method.kind == "terminal" or not isinstance(self._hub.agent, Authenticates):
            raise InvalidCommand(
                f"{request.method_id!r} is a login in a terminal: run it there, then reconnect"
            )
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
        attached = self._attach(session)
        encoder = AcpEncoder(
            session.session_id,
            self._client,
            terminals=attached.terminal_ids,
            folder=session.view.cwd,
            replay=True,
            quotes=self._mcp_reach is None,
        )
        async for entry in replay_history(session):
            self._send([out for out in encoder.feed(entry) if isinstance(out, bytes)])
            if self._connection.congested:
                await self._connection.drained()
        self._send([out for out in encoder.close() if isinstance(out, bytes)])
        # An open question in words ends the story; requests follow the answer.
        if attached.shown is not None and attached.shown.asked is not None:
            attached.shown.put(attached.shown.asked)
        self._wake(attached, announce=False)
        # "When all the conversation entries have been streamed to the Client, the Agent MUST respond to the
        # original session/load request" (agentclientprotocol.com/protocol/session-setup). The conformance kit
        # takes any update behind that answer for a late one (ACP-LOAD-002).
        self._tell_commands(session)
        attached.commands_due = True
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
        self._attached.pop(request.session_id, None)
        await self._hub.delete(request.session_id, principal=self._principal)
        return {}

    async def _close(self, request: wire.CloseSessionRequest) -> Any:
        attached = self._attached.pop(request.session_id, None)
        session = attached.session if attached is not None else None
        if session is None:
            session = await self._hub.session(request.session_id, principal=self._principal)
        await session.close()
        return {}

    def _servers(self, servers: Sequence[wire.McpServer]) -> list[dict[str, Any]]:
        reach = {} if self._mcp_reach is None else {"reach": list(self._mcp_reach)}
        return [{**msgspec.to_builtins(server), **reach} for server in servers]

    def _reply(self, session: Session, result: dict[str, Any], *, commands: bool = True) -> Reply:
        """Answer with the session's options; right after, the client is told what changes, and the commands.

        Not before: clients that have not read a new session's id yet do not know whose commands they are.
        """
        options = session.view.options
        modes = modes_to_wire(options)
        if modes is not None:
            result["modes"] = modes
        if options:
            result["configOptions"] = options_to_wire(options, boolean=self._boolean)
        return Reply(result, lambda: self._welcome(session, commands))

    def _welcome(self, session: Session, commands: bool) -> None:
        attached = self._attach(session)
        self._watch(attached)
        self._wake(attached)
        if commands:
            self._tell_commands(session)

    def _tell_commands(self, session: Session) -> None:
        commands = session.view.commands
        if commands:
            self._tell(session, commands_update(commands))

    def _tell(self, session: Session, update: dict[str, Any]) -> None:
        self._connection.notify("session/update", {"sessionId": session.session_id, "update": update})

    def _attach(self, session: Session) -> Attached:
        """Let the session use what this client offers."""
        client, view, session_id = self._client, session.view, session.session_id
        attached = self._attached.get(session_id)
        if attached is None:
            attached = self._attached[session_id] = Attached(session)
        attached.session = session
        if not self._may_follow:
            return attached  # What others' turns write would pass through its files and terminals.
        if client.terminal:
            # Without a folder that we can look at, nothing of the editor's is used.
            with contextlib.suppress(WorkspaceError):
                requests = OrderedRequests(self._connection, attached)
                attached.terminals = attached.terminals or EditorTerminals(requests, session_id)
                attached.terminals.move(view.folders)
                view.terminals = attached.terminals
        if client.fs.read_text_file or client.fs.write_text_file:
            with contextlib.suppress(WorkspaceError):
                requests = OrderedRequests(self._connection, attached)
                attached.files = EditorFiles(view.folders, requests, session_id, client.fs)
                view.files = attached.files
        return attached

    def _wake(self, attached: Attached, told: ev.Asked | None = None, *, announce: bool = True) -> None:
        """Put the questions again that a dead process asked, and show what comes of the answers.

        Questions in words are put again whoever asked them, since the next message would answer them;
        ``told`` is one that the client has read. The calls in question are announced, unless a replay did.
        """
        session = attached.session
        questions = list(session.open_questions.values())
        live = [one for one in questions if can_show_forms(self._client) or not is_spoken(one.question)]
        quiet = not live and session.is_suspended
        waits = questions and (quiet or session.waits_for_answers)
        if not (waits and self._may_answer and self._may_follow) or attached.shown is not None:
            return
        # What buttons ask follows once the turn was read again: with the whole call.
        showing = self._show(
            attached, session.last_turn_id or "", session.position, announce=announce and told is None
        )
        if quiet:
            first = session.open_questions.get(told.question_id) if told is not None else None
            asked = first or questions[0]
            if first is not None or not isinstance(asked.question, Permission):
                showing.put(asked, silently=first is not None)

    def _show(
        self, attached: Attached, turn_id: str, after: Cursor | None = None, *, announce: bool = False
    ) -> PromptView:
        attached.showing = PromptView(
            self._connection,
            attached.session,
            self._client,
            turn_id,
            terminals=attached.terminal_ids,
            may_answer=self._may_answer,
            quotes=self._mcp_reach is None,
            after=after,
            announce=announce,
        )
        return attached.showing

    def _watch(self, attached: Attached) -> None:
        """Tell the client what changes in its session outside of turns, from now on."""
        if self._may_follow and attached.watched is not attached.session:
            attached.watched = attached.session
            self._connection.spawn(self._tell_changes(attached, attached.session.follow()))

    async def _tell_changes(self, attached: Attached, reader: Reader) -> None:
        encoder = AcpEncoder(attached.session.session_id, self._client)
        with contextlib.suppress(TrunklineError):
            async with reader:
                while True:
                    # Whole batches: nearly everything is said in turns, and is not for us.
                    for entry in await reader.next():
                        if isinstance(entry.event, ev.TurnStarted) and entry.event.by == "agent":
                            # Updates are legal at any time; the turn's questions are put as well.
                            self._show(attached, entry.event.turn_id or "")
                        elif entry.event.turn_id is None:
                            self._send([out for out in encoder.feed(entry) if isinstance(out, bytes)])
                    if self._connection.congested:
                        await self._connection.drained()

    # -- options -----------------------------------------------------------------------------------

    async def _set_mode(self, request: wire.SetSessionModeRequest) -> Any:
        session = await self._known(request.session_id)
        mode = mode_option(session.view.options)
        if mode is None:
            raise InvalidCommand("this agent has no modes")
        await session.set_config(mode.option_id, request.mode_id, by="acp")
        return {}

    async def _set_option(self, request: wire.SetSessionConfigOptionRequest) -> Any:
        session = await self._known(request.session_id)
        await session.set_config(request.config_id, request.value, by="acp")
        return {"configOptions": options_to_wire(session.view.options, boolean=self._boolean)}

    # -- prompts -----------------------------------------------------------------------------------

    async def _prompt(self, request: wire.PromptRequest) -> Any:
        content = blocks_from_wire(request.prompt)
        check_content(content, self._hub.agent.card.prompt)
        attached = self._find(request.session_id)
        # From here on a cancel is for this prompt, even before its turn has begun.
        prompting = await attached.enter()
        try:
            session = await self._known(request.session_id)
            showing = attached.asking
            if showing is not None and self._is_command(session, content):
                await showing.give_up()
                showing = None
            if showing is not None:
                await showing.reply(content, request.meta)
            else:
                turn_id = await self._begin(session, prompting, content, request.meta)
                if attached.commands_due:
                    # Jupyter AI looks away while a session is loaded.
                    attached.commands_due = False
                    self._tell_commands(session)
                showing = self._show(attached, turn_id)
                prompting.begun.set()
                if prompting.cancelled:
                    self._connection.spawn(session.cancel(turn_id, by="acp"))
            result = _result(await showing.rest())
            self._tell_unused(attached, showing.turn_id)
            return result
        finally:
            attached.leave(prompting)

    def _tell_unused(self, attached: Attached, turn_id: str) -> None:
        """Say once that the agent takes no notice of the client's MCP servers."""
        names = attached.session.view.unread_servers
        if not names or attached.told_unused:
            return
        attached.told_unused = True
        title = "The agent has not looked at the MCP servers of this editor"
        about = f"{', '.join(names)}: an agent uses those that it reads from ctx.session.mcp_servers."
        notice = ev.Notice(turn_id=turn_id, title=title, description=about, severity="warning")
        encoder = AcpEncoder(attached.session.session_id, self._client)
        self._send([out for out in encoder.feed(Entry(0, 0, 0, 0.0, notice)) if isinstance(out, bytes)])

    def _is_command(self, session: Session, content: tuple[Content, ...]) -> bool:
        """Whether a message runs one of the commands that the client was told of."""
        first = content[0]
        words = first.text.split(maxsplit=1) if isinstance(first, TextBlock) else []
        return bool(words) and words[0] in {f"/{one.name}" for one in session.view.commands}

    async def _begin(
        self,
        session: Session,
        prompting: Prompting,
        content: tuple[Content, ...],
        meta: dict[str, Any] | None,
    ) -> str:
        """Start a turn and give its id."""
        if session.waits_for_answers:
            # Its questions wait for answers, and its person has something else to say.
            await session.cancel(session.last_turn_id, by="acp")
        prompt = Prompt(key=prompting.key, content=content, meta=meta, by="acp")
        untitled = session.info.title is None
        turn_id = (await session.prompt(prompt)).turn_id or ""
        if untitled and session.info.title is not None:
            # The first prompt made it, and so it is no event of the turn.
            self._tell(session, {"sessionUpdate": "session_info_update", "title": session.info.title})
        return turn_id

    def _cancel(self, session_id: str) -> bool:
        """Cancel the newest prompt, or the turn that waits for another one; False if there is neither."""
        attached = self._attached.get(session_id)
        prompting = attached.newest if attached is not None else None
        if attached is None:
            return False
        if prompting is not None:
            prompting.cancelled = True
            if prompting is attached.prompting:
                self._connection.spawn(attached.session.cancel(by="acp"))
            return True
        showing = attached.asking
        if showing is None:
            return False
        # Its prompt is answered, but its turn still waits for a message that will not come.
        showing.forget()
        self._connection.spawn(attached.session.cancel(showing.turn_id, by="acp"))
        return True

    def _find(self, session_id: str) -> Attached:
        attached = self._attached.get(session_id)
        if attached is None:
            raise SessionNotFound(f"there is no session {session_id!r} here: create, load or resume it first")
        return attached

    async def _known(self, session_id: str) -> Session:
        """The session of a request; one that was lost or closed is opened again."""
        attached = self._find(session_id)
        if attached.session.closed:
            told = attached.showing.asked if attached.showing is not None else None
            session = await self._hub.session(session_id, principal=self._principal)
            self._watch(self._attach(session))
            if told is not None and session.busy:
                await session.own()
                self._wake(attached, told)
        return attached.session

    def _send(self, lines: list[bytes]) -> None:
        self._connection.send_lines(lines)

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
    }


def _result(terminal: ev.TurnFinished | ev.TurnFailed | None) -> dict[str, Any]:
    if terminal is None:
        return {"stopReason": "end_turn"}
    if isinstance(terminal, ev.TurnFinished):
        result: dict[str, Any] = {"stopReason": stop_reason(terminal.stop_reason)}
        if terminal.usage:
            result["_meta"] = {"trunkline": {"usage": msgspec.to_builtins(terminal.usage)}}
        return result
    log.info("the turn failed: %s, fault: %s", terminal.code, terminal.fault)
    raise error_with_details(INTERNAL_ERROR, terminal.message)
