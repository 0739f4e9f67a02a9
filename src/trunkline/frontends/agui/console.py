"""AG-UI on a console: every event as it goes over the wire, or what a person would read of it."""

from __future__ import annotations

import logging
import sys
from typing import Any, Literal, TextIO, get_args

from trunkline.errors import ConfigurationError
from trunkline.protocols.agui import wire

log = logging.getLogger("trunkline.agui")

Detail = Literal["full", "brief"]
_ROOM = 200  # characters of a result, where the line is for a person


class ConsoleTransport:
    """Prints events to a file, by default to standard output."""

    def __init__(self, file: TextIO | None = None, detail: Detail = "full") -> None:
        """Made by ``console_transport``."""
        if detail not in get_args(Detail):
            raise ConfigurationError(f"detail is {detail!r}: give one of {', '.join(get_args(Detail))}")
        self._file = file
        self._detail = detail
        self._inside: str | None = None
        self._arguments: dict[str, list[str]] = {}
        self._complained = False

    def emit(self, event: wire.AguiEvent, /) -> None:
        """Print an event; never raises."""
        try:
            self._write(self._line(event) if self._detail == "full" else self._words(event))
        except Exception as error:
            if not self._complained:
                self._complained = True
                log.warning("an event could not be printed: %s", error)

    def _write(self, text: str) -> None:
        if not text:
            return
        file = sys.stdout if self._file is None else self._file
        known = getattr(file, "encoding", None) or "utf-8"
        file.write(_harmless(text).encode(known, "replace").decode(known))
        file.flush()

    def _line(self, event: Any) -> str:
        fields = wire.to_dict(event)
        return f"{fields.pop('type'):<26} {wire.encode(fields).decode()}\n"

    # -- for a person ------------------------------------------------------------------------------

    def _words(self, event: Any) -> str:
        if isinstance(event, wire.TextMessageContent | wire.ReasoningMessageContent):
            return self._go_on(event)
        if isinstance(event, wire.ToolCallArgs):
            self._arguments.setdefault(event.tool_call_id, []).append(event.delta)
            return ""
        line = self._about(event)
        return self._break() + line + "\n" if line else ""

    def _go_on(self, event: wire.TextMessageContent | wire.ReasoningMessageContent) -> str:
        """Go on with the text of a message; another one begins on a line of its own."""
        thinking = isinstance(event, wire.ReasoningMessageContent)
        if self._inside == event.message_id:
            return event.delta
        opening = self._break() + ("(thinking) " if thinking else "")
        self._inside = event.message_id
        return opening + event.delta

    def _break(self) -> str:
        inside, self._inside = self._inside, None
        return "\n" if inside is not None else ""

    def _about(self, event: Any) -> str | None:
        if isinstance(event, wire.RunStarted):
            return f"-- run {event.run_id} of thread {event.thread_id}"
        if isinstance(event, wire.RunFinished):
            return f"-- {_outcome(event)}"
        if isinstance(event, wire.RunError):
            return f"-- failed: {event.message}" + (f" ({event.code})" if event.code else "")
        if isinstance(event, wire.ToolCallStart):
            self._arguments[event.tool_call_id] = [event.tool_call_name, " "]
            return None
        if isinstance(event, wire.ToolCallEnd):
            return "> " + "".join(self._arguments.pop(event.tool_call_id, [event.tool_call_id])).rstrip()
        if isinstance(event, wire.ToolCallResult):
            content = event.content if isinstance(event.content, str) else wire.encode(event.content).decode()
            shown = " ".join(content.split())
            return "< " + (shown if len(shown) <= _ROOM else f"{shown[:_ROOM]}...")
        if isinstance(event, wire.SubagentStarted):
            return f"-- {event.name} begins"
        if isinstance(event, wire.Custom):
            return f"-- {event.name}"
        return None


def _outcome(event: wire.RunFinished) -> str:
    outcome = event.outcome or {}
    kind = outcome.get("type", "success")
    if kind != "interrupt":
        return "done" if kind == "success" else str(kind)
    asked = [item.get("message") or item.get("reason") or item["id"] for item in outcome["interrupts"]]
    return f"waits for an answer: {'; '.join(asked)}"


def _harmless(text: str) -> str:
    """Leave out what would command a terminal: what an agent says is anybody's."""
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in text
    )
