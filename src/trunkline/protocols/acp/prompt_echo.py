"""The echo of our own prompt: some agents send it back as updates, and the session has it already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trunkline.protocols.acp.fields import as_object


class PromptEcho:
    """Recognises the blocks of prompts when they come back, as a whole or in pieces."""

    def __init__(self) -> None:
        """Expect nothing."""
        self._text = ""
        self._others: list[Mapping[str, Any]] = []

    def expect(self, prompt: Iterable[Mapping[str, Any]]) -> None:
        """Expect these blocks of a prompt."""
        for block in prompt:
            if block.get("type") == "text" and isinstance(block.get("text"), str):
                self._text += _without_spaces(block["text"])
            else:
                self._others.append(block)

    def clear(self) -> None:
        """Expect nothing any more."""
        self._text = ""
        self._others.clear()

    def takes(self, block: Mapping[str, Any]) -> bool:
        """Whether a block of a user's message is one that is expected; it is expected once.

        Agents join and cut texts, and put spaces between them: only the other characters count.
        """
        text = block.get("text")
        if block.get("type") == "text" and isinstance(text, str):
            words = _without_spaces(text)
            if not self._text.startswith(words):
                return False
            self._text = self._text[len(words) :]
            return True
        for number, other in enumerate(self._others):
            if _key(other) == _key(block):
                del self._others[number]
                return True
        return False


def _without_spaces(text: str) -> str:
    return "".join(text.split())


def _key(block: Mapping[str, Any]) -> Any:
    """Give what makes a block the same block; names, titles and annotations may be written anew."""
    resource = as_object(block.get("resource"))
    return block.get("type"), block.get("uri") or resource.get("uri"), block.get("data")
