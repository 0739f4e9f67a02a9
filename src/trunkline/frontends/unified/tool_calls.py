"""One tool call, as far as its messages need to know it."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from trunkline import events as ev
from trunkline.content import Content, text_of
from trunkline.frontends.unified.content_blocks import acp_content
from trunkline.protocols.unified.wire import ToolUseContent

__all__ = ["CallView"]

_OUTPUT_TAIL = 65_536
"""Characters of appended output that are kept for the result."""


class CallView:
    """What is known of a call."""

    def __init__(self, call_id: str, name: str = "", *, lane: str | None = None) -> None:
        self.call_id = call_id
        self.name = name
        self.lane = lane
        self.message_id: str | None = None
        """The message that announced it."""
        self.title: str | None = None
        self.kind: str = "other"
        self.status: str = "pending"
        self.locations: tuple[ev.Location, ...] = ()
        self.content: tuple[Content, ...] = ()
        self.raw_output: Any = None
        self.reason: str | None = None
        self.output = ""
        self.arguments: list[str] = []
        self._input: Any = None

    def apply(self, event: ev.ToolUpdate) -> None:
        """Take what an update changes."""
        for name in ("status", "title", "kind", "locations", "content", "raw_output", "reason"):
            value = getattr(event, name)
            if value is not None:
                setattr(self, name, value)
        if event.input is not None:
            self._input = event.input
        if event.output is not None:
            self.output = (self.output + event.output)[-_OUTPUT_TAIL:]

    @property
    def is_final(self) -> bool:
        """Whether the call has ended."""
        return self.status in ev.FINAL_STATUSES

    @property
    def is_error(self) -> bool:
        """Whether it ended otherwise than well."""
        return self.is_final and self.status != "completed"

    @property
    def input(self) -> dict[str, Any]:
        """The arguments, by name; those that came in pieces count once they are whole."""
        value = self._input
        if value is None and self.arguments:
            try:
                value = msgspec.json.decode("".join(self.arguments))
            except msgspec.DecodeError:
                value = None
        if value is None:
            return {}
        return cast("dict[str, Any]", value) if isinstance(value, dict) else {"input": value}

    def use(self) -> ToolUseContent:
        """Give the call as content."""
        return ToolUseContent(id=self.call_id, name=self.name, input=self.input)

    def result_text(self) -> str:
        """Give what came of it as one text."""
        text = text_of(self.content) or self.output
        if not text and self.raw_output is not None:
            raw = self.raw_output
            text = raw if isinstance(raw, str) else msgspec.json.encode(raw).decode()
        return "\n".join(part for part in (text, self.reason) if part)

    def described(self) -> dict[str, Any]:
        """Give the call in the shape of ACP, as a permission request shows it."""
        found: dict[str, Any] = {
            "toolCallId": self.call_id,
            "title": self.title or self.name,
            "kind": self.kind,
            "status": self.status,
            "rawInput": self.input,
        }
        if self.content:
            found["content"] = acp_content(self.content)
        if self.locations:
            found["locations"] = msgspec.to_builtins(list(self.locations))
        return found
