"""What a model would not take: its messages go on without it, or the conversation could never go on.

A video, a page that is too large, a picture for a model that does not see: the request is refused, and so
is every one after it that holds the same. So where a turn failed for what it brought, that is told in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from trunkline.agents.langchain.errors import names
from trunkline.agents.langchain.messages.providers import Block

__all__ = ["REFUSED", "spell_out", "untaken"]

REFUSED = frozenset({"input_refused", "context_overflow"})
"""The codes of a turn that would fail again for the same reason."""

_MEDIA = names("image audio video file image_url input_audio input_image input_file media document")


def untaken(messages: Sequence[Any]) -> list[Any]:
    """Give the messages of the last turn that hold more than words, with words instead."""
    last = max((at for at, message in enumerate(messages) if message.type == "human"), default=0)
    return [told for message in messages[last:] if (told := spell_out(message)) is not message]


def spell_out(message: Any) -> Any:
    """Give a message that says what it held, or the same one if it held only words."""
    content: Any = message.content
    if message.type not in ("human", "tool") or not isinstance(content, list):
        return message
    blocks = cast("list[Any]", content)
    told = list(_in_words(blocks))
    return message if told == blocks else message.model_copy(update={"content": told})


def _in_words(blocks: Iterable[Any]) -> Iterable[Any]:
    for block in blocks:
        if isinstance(block, dict) and cast("Block", block).get("type") in _MEDIA:
            yield {"type": "text", "text": f"[{_name(cast('Block', block))}: the model did not take it]"}
        else:
            yield block


def _name(block: Block) -> str:
    extras: Any = block.get("extras") or {}
    return str(extras.get("filename") or block.get("mime_type") or block["type"])
