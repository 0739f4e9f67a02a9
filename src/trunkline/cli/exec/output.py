"""The output of ``trunkline exec``: events as lines, one JSON object, or text for a person."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any, Literal, Protocol

import click
import msgspec

from trunkline import events as ev
from trunkline.cli.journals import SHORT
from trunkline.cli.output import Output
from trunkline.cli.terminal.approval_text import cut_lines, lines_of_proposal
from trunkline.cli.terminal.event_lines import EventLines
from trunkline.conversation import Call, Conversation
from trunkline.folding import Folder
from trunkline.questions import Permission
from trunkline.safe_text import PieceEscaper, escape_json

Format = Literal["text", "json", "events"]


class Printer(Protocol):
    """Shows a turn."""

    async def begin(self, session_id: str) -> None:
        """Say which session it is."""

    def go_on(self, conversation: Conversation) -> None:
        """Go on with a turn that an earlier process left open."""

    async def show(self, events: Sequence[ev.AnyEvent]) -> None:
        """Show events."""

    async def end(self, turn_id: str | None, denied: bool) -> None:
        """Show what is left after the terminal."""


class EventsPrinter:
    """Each event as a line of JSON, as it happens."""

    def __init__(self, output: Output) -> None:
        self._output = output

    async def begin(self, session_id: str) -> None:
        """Say which session it is, apart from the events."""
        click.echo(f"session {session_id}", err=True)

    def go_on(self, conversation: Conversation) -> None:
        """Print nothing: only what happens now is printed."""

    async def show(self, events: Sequence[ev.AnyEvent]) -> None:
        """Print a batch with one write."""
        await self._output.write(escape_json(b"".join(ev.encode_event(event) + b"\n" for event in events)))

    async def end(self, turn_id: str | None, denied: bool) -> None:
        """Print nothing: every event is printed already."""


class JsonPrinter:
    """The whole turn as one JSON object, at its end."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._session_id = ""
        self._folder = Folder()

    async def begin(self, session_id: str) -> None:
        """Remember the session."""
        self._session_id = session_id

    def go_on(self, conversation: Conversation) -> None:
        """Begin with what the turn was so far."""
        self._folder = Folder(conversation)

    async def show(self, events: Sequence[ev.AnyEvent]) -> None:
        """Fold the events."""
        for event in events:
            self._folder.feed(event)

    async def end(self, turn_id: str | None, denied: bool) -> None:
        """Print the object."""
        conversation = self._folder.conversation
        result = {
            "session_id": self._session_id,
            "turn_id": turn_id,
            **_outcome(conversation, turn_id),
            "denied": denied,
        }
        await self._output.write(escape_json(msgspec.json.encode(result)) + b"\n")


def _outcome(conversation: Conversation, turn_id: str | None) -> dict[str, Any]:
    turn = next(one for one in conversation.turns if one.turn_id == turn_id)
    error = {"code": turn.code, "message": turn.message, "fault": turn.fault}
    own = [message for message in conversation.messages if message.turn_id == turn_id]
    answers = [message.text for message in own if message.role == "agent" and message.lane is None]
    return {
        "stop_reason": turn.stop_reason,
        "error": error if turn.status == "failed" else None,
        "text": "\n\n".join(text for text in answers if text),
        "calls": [_call(call) for call in conversation.calls.values() if call.turn_id == turn_id],
        "plan": [
            {"content": e.content, "status": e.status, "priority": e.priority} for e in conversation.plan
        ],
        "notices": [
            {"severity": n.severity, "title": n.title, "text": n.description} for n in conversation.notices
        ],
        "usage": turn.usage,
        "title": conversation.title,
    }


def _call(call: Call) -> dict[str, Any]:
    given = call.input
    if given is None and call.arguments:
        try:
            given = json.loads(call.arguments)
        except ValueError:
            given = call.arguments
    return {
        "call_id": call.call_id,
        "name": call.name,
        "title": call.title,
        "kind": call.kind,
        "status": call.status,
        "lane": call.lane,
        "input": given,
        "output": call.output,
        "raw_output": call.raw_output,
        "reason": call.reason,
    }


class TextPrinter:
    """The answer on stdout as it comes; everything else as dim lines on stderr."""

    def __init__(
        self, output: Output, *, asks: bool = False, keeps: bool = True, name: str | None = None
    ) -> None:
        """With ``asks`` questions are shown elsewhere, where a person answers them.

        ``keeps`` is whether the session outlives this process; ``name`` is what the person calls it.
        """
        self._output = output
        self._asks = asks
        self._keeps = keeps
        self._name = name
        self._lines = EventLines()
        self._calls = Folder()
        self._message_id: str | None = None
        self._escaper = PieceEscaper()
        self._in_line = False
        self._dim = sys.stderr.isatty() and not os.environ.get("NO_COLOR")

    async def begin(self, session_id: str) -> None:
        """Say how to go on later."""
        hint = f" (resume with --session {self._name or session_id[:SHORT]})" if self._keeps else ""
        await self._note(f"session {session_id}{hint}")

    def go_on(self, conversation: Conversation) -> None:
        """Take over the names of its calls."""
        self._lines = EventLines(conversation)
        self._calls = Folder(conversation)

    async def show(self, events: Sequence[ev.AnyEvent]) -> None:
        """Print the answer's text, and lines for other events."""
        pieces: list[str] = []
        for event in events:
            if isinstance(event, ev.Text) and event.lane is None:
                pieces += self._piece(event)
                continue
            if isinstance(event, ev.ToolCall | ev.ToolInput | ev.ToolUpdate):
                self._calls.feed(event)
            if self._asks and isinstance(event, ev.Asked):
                await self._write(pieces)
                pieces = []
                await self._begin_line()
                continue
            if line := self._lines.describe(event):
                await self._write(pieces)
                pieces = []
                await self._note("\n".join([line, *self._proposal(event)]))
        await self._write(pieces)

    async def end(self, turn_id: str | None, denied: bool) -> None:
        """End the last line."""
        await self._write([self._escaper.end(), "\n"] if self._in_line else [])

    def _piece(self, event: ev.Text) -> list[str]:
        # A pipe or a file gets exactly what the agent said; only a terminal would obey it.
        pieces: list[str] = []
        if self._message_id not in (None, event.message_id):
            # Another message is another paragraph.
            pieces = [self._escaper.end(), "\n\n" if self._in_line else "\n"]
        pieces.append(self._escaper.feed(event.delta) if self._output.is_terminal else event.delta)
        self._message_id = event.message_id
        self._in_line = not event.delta.endswith("\n")
        return pieces

    def _proposal(self, event: ev.AnyEvent) -> list[str]:
        """What a permission is about, below its question."""
        if not isinstance(event, ev.Asked) or not isinstance(event.question, Permission):
            return []
        call = self._calls.conversation.calls.get(event.question.call_id)
        cut = cut_lines([] if call is None else lines_of_proposal(call, event.question.message))
        more = [f"{cut.about}: --format events shows all"] if cut.about else []
        return [f"  {line}" for line in [*cut.lines, *more]]

    async def _write(self, pieces: list[str]) -> None:
        if pieces:
            await self._output.write("".join(pieces).encode(self._output.encoding, "backslashreplace"))

    async def _begin_line(self) -> None:
        """End the line of the answer where something else is shown below it."""
        if self._in_line and self._output.shows_notes:
            await self._write([self._escaper.end(), "\n"])
            self._in_line = False

    async def _note(self, line: str) -> None:
        await self._begin_line()
        click.echo(click.style(line, dim=True) if self._dim else line, err=True)
