"""BaseTurn: what every turn does, whoever drives it: its own task, or the caller's in the user's program.

It makes events of what an agent emits, adds up tokens, and ends calls that were shown for a permission. Here
a turn ends: its questions are withdrawn, exactly one terminal is emitted, and nothing follows it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import msgspec

from trunkline import events as ev
from trunkline.content import Block, Content, TextBlock
from trunkline.errors import AgentProtocolError
from trunkline.grammar.event_check import well_formed
from trunkline.session.context import TurnContext
from trunkline.session.questions import OpenQuestions
from trunkline.session.turns.usage import Account, add_usage


class BaseTurn:
    """The part of a turn that does not depend on who drives it."""

    ctx: TurnContext

    def __init__(
        self, turn_id: str, agent_name: str, questions: OpenQuestions, put: Callable[[ev.Event], None]
    ) -> None:
        """Emit with ``put``, which takes an event as it is, also after the turn has ended."""
        self.turn_id = turn_id
        self.terminal: ev.TurnFinished | ev.TurnFailed | None = None
        self._agent_name = agent_name
        self._open_questions = questions
        self._put = put
        self._live = True
        self._held: list[str] = []
        self._usage: Account = {}

    @property
    def live(self) -> bool:
        """Whether the turn can still emit events."""
        return self._live

    def count(self, usage: ev.TokenUsage) -> None:
        """Add tokens to the turn's account."""
        add_usage(self._usage, usage)

    def hold(self, call_id: str) -> None:
        """Remember a call that was shown for a permission; it ends when the agent goes on."""
        self._held.append(call_id)

    def _release_held(self) -> None:
        held, self._held = self._held, []
        for call_id in held:
            self._put(ev.ToolUpdate(turn_id=self.turn_id, call_id=call_id, status="completed"))

    def _release_held_before(self, event: ev.Event) -> None:
        if self._held and not isinstance(event, ev.ToolUpdate | ev.TerminalOutput):
            self._release_held()

    def _event_of(self, item: Any) -> ev.Event:
        """Make an event of what an agent emits; anything else raises AgentProtocolError."""
        if isinstance(item, ev.Event):
            return self.ctx.in_message(item) if type(item) is ev.ToolCall else item
        if isinstance(item, TextBlock):
            item = item.text
        if isinstance(item, str):
            return ev.Text(turn_id=self.turn_id, message_id=self.ctx.message_id, delta=str.__str__(item))
        if isinstance(item, Block):
            content = cast("Content", item)
            return ev.Media(turn_id=self.turn_id, message_id=self.ctx.message_id, content=content)
        raise AgentProtocolError(
            f"{self._agent_name} gave an object of type {type(item).__name__}: "
            "give text, an event (trunkline.events) or a content block (trunkline.content); "
            "a function that makes an agent takes one parameter, session"
        )

    def _end(self, terminal: ev.TurnFinished | ev.TurnFailed) -> bool:
        """Settle what is open and emit the terminal; False when the turn has ended already."""
        if not self._live:
            return False
        cancelled = isinstance(terminal, ev.TurnFinished) and terminal.stop_reason == "cancelled"
        if isinstance(terminal, ev.TurnFailed):
            terminal = msgspec.structs.replace(terminal, message=well_formed(terminal.message))
        elif not cancelled:
            self._release_held()
        if self._usage and not terminal.usage:
            terminal = msgspec.structs.replace(terminal, usage=tuple(self._usage.values()))
        self._live = False
        self.terminal = terminal
        self._open_questions.withdraw_all("cancelled" if cancelled else "expired", "the turn ended")
        self._put(terminal)
        return True


def with_well_formed_text(event: ev.Text) -> ev.Text:
    """Give a text that every wire and the journal can carry."""
    if event.delta.isascii():
        return event
    return msgspec.structs.replace(event, delta=well_formed(event.delta))
