"""Blank lines between the items of an OpenAI response, which as tokens would run into each other."""

from __future__ import annotations

from typing import Any

from trunkline.agents.langchain.messages.provider_blocks import Block, list_blocks

_BREAK = "\n\n"
_ITEM = "msg_"
"""The prefix of a message item's id in OpenAI's Responses API; one response may hold several."""
_SUMMARY = "lc_rs_"
"""The prefix of the index that LangChain gives to a part of OpenAI's reasoning summary."""


class OpenAIItems:
    """Follows the texts and thoughts of one message by their index in it."""

    __slots__ = ("_item", "_last", "_whole")

    def __init__(self, *, whole: bool = False) -> None:
        """Begin a message; in a ``whole`` one no two blocks belong together."""
        self._whole = whole
        self._last: Any = None
        """The kind and the index of the last block, if that was text or a thought."""
        self._item: Any = None

    def feed(self, block: Block) -> Block:
        """Give a block; after the end of another item of its kind it begins with a blank line."""
        kind = block.get("type")
        if kind == "text":
            return self._text(block)
        if kind == "reasoning":
            return self._thought(block)
        self._last = None
        return block

    def _text(self, block: Block) -> Block:
        position, item = ("text", block.get("index")), block.get("id")
        if text := block.get("text"):
            last, before = self._last, self._item
            self._last, self._item = position, None
            apart = last is not None and last[0] == "text" and (last != position or self._whole)
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
        text = str((parts[0].get("text") if parts else block.get("reasoning")) or "")
        if not text:
            return block
        before, self._last = self._last, ("thought", block.get("index"), parts and parts[0].get("index"))
        if before is None or before[0] != "thought" or (before == self._last and not self._whole):
            return block
        text = _BREAK + text
        if not parts:
            return {**block, "reasoning": text}
        return {**block, "summary": [{**parts[0], "text": text}, *parts[1:]]}


def _is_item(block: Block) -> bool:
    """Whether a thought in LangChain's standard shape is part of an OpenAI reasoning item."""
    return str(block.get("index")).startswith(_SUMMARY) or str(block.get("id")).startswith("rs_")
