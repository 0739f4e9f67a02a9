"""What a chat can show, whether it is drawn on a terminal or written into a pipe."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from trunkline.conversation import Call, Conversation
from trunkline.events import PlanEntry


class Display(Protocol):
    """Shows a conversation. Text of an agent may be anything; lines and notes must be safe already."""

    def say(self, text: str) -> None:
        """Add to the answer."""

    def think(self, text: str) -> None:
        """Add to the agent's reasoning."""

    def end_answer(self) -> None:
        """Show what is left of the answer."""

    def note(self, line: str, style: str = "dim") -> None:
        """Show a line that is not part of the answer."""

    def ask(self, mark: str) -> None:
        """Show the mark of an input line that a terminal edits by itself, or that comes from a pipe."""

    def echo(self, mark: str, line: str) -> None:
        """Show a line that a person has sent."""

    def plan(self, entries: Iterable[PlanEntry]) -> None:
        """Show a plan as a list."""

    def work(self, call: Call) -> None:
        """Show that a call runs."""

    def card(self, call: Call, conversation: Conversation) -> None:
        """Show a call that has ended, with what it was given and what it gave."""

    def question(
        self, message: str, about: Iterable[str], choices: Iterable[str] = (), *, more: str | None = None
    ) -> bool:
        """Show a question, what it is about and the choices a person has; true when all of it is shown.

        ``about`` must be safe already. With ``more``, which says how to see all, a long one is cut.
        """
        ...

    def begin_turn(self) -> None:
        """Show that the agent works."""

    def wait_for_person(self, waits: bool) -> None:
        """Show whether the turn waits for an answer, so that the agent does not seem to work."""

    def end_turn(self) -> None:
        """Show that it works no more."""
