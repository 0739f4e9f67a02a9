"""The loop of ``trunkline chat``: prompts from the keyboard, turns on the screen, questions in between."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import aclosing, suppress

from trunkline import events as ev
from trunkline.agents.interface import Authenticates
from trunkline.cli.chat_questions import KeyboardQuestions
from trunkline.cli.signals import handle_signals
from trunkline.cli.terminal.conversation_text import as_text
from trunkline.cli.terminal.event_lines import EventLines
from trunkline.cli.terminal.keyboard import Keyboard
from trunkline.cli.terminal.screen import Screen
from trunkline.commands import Prompt
from trunkline.conversation import Conversation
from trunkline.errors import AuthenticationRequired, InvalidCommand, SessionError, TrunklineError
from trunkline.folding import Folder
from trunkline.safe_text import escape, one_line
from trunkline.session.reader import Reader
from trunkline.session.session import Session
from trunkline.transports.process.descendants import end_descendants

_INTERRUPTED = 130
_DESCRIPTION_LENGTH = 600


class ChatLoop:
    """One person at one keyboard in one session."""

    def __init__(
        self, session: Session, keyboard: Keyboard, screen: Screen, questions: KeyboardQuestions
    ) -> None:
        """Prepare; ``run`` begins."""
        self._session = session
        self._keyboard = keyboard
        self._screen = screen
        self._keyboard_questions = questions
        self._presses = 0
        self._ended_by: signal.Signals | None = None
        self._turn_id: str | None = None
        self._cancelling: asyncio.Task[None] | None = None
        self._questions: dict[str, ev.Asked] = {}
        self._asking: asyncio.Task[None] | None = None
        self._folder = Folder()
        self._lines = EventLines()
        self._shown_seq = 0

    async def run(self) -> int:
        """Run until the input ends or the person leaves; give the exit code."""
        card = self._session.agent.card
        self._screen.note(f"{one_line(card.title or card.name)} {one_line(card.version)} · /help, /quit")
        if card.description and not self._session.busy:
            said = escape(card.description[:_DESCRIPTION_LENGTH]).splitlines()
            self._screen.note("\n".join(said))
        self._screen.note(f"session {self._session.session_id}")
        left_open = await self._claim_open_turn()
        conversation = await self._session.history()
        if conversation.messages:
            self._screen.note(as_text(self._session.info, conversation))
        with handle_signals(self._interrupt):
            if left_open is not None:
                await self._ask_again(conversation, left_open)
            self._shown_seq = self._session.position.record
            while (line := await self._next_line()) is not None:
                self._presses = 0
                if line in ("/quit", "/exit"):
                    return 0
                if line == "/help":
                    self._help()
                if line and (line != "/help" or self._has_own_help):
                    await self._prompt(line)
        if self._ended_by is not None:
            return 128 + self._ended_by
        return _INTERRUPTED if self._presses else 0

    @property
    def _has_own_help(self) -> bool:
        """Whether the agent has a help too: it is shown below the list of commands."""
        return any(command.name == "help" for command in self._session.view.commands)

    def _help(self) -> None:
        listed = [(one.name, one.description) for one in self._session.view.commands if one.name != "help"]
        rows = [*listed, ("help", "This list"), ("quit", "Leave")]
        self._screen.note(
            "\n".join(f"  /{one_line(name, 30):<18} {one_line(about, 100)}" for name, about in rows)
        )

    async def _next_line(self) -> str | None:
        """Read a line; the turns that the agent begins by itself meanwhile are shown at once."""
        while True:
            async with self._session.follow() as reader:
                reading = asyncio.create_task(self._keyboard_questions.read("> "))
                watching = asyncio.create_task(self._wait_for_agent_turn(reader))
                try:
                    await asyncio.wait({reading, watching}, return_when=asyncio.FIRST_COMPLETED)
                    if not reading.done():
                        reading.cancel()
                        self._screen.note("")
                finally:
                    watching.cancel()
                    await asyncio.wait({reading, watching})
            await self._show_agent_turns()
            if not reading.cancelled():
                return reading.result()

    async def _wait_for_agent_turn(self, reader: Reader) -> None:
        with suppress(TrunklineError):
            async for entry in reader:
                if isinstance(entry.event, ev.TurnStarted) and entry.event.by == "agent":
                    return
        await asyncio.Event().wait()  # The session is closed: the next prompt says so.

    # -- one turn --

    async def _prompt(self, line: str) -> None:
        try:
            await self._turn(line)
        except AuthenticationRequired as error:
            self._screen.note(escape(str(error)))
            if await self._log_in():
                await self._prompt(line)
        except TrunklineError as error:
            self._screen.note(f"error: {escape(str(error))}", style="red")

    async def _log_in(self) -> bool:
        agent = self._session.agent
        methods = [method for method in agent.card.auth_methods if method.kind == "agent"]
        if not methods or not isinstance(agent, Authenticates):
            return False
        names = [f"{method.name}: {method.description or ''}" for method in methods]
        lines = [f"  {number}  {one_line(name)}" for number, name in enumerate(names, 1)]
        self._screen.question("How do you want to log in?", lines)
        chosen = await self._keyboard_questions.choose(names)
        if chosen is None:
            return False
        await agent.authenticate(methods[chosen].method_id)
        return True

    async def _turn(self, line: str) -> None:
        self._folder, self._lines = Folder(), EventLines()
        async with self._session.follow() as reader:
            receipt = await self._session.prompt(Prompt.of(line, busy="reject", by="chat"))
            await self._follow(reader, receipt.turn_id)

    async def _follow(self, reader: Reader, turn_id: str | None) -> None:
        """Show a turn and ask what it asks, until it has ended."""
        self._turn_id = turn_id
        if self._ended_by is not None and turn_id is not None:
            self._stop(turn_id)
        try:
            while self._turn_id is not None:
                entries = await reader.next()
                self._show([e.event for e in entries if e.event.turn_id in (None, turn_id)])
        finally:
            self._turn_id = None
            self._presses = 0  # The one that cancelled this turn is not the first of two that leave.
            await self._stop_asking()
            if self._cancelling is not None:
                await self._cancelling
                self._cancelling = None

    async def _show_agent_turns(self) -> None:
        """Show the turns that the agent began by itself since the last look; wait for the end of one."""
        first, turn_id, events = 0, None, list[ev.AnyEvent]()
        async with aclosing(self._session.replay(self._shown_seq + 1)) as entries:
            async for entry in entries:
                self._shown_seq, event = entry.seq, entry.event
                if isinstance(event, ev.TurnStarted) and event.by == "agent":
                    self._folder, self._lines = Folder(), EventLines()
                    first, turn_id, events = entry.seq, event.turn_id, []
                if turn_id is not None and event.turn_id == turn_id:
                    events.append(event)
                    if isinstance(event, ev.TurnFinished | ev.TurnFailed):
                        self._show([one for one in events if not isinstance(one, ev.Asked | ev.Answered)])
                        turn_id = None
        if turn_id is not None:
            async with self._session.subscribe_from(first) as reader:
                await self._follow(reader, turn_id)

    # -- a turn that an earlier process left open --

    async def _claim_open_turn(self) -> str | None:
        """Settle what a dead process left open; give the turn if it still waits for answers.

        A turn that another process runs stays there: the end of this chat must not end it.
        """
        try:
            if not self._session.busy:
                return None
            if not await self._session.own():
                self._screen.note(
                    "a turn goes on in another process; if that has ended, come back in a few seconds"
                )
                return None
        except TrunklineError as error:
            self._screen.note(f"error: {escape(str(error))}", style="red")
            return None
        return self._session.running_turn_id

    async def _ask_again(self, conversation: Conversation, turn_id: str) -> None:
        """Ask the open questions of a turn again, and follow it."""
        self._folder, self._lines = Folder(conversation), EventLines(conversation)
        open_now = [state.asked for state in conversation.questions.values() if state.answered is None]
        self._questions = {asked.question_id: asked for asked in open_now}
        async with self._session.follow() as reader:
            self._ask()
            await self._follow(reader, turn_id)

    def _show(self, events: list[ev.AnyEvent]) -> None:
        pieces: list[str] = []
        for event in events:
            self._folder.feed(event)
            if isinstance(event, ev.Text) and event.lane is None:
                pieces.append(event.delta)
                continue
            self._screen.say("".join(pieces))
            pieces.clear()
            self._draw(event)
        self._screen.say("".join(pieces))

    def _draw(self, event: ev.AnyEvent) -> None:
        line = self._lines.describe(event)
        if isinstance(event, ev.Plan):
            self._screen.plan(event.entries)
        elif isinstance(event, ev.ToolUpdate) and event.status in ev.FINAL_STATUSES:
            conversation = self._folder.conversation
            self._screen.card(conversation.calls[event.call_id], conversation)
        elif isinstance(event, ev.Asked):
            self._questions[event.question_id] = event
            self._ask()
        elif isinstance(event, ev.Answered):
            self._answered_elsewhere(event)
        elif line is not None:
            self._screen.note(line)
        if isinstance(event, ev.TurnFinished | ev.TurnFailed):
            self._screen.end_answer()
            self._turn_id = None

    # -- questions --

    def _ask(self) -> None:
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask_all())

    async def _ask_all(self) -> None:
        while self._questions:
            asked = next(iter(self._questions.values()))
            call_id = getattr(asked.question, "call_id", None)
            call = self._folder.conversation.calls.get(call_id or "")
            answer = await self._keyboard_questions.answer(asked, call)
            del self._questions[asked.question_id]
            try:
                await self._session.answer(answer)
            except TrunklineError as error:
                self._screen.note(escape(str(error)))
                if isinstance(error, InvalidCommand) and self._turn_id is not None:
                    self._questions[asked.question_id] = asked

    def _answered_elsewhere(self, answered: ev.Answered) -> None:
        """Stop asking what was answered elsewhere."""
        if self._questions.pop(answered.question_id, None) is None:
            return
        self._screen.note(f"\nanswered by {one_line(answered.by or 'another client', 60)}")
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None
        if self._questions:
            self._ask()

    async def _stop_asking(self) -> None:
        self._questions.clear()
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait({self._asking})
            self._asking = None

    # -- signals --

    def _interrupt(self, number: signal.Signals) -> None:
        if number is not signal.SIGINT:
            self._end(number)
            return
        self._presses += 1
        if self._turn_id is not None:
            if self._presses > 1:
                # The journal settles the turn when the session is opened again.
                end_descendants()
                os._exit(_INTERRUPTED)
            self._stop(self._turn_id)
        elif self._presses > 1:
            self._keyboard.close()
        else:
            self._screen.note("\nCtrl-C again, or /quit, leaves")
            self._screen.ask("> ")

    def _end(self, number: signal.Signals) -> None:
        """Cancel the turn and stop reading; an open question stays unanswered."""
        self._ended_by = number
        if self._asking is not None:
            self._asking.cancel()
        if self._turn_id is not None and self._cancelling is None:
            self._stop(self._turn_id)
        self._keyboard.close()

    def _stop(self, turn_id: str) -> None:
        self._cancelling = asyncio.create_task(self._cancel(turn_id))

    async def _cancel(self, turn_id: str) -> None:
        with suppress(SessionError):
            await self._session.cancel(turn_id, by="chat")
