"""Paragraphs: what OpenAI sends as items and parts that stand apart does not run together as tokens."""

from __future__ import annotations

from typing import Any

from trunkline.agents.langchain.messages.providers import Block, list_blocks

__all__ = ["OpenAIItems"]

_BREAK = "\n\n"
_ITEM = "msg_"
"""How OpenAI names a message, of which one response may hold several; what others name is no paragraph."""
_SUMMARY = "lc_rs_"
"""How LangChain names the place of a part of OpenAI's summary."""


class OpenAIItems:
    """Follows the texts and thoughts of one message by their places in it."""

    __slots__ = ("_item", "_last", "_whole")

    def __init__(self, *, whole: bool = False) -> None:
        """Begin a message; one that comes ``whole`` has no two blocks that belong together."""
        self._whole = whole
        self._last: Any = None
        """The kind and the place of what came last, if that was text or a thought."""
        self._item: Any = None

    def follow(self, block: Block) -> Block:
        """Give a block; one that goes on after the end of another of its kind begins with a blank line."""
        kind = block.get("type")
        if kind == "text":
            return self._text(block)
        if kind == "reasoning":
            return self._thought(block)
        self._last = None
        return block

    def _text(self, block: Block) -> Block:
        place, item = ("text", block.get("index")), block.get("id")
        if text := block.get("text"):
            last, before = self._last, self._item
            self._last, self._item = place, None
            apart = last is not None and last[0] == "text" and (last != place or self._whole)
            if apart and before is not None and (self._whole or before != item):
                block = {**block, "text": f"{_BREAK}{text}"}
        if isinstance(item, str) and item.startswith(_ITEM):
            self._item = item
        return block

    def _thought(self, block: Block) -> Block:
        parts = list_blocks(block.get("summary"))
        if not parts and not _is_item(block):
            self._last = None
            return block
        words = str((parts[0].get("text") if parts else block.get("reasoning")) or "")
        if not words:
            return block
        before, self._last = self._last, ("thought", block.get("index"), parts and parts[0].get("index"))
        if before is None or before[0] != "thought" or (before == self._last and not self._whole):
            return block
        words = _BREAK + words
        if not parts:
            return {**block, "reasoning": words}
        return {**block, "summary": [{**parts[0], "text": words}, *parts[1:]]}


def _is_item(block: Block) -> bool:
    """Whether a thought in LangChain's standard shape is a part of OpenAI's summary of one."""
    return str(block.get("index")).startswith(_SUMMARY) or str(block.get("id")).startswith("rs_")
