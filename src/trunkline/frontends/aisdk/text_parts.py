"""Text and reasoning parts of one message, and the steps in it."""

from __future__ import annotations

from typing import Literal

from trunkline.protocols.aisdk.wire import Chunk, JsonObject

__all__ = ["Parts"]

Out = list[Chunk]
Kind = Literal["text", "reasoning"]


class Parts:
    """What is open in one message: at most one text or reasoning, and a step."""

    def __init__(self) -> None:
        self.text_id: str | None = None
        """The message whose text is open."""
        self.part_id = ""
        """The id of the open part."""
        self.step = 0
        """Counts the steps; a call belongs to the one in which it began."""
        self.has_any = False
        """Whether the message has a part."""
        self._kind: Kind | None = None
        self._message_id = ""
        self._counts: dict[str, int] = {}
        self._in_step = False
        self._is_used = False

    def touch(self) -> None:
        """Note that the step has a part."""
        self._is_used = self.has_any = True

    def add(self, kind: Kind, message_id: str, delta: str, metadata: JsonObject) -> Out:
        """Say a piece; a part of another kind or message ends first."""
        out: Out = []
        if self._kind != kind or self._message_id != message_id:
            out = self.close()
            out += self._open(kind, message_id)
        if delta or metadata:
            chunk: Chunk = {"type": f"{kind}-delta", "id": self.part_id, "delta": delta}
            if metadata:
                chunk["providerMetadata"] = metadata
            out.append(chunk)
        return out

    def _open(self, kind: Kind, message_id: str) -> Out:
        number = self._counts[message_id] = self._counts.get(message_id, -1) + 1
        self._kind, self._message_id, self.part_id = kind, message_id, f"{message_id}:{number}"
        self.text_id = message_id if kind == "text" else None
        self.touch()
        return [{"type": f"{kind}-start", "id": self.part_id}]

    def close(self, metadata: JsonObject | None = None) -> Out:
        """End the open part."""
        if self._kind is None:
            return []
        chunk: Chunk = {"type": f"{self._kind}-end", "id": self.part_id}
        if metadata:
            chunk["providerMetadata"] = metadata
        self._kind = self.text_id = None
        return [chunk]

    def discard(self) -> None:
        """Begin a new response: it has nothing open, so what goes on is a part of its own."""
        self._kind = self.text_id = None
        self._in_step = False

    # -- steps -------------------------------------------------------------------------------------

    def start_step(self, *, always: bool = False) -> Out:
        """Begin a step; one in which nothing was said goes on instead."""
        if self._in_step and not self._is_used and not always:
            return []
        out = [*self.close(), *self.end_step()]
        self._in_step, self._is_used = True, False
        self.step += 1
        return [*out, {"type": "start-step"}]

    def end_step(self) -> Out:
        """End the step, if one is open."""
        if not self._in_step:
            return []
        self._in_step = False
        return [{"type": "finish-step"}]
