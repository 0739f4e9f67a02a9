"""Attachments that a model refused: later requests name them as text instead.

A video, a file that is too large, an image for a model without vision: the provider refuses the request, and
every later one that has the same attachment. So after a turn failed for this reason, a text replaces the
attachment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from trunkline.agents.langchain.errors import names
from trunkline.agents.langchain.messages.provider_blocks import Block

REFUSED = frozenset({"input_refused", "context_overflow"})
"""The codes of a turn that would fail again for the same reason."""

_MEDIA = names("image audio video file image_url input_audio input_image input_file media document")


def replace_attachments_in_last_turn(messages: Sequence[Any]) -> list[Any]:
    """Give the messages of the last turn that have attachments, with a text for each attachment."""
    last = max((at for at, message in enumerate(messages) if message.type == "human"), default=0)
    replaced = ((message, replace_attachments(message)) for message in messages[last:])
    return [made for message, made in replaced if made is not message]


def replace_attachments(message: Any) -> Any:
    """Give a message with a text for each attachment; the same message if it has none."""
    content: Any = message.content
    if message.type not in ("human", "tool") or not isinstance(content, list):
        return message
    blocks = cast("list[Any]", content)
    texts = list(_as_texts(blocks))
    return message if texts == blocks else message.model_copy(update={"content": texts})


def _as_texts(blocks: Iterable[Any]) -> Iterable[Any]:
    for block in blocks:
        if isinstance(block, dict) and cast("Block", block).get("type") in _MEDIA:
            yield {"type": "text", "text": f"[{_name(cast('Block', block))}: the model did not take it]"}
        else:
            yield block


def _name(block: Block) -> str:
    extras: Any = block.get("extras") or {}
    return str(extras.get("filename") or block.get("mime_type") or block["type"])
