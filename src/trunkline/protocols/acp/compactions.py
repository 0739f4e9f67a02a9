"""Compactions of an agent's context: upserts, and summaries that come in pieces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trunkline import events as ev
from trunkline.content import Content, text_of
from trunkline.protocols.acp.content import block_from_wire
from trunkline.protocols.acp.fields import as_list, as_object, text_in


class Compactions:
    """The compactions of a turn that have not ended."""

    def __init__(self) -> None:
        """Know of none."""
        self._open: dict[str, list[Content]] = {}

    def take(self, update: Mapping[str, Any]) -> ev.Compaction | None:
        """Take ``compaction_update`` or ``compaction_summary_chunk``; None if it cannot be read."""
        compaction_id = text_in(update, "compactionId")
        status: Any = "in_progress"
        items: list[Any] = [update.get("content")]
        if update.get("sessionUpdate") == "compaction_update":
            status, items = text_in(update, "status"), as_list(update.get("summary"))
        blocks = [block for item in items if (block := block_from_wire(item)) is not None]
        if compaction_id is None or status is None or len(blocks) < len(items):
            return None
        if update.get("sessionUpdate") == "compaction_summary_chunk":
            # "A first-seen ID creates an in-progress compaction. Chunks append in receive order."
            blocks = [*self._open.get(compaction_id, []), *blocks]
        if status == "in_progress":
            self._open[compaction_id] = blocks or self._open.get(compaction_id, [])
        else:
            self._open.pop(compaction_id, None)
        return ev.Compaction(
            meta=as_object(update.get("_meta")) or None,
            compaction_id=compaction_id,
            status=status,
            summary=text_of(blocks) or None,
            error=text_in(update, "error"),
        )

    def close(self, *, cancelled: bool) -> list[ev.AnyEvent]:
        """End those that the turn left open."""
        status = "cancelled" if cancelled else "failed"
        error = "the turn was cancelled" if cancelled else "the agent ended its turn before it was done"
        ended = [ev.Compaction(compaction_id=name, status=status, error=error) for name in self._open]
        self._open.clear()
        return [*ended]
