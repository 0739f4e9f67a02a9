"""The loop of ``trunkline chat``: prompts from the keyboard, turns on the screen, questions in between."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable

from trunkline.agents.interface import Authenticates
from trunkline.cli.chat.client_commands import ClientCommands, Edit, GoTo, Leave, Send
from trunkline.cli.chat.follower import Follower
from trunkline.cli.terminal.display import Display
from trunkline.cli.terminal.line_input import LineInput
from trunkline.cli.terminal.past_turns import LAST_TURNS, draw_turns
from trunkline.cli.terminal.questions import KeyboardQuestions
from trunkline.commands import Prompt
from trunkline.cursor import Gap
from trunkline.errors import AuthenticationRequired, SessionError, TrunklineError
from trunkline.safe_text import escape, one_line
from trunkline.session.hub import Hub
from trunkline.session.ids import new_id
from trunkline.session.receipts import Receipt
from trunkline.session.session import Session
from trunkline.transports.process.own_exit_processes import end_descendants

INTERRUPTED = 130
_DESCRIPTION_LENGTH = 600
MARK = "> "


class ChatLoop:
    """One person at one keyboard, in one session after the other."""

    def __init__(
        self,
        hub: Hub,
        session: Session,
        lines: LineInput,
        display: Display,
        resume_line: Callable[[Session], str | None] = lambda session: None,
        *,
        page_link: Callable[[Session], str] | None = None,
        shows_all: bool = False,
    ) -> None:
        """Prepare; ``run`` begins. ``resume_line`` is told to a person who leaves at once.

        ``page_link`` makes a link to a session where a page is served beside the chat.
        """
        self.session = session
        """The session that the person is in now."""
        self._hub = hub
        self._lines = lines
        self._display = display
        self._turns_shown = None if shows_all else LAST_TURNS
        self._resume_line = resume_line
        self._page_link = page_link
        self._questions = KeyboardQuestions(lines, display)
        self._follower: Follower | None = None
        self._sending: asyncio.Task[Receipt] | None = None
        self._cancelling: asyncio.Task[None] | None = None
        self._presses = 0
        self._pressed_in: str | None = None
        """The turn that ran when Ctrl-C was pressed last; None: none did."""
        self._is_over = False
        self._ended_by: signal.Signals | None = None

    async def run(self) -> int:
        """Run until the input ends or the person leaves; give the exit code."""
        self._introduce()
        following: Session | None = self.session
        try:
            while following is not None:
                self.session = following
                following = await self._talk()
        finally:
            self._is_over = True
        if self._ended_by is not None:
            return 128 + self._ended_by
        return INTERRUPTED if self._presses else 0

    def _introduce(self) -> None:
        card = self.session.agent.card
        # "0" is what a card has whose author named no version.
        version = "" if card.version == "0" else one_line(card.version)
        name = f"{one_line(card.title or card.name)} {version}".rstrip()
        self._display.note(f"{name} · /help, /quit", style="bold")
        if card.description and not self.session.busy:
            description = escape(card.description[:_DESCRIPTION_LENGTH]).splitlines()
            self._display.note("\n".join(description))
        if self._page_link is not None:
            # Not dimmed, and broken by the terminal alone: it is to be clicked or copied.
            self._display.note(f"Open  {self._page_link(self.session)}", style="")

    # -- one session --

    async def _talk(self) -> Session | None:
        """Talk in the present session; give the one to go to, or None to leave."""
        session = self.session
        self._display.note(f"session {session.session_id}")
        await self._settle(session)
        position = session.position
        past = await session.history(until=position)
        draw_turns(self._display, past, self._turns_shown)
        if not past.turns:
            self._display.end_turn()
        reader = await session.subscribe(position)
        if isinstance(reader, Gap):
            reader = session.follow()
        self._follower = follower = Follower(session, self._display, self._questions, past)
        async with reader:
            following = asyncio.create_task(follower.run(reader))
            reading = asyncio.create_task(self._read_lines(session, follower))
            try:
                await asyncio.wait({following, reading}, return_when=asyncio.FIRST_COMPLETED)
                if following.done():
                    following.result()  # Nothing can be shown any more: nobody reads our output.
                return await reading
            finally:
                if self._cancelling is not None:
                    await asyncio.wait({self._cancelling})
                reading.cancel()
                following.cancel()
                await asyncio.wait({following, reading})

    async def _settle(self, session: Session) -> None:
        """Settle what a dead process left open; a turn that another process runs goes on there."""
        if session.busy:
            try:
                await session.own()
            except TrunklineError as error:
                self._display.note(f"error: {escape(str(error))}", style="red")

    async def _read_lines(self, session: Session, follower: Follower) -> Session | None:
        commands = ClientCommands(self._hub, session, self._display, self._page_link)
        initial = ""
        await self._wait_for_turn(follower)
        while (line := await self._lines.read(MARK, initial=initial, is_prompt=True)) is not None:
            initial = ""
            self._presses = 0
            if not line.strip():
                continue
            try:
                following = await commands.read(line.strip())
            except TrunklineError as error:
                self._display.note(f"error: {escape(str(error))}", style="red")
                continue
            if isinstance(following, Leave):
                return None
            if isinstance(following, GoTo):
                return following.session
            if isinstance(following, Edit):
                initial = following.text if self._lines.stays_open else ""
            elif isinstance(following, Send):
                await self._prompt(session, follower, following.text)
            await self._wait_for_turn(follower)
        return None

    async def _wait_for_turn(self, follower: Follower) -> None:
        """Wait for the end of what runs, if lines can be read only then; they may be answers."""
        if not self._lines.stays_open:
            await follower.idle()

    # -- prompts --

    async def _prompt(self, session: Session, follower: Follower, text: str) -> None:
        try:
            await self._send(session, follower, text)
        except AuthenticationRequired as error:
            self._display.note(escape(str(error)), style="yellow")
            if await self._log_in(session):
                await self._prompt(session, follower, text)
        except TrunklineError as error:
            self._display.note(f"error: {escape(str(error))}", style="red")

    async def _send(self, session: Session, follower: Follower, text: str) -> None:
        # While a turn runs, the line joins it where the agent can take it, else it waits for its end.
        prompt = Prompt.of(text, key=new_id("prompt"), busy="steer", by="chat")
        ended = follower.expect(prompt.key or "")
        if follower.turn_id is None:
            self._display.begin_turn()
        self._sending = asyncio.create_task(session.prompt(prompt))
        try:
            await asyncio.wait({self._sending})
            receipt = self._sending.result()
        except BaseException as error:
            follower.discard(prompt.key or "")
            if follower.turn_id is None:
                self._display.end_turn()
            if isinstance(error, asyncio.CancelledError) and self._sending.cancelled():
                self._display.note("not sent", style="yellow")
                return
            raise
        finally:
            self._sending.cancel()
            self._sending = None
        if receipt.steered:
            self._display.note("joins the turn that runs")
        elif receipt.turn_id is None:
            self._display.note("queued: it is sent when this turn has ended")
            follower.expect_later(prompt.key or "")
        if not self._lines.stays_open:
            await ended

    async def _log_in(self, session: Session) -> bool:
        agent = session.agent
        methods = [method for method in agent.card.auth_methods if method.kind == "agent"]
        if not methods or not isinstance(agent, Authenticates):
            return False
        names = [f"{method.name}: {method.description or ''}" for method in methods]
        lines = [f"  {number}  {one_line(name)}" for number, name in enumerate(names, 1)]
        self._display.question("How do you want to log in?", (), lines)
        chosen = await self._questions.choose(names)
        if chosen is None:
            return False
        await agent.authenticate(methods[chosen].method_id)
        return True

    # -- signals --

    def interrupt(self, number: signal.Signals = signal.SIGINT) -> None:
        """Cancel what runs; with nothing to cancel, the second time leaves. Other signals end the chat."""
        turn_id = self._follower.turn_id if self._follower is not None else None
        if self._is_over:
            self._presses += number is signal.SIGINT
            if self._presses > 1:  # The agent takes too long to end.
                os._exit(INTERRUPTED)
            return
        if number is signal.SIGINT and turn_id != self._pressed_in:
            # The end of a turn may be seen before its cancel is answered.
            self._presses, self._pressed_in = 0, turn_id
        if number is not signal.SIGINT:
            self._end(number, turn_id)
        elif self._sending is not None and turn_id is None:
            self._sending.cancel()
        elif turn_id is not None:
            self._presses += 1
            if self._presses > 1:
                self._leave_now()
            self._cancel_soon(turn_id)
        elif not self._lines.clear():
            self._presses += 1
            try:
                if self._presses > 1:
                    self._lines.close()
                else:
                    self._display.note("Press Ctrl-C again or type /quit to leave", style="yellow")
                    self._lines.redraw()
            except BrokenPipeError:  # The same Ctrl-C ended the program that reads our output.
                self._lines.close()

    def _end(self, number: signal.Signals, turn_id: str | None) -> None:
        """Cancel a turn of our own and stop reading; an open question stays unanswered."""
        self._ended_by = number
        if self._follower is not None:
            self._follower.withdraw()
        if self._sending is not None:
            self._sending.cancel()
        if turn_id is not None and self.session.is_owner and self._cancelling is None:
            self._cancel_soon(turn_id)
        self._lines.close()

    def _leave_now(self) -> None:
        """End at once: the journal settles the turn when the session is opened again."""
        self._lines.restore()
        with contextlib.suppress(BrokenPipeError):
            if (line := self._resume_line(self.session)) is not None:
                self._display.note(line, style="")
        end_descendants()
        os._exit(INTERRUPTED)

    def _cancel_soon(self, turn_id: str) -> None:
        assert self._follower is not None
        self._follower.cancelled_here()
        self._cancelling = asyncio.create_task(self._cancel(turn_id))

    async def _cancel(self, turn_id: str) -> None:
        try:
            await self.session.cancel(turn_id, by="chat")
        except SessionError as error:
            self._display.note(f"error: {escape(str(error))}", style="red")
        else:
            # The press that cancelled this turn is not the first of two that leave.
            self._presses = 0
