"""Tool calls on the ACP wire.

The content of an update replaces that of the call ("Replace the content collection."
https://agentclientprotocol.com/protocol/v1/schema), so what our events append is gathered here and sent again
as a whole: at most ten times a second while output streams, and no more than its last 64 KB. Arguments are
not streamed at all; they are sent once, when they are complete.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

import orjson
from msgspec.structs import replace

from trunkline import events as ev
from trunkline.content import Content, DiffBlock, TerminalBlock, text_of
from trunkline.frontends.acp.known_words import tool_kind, tool_status
from trunkline.protocols.acp.content import tool_content_to_wire
from trunkline.safe_text import safe_title

OUTPUT_TAIL = 65_536
"""Characters that are kept of what a call, or its terminal, has printed."""

_PAUSE = 0.1


class CallView:
    """What the client was sent of one call, and what waits to be sent."""

    def __init__(
        self,
        event: ev.ToolCall,
        terminals: Collection[str],
        screens: Mapping[str, str],
        folder: str | None = None,
    ) -> None:
        """Begin with the announcement; ``screens`` is what the terminals of ours printed so far.

        ACP's paths are absolute: those of the agent are looked for from ``folder``.
        """
        self.call_id = event.call_id
        self.title = safe_title(event.title or "") or safe_title(event.name)
        self.name = event.name
        self.kind = tool_kind(event.kind)
        self.status: str = "pending"
        self._terminals = terminals
        self._folder = folder
        self._arguments: list[str] = []
        self._input: Any = None
        self._blocks: tuple[Content, ...] = ()
        self._locations: list[dict[str, Any]] = []
        self._output = ""
        self._cut = False
        self._screens = screens
        self._reason: str | None = None
        self._shown_at = float("-inf")
        self.dirty = False
        """Whether output waits to be sent."""

    def announce(self) -> dict[str, Any]:
        """The call as it begins."""
        return {
            "sessionUpdate": "tool_call",
            "toolCallId": self.call_id,
            "title": self.title,
            "name": self.name,
            "kind": self.kind,
            "status": "pending",
        }

    def describe(self) -> dict[str, Any]:
        """The call as a permission request shows it."""
        update: dict[str, Any] = {
            "toolCallId": self.call_id,
            "title": self.title,
            "kind": self.kind,
            "status": tool_status(self.status),
        }
        # They were not sent yet: a client that keeps calls by their updates gets them with the next one.
        given = self._read_arguments() if self._arguments else self._input
        if given is not None:
            update["rawInput"] = given
        if self._locations:
            update["locations"] = self._locations
        if content := self._content():
            update["content"] = content
        return update

    def add_argument(self, delta: str) -> None:
        """Gather a piece of the arguments."""
        self._arguments.append(delta)

    def update(self, event: ev.ToolUpdate, at: float) -> dict[str, Any] | None:
        """Take an update and give what to send now, if anything."""
        changes: dict[str, Any] = {}
        if event.title is not None:
            changes["title"] = self.title = safe_title(event.title) or safe_title(self.name)
        if event.kind is not None:
            changes["kind"] = self.kind = tool_kind(event.kind)
        if event.status is not None:
            self.status = event.status
            changes["status"] = tool_status(event.status)
            if self._arguments:
                self._input = changes["rawInput"] = self._read_arguments()
                self._arguments.clear()
        if event.input is not None:
            self._input = changes["rawInput"] = event.input
            self._arguments.clear()
        if event.locations is not None:
            self._locations = [self._location(location) for location in event.locations]
            changes["locations"] = self._locations
        if event.raw_output is not None:
            changes["rawOutput"] = event.raw_output
        if event.reason is not None:
            self._reason = event.reason
        if self._reason is not None and changes.get("status") == "failed":
            self.dirty = True
        if event.content is not None:
            self._blocks = tuple(self._placed(block) for block in event.content)
            self.dirty = True
        if event.output:
            self._append(event.output)
        return self._changes_to_send(changes, at, urgent=bool(changes) or event.content is not None)

    def watches(self, terminal_id: str) -> bool:
        """Whether the call shows this terminal and the client does not draw it by itself."""
        return terminal_id not in self._terminals and any(
            isinstance(block, TerminalBlock) and block.terminal_id == terminal_id for block in self._blocks
        )

    def refresh(self, at: float) -> dict[str, Any] | None:
        """Show what a terminal of ours printed."""
        self.dirty = True
        return self._changes_to_send({}, at, urgent=False)

    def flush(self) -> dict[str, Any] | None:
        """Give what still waits."""
        return self._changes_to_send({}, 0.0, urgent=True)

    def _append(self, text: str) -> None:
        self._output += text
        if len(self._output) > OUTPUT_TAIL:
            self._output = self._output[-OUTPUT_TAIL:]
            self._cut = True
        self.dirty = True

    def _changes_to_send(self, update: dict[str, Any], at: float, *, urgent: bool) -> dict[str, Any] | None:
        if self.dirty and (urgent or at - self._shown_at >= _PAUSE):
            update["content"] = self._content()
            self.dirty = False
            self._shown_at = max(at, self._shown_at)
        if not update:
            return None
        return {"sessionUpdate": "tool_call_update", "toolCallId": self.call_id, **update}

    def _content(self) -> list[dict[str, Any]]:
        shown: list[dict[str, Any]] = []
        for block in self._blocks:
            if isinstance(block, TerminalBlock) and block.terminal_id not in self._terminals:
                shown.append(_text(self._screens.get(block.terminal_id, "")))
            else:
                shown.append(tool_content_to_wire(block, self._terminals))
        if self._output:
            shown.append(_text(("...\n" if self._cut else "") + self._output))
        if self._reason is not None and tool_status(self.status) == "failed" and not self._says_reason():
            shown.append(_text(f"{self.status.capitalize()}: {self._reason}"))
        return shown

    def _says_reason(self) -> bool:
        """Whether the content is the reason already, which a failed tool's result often is."""
        return self._reason is not None and text_of(self._blocks).startswith(self._reason)

    def _location(self, location: ev.Location) -> dict[str, Any]:
        path = self._absolute(location.path)
        return {"path": path} if location.line is None else {"path": path, "line": location.line}

    def _placed(self, block: Content) -> Content:
        return replace(block, path=self._absolute(block.path)) if isinstance(block, DiffBlock) else block

    def _absolute(self, path: str) -> str:
        if self._folder is None or os.path.isabs(path):
            return path
        return os.path.normpath(os.path.join(self._folder, path))

    def _read_arguments(self) -> Any:
        """The arguments so far; text that is not JSON is sent as it is."""
        text = "".join(self._arguments)
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            return text


def _text(text: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": text}}
