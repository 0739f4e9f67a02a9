"""Follows a session: draws whatever happens in it, in any process, and asks what is asked.

A turn that another terminal, an editor or a page began is shown like one of our own, and its questions can be
answered here: the first answer counts.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from trunkline import events as ev
from trunkline.cli.terminal.display import Display
from trunkline.cli.terminal.event_lines import EventLines
from trunkline.cli.terminal.questions import KeyboardQuestions
from trunkline.cli.terminal.suggestions import value_text
from trunkline.content import text_of
from trunkline.conversation import Conversation, TextPart
from trunkline.errors import InvalidCommand, TrunklineError
from trunkline.folding import Folder
from trunkline.options import ConfigOption
from trunkline.safe_text import escape, one_line
from trunkline.session.session import Session
from trunkline.session.stream.reader import Reader

_OWNER_CHECK = 2.0
"""Seconds between looks at whether a process that runs a turn is still there."""
_LONGEST_PROMPT = 2000
_STYLES = {"warning": "yellow", "error": "red"}


class Follower:
    """Shows a session and asks its questions, from a position on."""

    def __init__(
        self, session: Session, display: Display, questions: KeyboardQuestions, past: Conversation
    ) -> None:
        """Go on after ``past``, in which a turn may be open."""
        self._session = session
        self._display = display
        self._keyboard_questions = questions
        self._folder, self._lines = Folder(past), EventLines(past)
        self._options = session.view.options
        self._sent: dict[str, asyncio.Future[None]] = {}
        self._queued: set[str] = set()
        self._turn_prompt: str | None = None
        self._state_changed = False
        self._asking: asyncio.Task[None] | None = None
        self._asked: str | None = None
        self._cancelled_here = False
        self._idle: asyncio.Future[None] | None = None
        self.turn_id: str | None = session.running_turn_id
        """The turn that runs or waits, in whatever process."""
        self.questions = {
            state.asked.question_id: state.asked
            for state in past.questions.values()
            if state.answered is None and self.turn_id is not None
        }
        """The questions that are open."""

    async def run(self, reader: Reader) -> None:
        """Show what comes until the session is closed."""
        if self.turn_id is not None:
            self._display.begin_turn()
        if self.questions:
            self._ask()
        watching = asyncio.create_task(self._watch_owner())
        try:
            while True:
                self.show([entry.event for entry in await reader.next()])
        except TrunklineError as error:
            self._display.note(f"error: {escape(str(error))}", style="red")
            self._end_turn()
        finally:
            watching.cancel()
            self.withdraw()
            await asyncio.wait({watching} | ({self._asking} if self._asking is not None else set()))
            for prompt_id in list(self._sent):
                self._finish(prompt_id)

    async def _watch_owner(self) -> None:
        """Settle a turn whose process has ended, so that nobody waits for it."""
        while True:
            await asyncio.sleep(_OWNER_CHECK)
            if self.turn_id is not None and not self._session.is_owner:
                try:
                    await self._session.own()
                except TrunklineError as error:
                    self._display.note(f"error: {escape(str(error))}", style="red")
                    return

    # -- prompts of this chat --

    def expect(self, prompt_id: str) -> asyncio.Future[None]:
        """Give what is done once the turn of a prompt that is about to be sent has ended."""
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sent[prompt_id] = ended
        return ended

    def expect_later(self, prompt_id: str) -> None:
        """Show a prompt again when its turn begins: others stand between."""
        self._queued.add(prompt_id)

    def discard(self, prompt_id: str) -> None:
        """Wait no more for a prompt that was not accepted."""
        self._finish(prompt_id)

    def _finish(self, prompt_id: str | None) -> None:
        ended = self._sent.pop(prompt_id or "", None)
        if ended is not None and not ended.done():
            ended.set_result(None)

    async def idle(self) -> None:
        """Wait until no turn runs, or until nobody is asked any more."""
        if self.turn_id is not None:
            self._idle = self._idle or asyncio.get_running_loop().create_future()
            await asyncio.shield(self._idle)

    def cancelled_here(self) -> None:
        """Remember that this person cancels the turn: the end of its questions is no news then."""
        self._cancelled_here = True

    # -- events --

    def show(self, events: Sequence[ev.AnyEvent]) -> None:
        """Draw events; pieces of text that follow each other at once."""
        pieces: list[str] = []
        for event in events:
            if isinstance(event, ev.TurnStarted):
                self._begin_turn(event)
            self._folder.feed(event)
            if isinstance(event, ev.Text) and event.lane is None:
                pieces.append(event.delta)
                continue
            self._display.say("".join(pieces))
            pieces.clear()
            self._draw(event)
        self._display.say("".join(pieces))

    def _begin_turn(self, event: ev.TurnStarted) -> None:
        self._folder, self._lines = Folder(), EventLines()
        self.turn_id, self._turn_prompt = event.turn_id, event.prompt_id
        self._state_changed = self._cancelled_here = False
        self._display.begin_turn()

    def _draw(self, event: ev.AnyEvent) -> None:
        if isinstance(event, ev.UserMessage):
            self._draw_prompt(event)
        elif isinstance(event, ev.Thought):
            if event.lane is None:
                self._display.think(event.delta)
        elif isinstance(event, ev.Plan):
            self._display.plan(event.entries)
        elif isinstance(event, ev.ToolUpdate):
            self._draw_call(event)
        elif isinstance(event, ev.Asked):
            self.questions[event.question_id] = event
            self._ask()
        elif isinstance(event, ev.Answered):
            self._answered(event)
        elif isinstance(event, ev.ConfigChanged):
            self._draw_options(event.options)
        elif isinstance(event, ev.StateReplaced | ev.StatePatched):
            self._state_changed = True
        elif isinstance(event, ev.PromptDropped):
            if event.prompt_id in self._sent:
                self._display.note(f"not sent: {one_line(event.reason)}", style="yellow")
                self._finish(event.prompt_id)
        elif (line := self._lines.describe(event)) is not None:
            self._display.note(line, style=_style(event))
        if isinstance(event, ev.TurnFinished | ev.TurnFailed):
            if isinstance(event, ev.TurnFinished) and event.stop_reason == "end_turn" and self._is_silent():
                self._display.note("the agent ended its turn without an answer", style="yellow")
            self._end_turn()

    def _is_silent(self) -> bool:
        """Whether nothing of the turn was shown: a person would wait for more."""
        turn = self._folder.conversation
        shown = turn.calls or turn.questions or turn.notices or turn.plan or turn.compactions or turn.lanes
        parts = [part for one in turn.messages if one.role == "agent" for part in one.parts]
        silent = all(isinstance(part, TextPart) and not part.text.strip() for part in parts)
        return silent and not shown and not self._state_changed

    def _draw_prompt(self, event: ev.UserMessage) -> None:
        prompt_id = event.prompt_id or self._turn_prompt
        if prompt_id not in self._sent or prompt_id in self._queued:
            # Sent from elsewhere, or long ago: this person has not seen it here yet.
            self._display.echo("> ", text_of(event.content)[:_LONGEST_PROMPT])
            self._queued.discard(prompt_id or "")
        elif event.prompt_id is not None:
            self._finish(event.prompt_id)  # It joined the turn that runs.

    def _draw_call(self, event: ev.ToolUpdate) -> None:
        conversation = self._folder.conversation
        call = conversation.calls.get(event.call_id)
        if call is None or call.lane is not None:
            if (line := self._lines.describe(event)) is not None:
                self._display.note(line)
        elif event.status in ev.FINAL_STATUSES:
            self._display.card(call, conversation)
        elif self._lines.describe(event) is not None:
            self._display.work(call)

    def _draw_options(self, options: tuple[ConfigOption, ...]) -> None:
        before = {option.option_id: option.value for option in self._options}
        self._options = options
        for option in options:
            if option.option_id in before and before[option.option_id] != option.value:
                self._display.note(f"{one_line(option.name, 60)}: {one_line(value_text(option.value), 60)}")

    def _end_turn(self) -> None:
        if self._state_changed:
            state = json.dumps(self._folder.conversation.state, ensure_ascii=False, default=str)
            self._display.note(f"state: {one_line(state)}")
            self._state_changed = False
        self.turn_id = None
        self.questions.clear()
        self._display.wait_for_person(False)
        self._display.end_turn()
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None  # The next turn may ask before this one has noticed.
        self._finish(self._turn_prompt)
        self._stop_waiting()

    def _stop_waiting(self) -> None:
        if self._idle is not None:
            self._idle.set_result(None)
            self._idle = None

    # -- questions --

    def _ask(self) -> None:
        self._display.wait_for_person(True)
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask_all())

    async def _ask_all(self) -> None:
        while self.questions:
            asked = next(iter(self.questions.values()))
            call_id = getattr(asked.question, "call_id", None)
            call = self._folder.conversation.calls.get(call_id or "")
            self._asked = asked.question_id
            answer = await self._keyboard_questions.answer(asked, call)
            self._asked = None  # From here on its answer is on the way, and must arrive.
            if self._keyboard_questions.input_ended and not self._session.is_owner:
                # The end of our input says nothing about what another process asks.
                self._stop_waiting()
                return
            if self.questions.pop(asked.question_id, None) is None:
                continue
            self._display.wait_for_person(bool(self.questions))
            try:
                await self._session.answer(answer)
            except TrunklineError as error:
                self._display.note(escape(str(error)), style="yellow")
                if isinstance(error, InvalidCommand) and self.turn_id is not None:
                    self.questions[asked.question_id] = asked

    def _answered(self, answered: ev.Answered) -> None:
        """Stop asking what was answered elsewhere."""
        if self.questions.pop(answered.question_id, None) is None:
            return
        self._display.wait_for_person(bool(self.questions))
        if answered.outcome == "expired":
            self._display.note("nobody answered in time", style="yellow")
        elif not (self._cancelled_here or answered.outcome == "cancelled"):
            by = "in another terminal" if answered.by == "chat" else f"by {one_line(answered.by or '?', 60)}"
            self._display.note(f"answered {by}")
        if self._asking is not None and self._asked == answered.question_id:
            # What is typed to another question stays.
            self._asking.cancel()
            self._asking = None
        if self.questions:
            self._ask()

    def withdraw(self) -> None:
        """Ask no more and wait no more: the questions stay open, and what runs goes on."""
        self.questions.clear()
        if self._asking is not None:
            self._asking.cancel()
        self._stop_waiting()


def _style(event: ev.AnyEvent) -> str:
    """Give the colour of a line: what went wrong must be seen."""
    if isinstance(event, ev.Notice):
        return _STYLES.get(event.severity, "dim")
    if isinstance(event, ev.TurnFailed):
        return "red"
    return "yellow" if isinstance(event, ev.TurnFinished) else "dim"
