"""What a client is sent of its sessions besides answers: updates, commands, and questions asked again."""

from __future__ import annotations

import contextlib
from typing import Any

from trunkline import events as ev
from trunkline.cursor import Cursor, Entry
from trunkline.errors import TrunklineError
from trunkline.frontends.acp.encoder import AcpEncoder, Out, can_show_forms, commands_update, needs_text
from trunkline.frontends.acp.history import replay_history
from trunkline.frontends.acp.opened_session import OpenedSession
from trunkline.frontends.acp.prompt_view import PromptView
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.config_options import modes_to_wire, options_to_wire
from trunkline.protocols.jsonrpc.connection import Connection
from trunkline.questions import Permission
from trunkline.session.session import Session
from trunkline.session.stream.reader import Reader


class SessionUpdates:
    """Tells one client of its sessions."""

    def __init__(
        self,
        connection: Connection,
        client: wire.ClientCapabilities,
        *,
        may_answer: bool,
        may_follow: bool,
        shows_exceptions: bool,
    ) -> None:
        self._connection = connection
        self._client = client
        self._may_answer = may_answer
        self._may_follow = may_follow
        self._shows_exceptions = shows_exceptions
        session = client.session
        options = session.config_options if session is not None else None
        self._boolean = options is not None and options.boolean is not None

    # -- a session is opened -----------------------------------------------------------------------

    def options_of(self, session: Session) -> dict[str, Any]:
        """Give a session's options and modes, for an answer."""
        options = session.view.options
        found: dict[str, Any] = {}
        modes = modes_to_wire(options)
        if modes is not None:
            found["modes"] = modes
        if options:
            found["configOptions"] = options_to_wire(options, boolean=self._boolean)
        return found

    def begin(self, opened: OpenedSession, *, commands: bool) -> None:
        """Send what follows the answer that opened a session: later changes, its questions, its commands.

        A client that has not read the id of a new session yet does not know whose commands they are.
        """
        self.follow_changes(opened)
        self.ask_again(opened)
        if commands:
            self.send_commands(opened.session)

    def send_commands(self, session: Session) -> None:
        """Send the commands of a session, if it has any."""
        commands = session.view.commands
        if commands:
            self._send_update(session, commands_update(commands))

    def send_title(self, session: Session) -> None:
        """Send the title of a session."""
        self._send_update(session, {"sessionUpdate": "session_info_update", "title": session.info.title})

    def _send_update(self, session: Session, update: dict[str, Any]) -> None:
        self._connection.notify("session/update", {"sessionId": session.session_id, "update": update})

    async def replay(self, opened: OpenedSession) -> None:
        """Send the history of a session, and the questions that are open in it."""
        session = opened.session
        encoder = AcpEncoder(
            session.session_id,
            self._client,
            terminals=opened.terminal_ids,
            folder=session.view.cwd,
            replay=True,
            shows_exceptions=self._shows_exceptions,
        )
        async for entry in replay_history(session):
            self._send(encoder.feed(entry))
            if self._connection.congested:
                await self._connection.drained()
        self._send(encoder.close())
        # An open question in text ends the history; requests follow the answer.
        if opened.shown is not None and opened.shown.asked is not None:
            opened.shown.ask_in_text(opened.shown.asked)
        self.ask_again(opened, announce=False)

    def ask_again(
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
        view = self.show(
            opened, session.last_turn_id or "", session.position, announce=announce and sent is None
        )
        if quiet:
            first = session.open_questions.get(sent.question_id) if sent is not None else None
            asked = first or questions[0]
            if first is not None or not isinstance(asked.question, Permission):
                view.ask_in_text(asked, was_sent=first is not None)

    def show(
        self, opened: OpenedSession, turn_id: str, after: Cursor | None = None, *, announce: bool = False
    ) -> PromptView:
        """Show the client a turn."""
        opened.view = PromptView(
            self._connection,
            opened.session,
            self._client,
            turn_id,
            terminals=opened.terminal_ids,
            may_answer=self._may_answer,
            shows_exceptions=self._shows_exceptions,
            own_prompts=opened.steering,
            after=after,
            announce=announce,
        )
        return opened.view

    # -- what happens in a session -----------------------------------------------------------------

    def follow_changes(self, opened: OpenedSession) -> None:
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
                            self.show(opened, entry.event.turn_id or "")
                        elif entry.event.turn_id is None:
                            self._send(encoder.feed(entry))
                    if self._connection.congested:
                        await self._connection.drained()

    def warn_of_unused_servers(self, opened: OpenedSession, turn_id: str) -> None:
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

    def _send(self, outs: list[Out]) -> None:
        self._connection.send_lines([out for out in outs if isinstance(out, bytes)])
