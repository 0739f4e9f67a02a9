"""What an agent said in one turn and one lane, in order: the content of its ``assistant`` message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trunkline.frontends.unified.tool_calls import CallView
from trunkline.protocols.unified.wire import TextContent, ThinkingContent, UnifiedContent

__all__ = ["TurnContent"]


class TurnContent:
    """Gathers text, reasoning and calls in the order in which they came."""

    def __init__(self) -> None:
        self._parts: list[tuple[str, str, list[str]] | UnifiedContent] = []
        """Pieces of a text (its kind, its message), calls by id, and whole contents."""
        self.sources: list[dict[str, Any]] = []

    def __bool__(self) -> bool:
        return bool(self._parts or self.sources)

    def add_piece(self, kind: str, message_id: str, delta: str) -> None:
        """Add a piece of text or reasoning; it goes on with a piece of the same message before it."""
        last = self._parts[-1] if self._parts else None
        if isinstance(last, tuple) and last[0] == kind and last[1] == message_id:
            last[2].append(delta)
        elif delta:
            self._parts.append((kind, message_id, [delta]))

    def add_call(self, call_id: str) -> None:
        """Add a call at this place; its arguments may come later."""
        self._parts.append(("call", call_id, []))

    def add(self, *contents: UnifiedContent) -> None:
        """Add whole contents."""
        self._parts.extend(contents)

    def contents(self, calls: Mapping[str, CallView]) -> tuple[UnifiedContent, ...]:
        """Give everything so far."""
        made: list[UnifiedContent] = []
        for part in self._parts:
            if not isinstance(part, tuple):
                made.append(part)
            elif part[0] == "call":
                made.append(calls[part[1]].use())
            else:
                text = "".join(part[2])
                made.append(TextContent(text) if part[0] == "text" else ThinkingContent(text))
        return tuple(made)

    @property
    def last_text(self) -> str:
        """The last text that was said."""
        texts = (part[2] for part in reversed(self._parts) if isinstance(part, tuple) and part[0] == "text")
        found: list[str] = next(texts, list[str]())
        return "".join(found)
