"""Content in both directions: LangChain's blocks, ours, and ACP's.

A block keeps its type: only text becomes text. What is not content in our sense (reasoning, tool calls,
citations) becomes its own event.

What LangChain has no field for is kept in the block's ``extras`` under ``trunkline``: annotations, meta, or
a whole block that a model can only read as text (a link, a resource, a diff). What our block has no field
for is kept in its ``meta`` under ``langchain``. So each direction can be reversed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Union, cast

from langchain_core.messages import BaseMessage, HumanMessage

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.messages import standard_blocks as b
from trunkline.agents.langchain.messages.provider_blocks import Block, standardize

Neutral = Union[c.Content, ev.AnyEvent]

_TOKENS = {kind: frozenset({"type", "id", "index", kind}) for kind in ("text", "reasoning", "thinking")}
"""The keys of a block that is one token and nothing else, by its type."""


class ContentBlockMapper:
    """Maps blocks; subclass it to map your own kinds."""

    # -- LangChain to neutral ----------------------------------------------------------------------

    def to_neutral(self, block: str | Block, message_id: str = "") -> list[Neutral]:
        """Give what one LangChain block means, in standard shape or in a provider's own."""
        if isinstance(block, str):
            return [c.TextBlock(text=block)]
        # Most tokens are such blocks: the fast way.
        kind = str(block.get("type"))
        if kind in _TOKENS and block.keys() <= _TOKENS[kind] and not isinstance(block.get(kind), list):
            text = str(block.get(kind) or "")
            return [
                c.TextBlock(text=text) if kind == "text" else ev.Thought(message_id=message_id, delta=text)
            ]
        return [item for made in standardize(block) for item in self._read(made, message_id)]

    def _read(self, block: Block, message_id: str) -> list[Neutral]:
        if (restored := b.restore(block)) is not None:
            return [restored]
        match block.get("type"):
            case "text":
                return [*b.read_text(block), *b.read_citations(block, message_id)]
            case "reasoning":
                return [b.read_thought(block, message_id)]
            case "image" | "audio" | "video" as kind if b.has_data(block):
                return [b.read_media(kind, block)]
            case "file" | "text-plain" if b.has_data(block):
                return [b.read_file(block)]
            case "tool_call" | "server_tool_call" | "invalid_tool_call":
                return [*b.read_call(block, message_id)]
            case "tool_call_chunk" | "server_tool_call_chunk" if block.get("id"):
                return [*b.read_chunk(block, message_id)]
            case "server_tool_result":
                return [self._read_result(block, message_id)]
            case "web_search_result" if block.get("url"):
                return [b.read_found_page(block)]
            case _:
                return [ev.Raw(source="langchain", payload=block)]

    def _read_result(self, block: Block, message_id: str) -> ev.ToolUpdate:
        output = block.get("output")
        content = self.content_of(b.unpack_output(output))
        error = b.server_tool_error(block)
        failed = block.get("status") == "error" or error is not None
        detail = cast("Block", output).get("error_code") if isinstance(output, dict) else c.text_of(content)
        return ev.ToolUpdate(
            call_id=b.call_id_of(block.get("tool_call_id"), message_id),
            status="failed" if failed else "completed",
            content=content or None,
            raw_output=output,
            reason=str(error or detail or "the tool failed") if failed else None,
        )

    def content_of(self, content: Any) -> tuple[c.Content, ...]:
        """Give the blocks of a message, or of its content, that are content in our sense."""
        if isinstance(content, BaseMessage):
            return self.content_of(_whole_content(content))
        given = [content] if isinstance(content, str) else cast("list[Any]", content or [])
        blocks = [cast("str | Block", block) for block in given if block and isinstance(block, str | dict)]
        neutral = [item for block in blocks for item in self.to_neutral(block)]
        shown = [b.cite(item) if isinstance(item, ev.Source) else item for item in neutral]
        return tuple(item for item in shown if isinstance(item, c.Block))

    def sources_of(self, message: Any) -> list[ev.Source]:
        """Give the sources that a model's message names beside its content."""
        return b.read_grounding(message.response_metadata, str(message.id))

    # -- neutral to LangChain ----------------------------------------------------------------------

    def from_neutral(self, block: c.Content | ev.Thought | ev.Source | ev.Raw) -> Block:
        """Give our block as a LangChain standard block."""
        match block:
            case c.TextBlock():
                return b.write_text(block)
            case c.ImageBlock() | c.AudioBlock() | c.VideoBlock() if block.data is not None:
                return b.write_data(block, block.data)
            case c.ImageBlock() | c.AudioBlock() | c.VideoBlock() if block.url is not None:
                return b.write_url(block, block.url)
            case c.ResourceBlock(data=str(data), text=None):
                return b.write_resource(block, data)
            case ev.Thought():
                return b.write_thought(block)
            case ev.Source():
                return {"type": "text", "text": "", "annotations": [b.write_citation(block)]}
            case ev.Raw():
                known: Any = block.payload
                return (
                    cast("Block", known)
                    if isinstance(known, dict)
                    else {"type": "non_standard", "value": known}
                )
            case _:
                return b.write_as_text(block)

    def message_content(self, content: Iterable[c.Content]) -> str | list[str | Block]:
        """Give a prompt as a message's content: plain text stays plain.

        Text blocks have no other fields, because some providers refuse fields that they do not know.
        ``user_message`` keeps the rest beside them.
        """
        return _bare_content([self.from_neutral(block) for block in content])

    def user_message(self, content: Iterable[c.Content], message_id: str | None = None) -> HumanMessage:
        """Give a prompt as a message, from which ``content_of`` gives the same blocks again."""
        blocks = [self.from_neutral(block) for block in content]
        kept = {
            str(index): block["extras"]
            for index, block in enumerate(blocks)
            if block["type"] == "text" and "extras" in block
        }
        bare = cast("list[str | dict[Any, Any]]", _bare_content(blocks))
        return HumanMessage(content=bare, id=message_id, additional_kwargs={b.OURS: kept} if kept else {})

    # -- ACP: imported when used, so that other agents do not load it -----------------------------

    def to_acp(self, block: str | Block) -> list[dict[str, Any]]:
        """Give a LangChain block as ACP content blocks."""
        from trunkline.protocols.acp.content import block_to_wire

        return [block_to_wire(item) for item in self.content_of([block])]

    def to_langchain(self, block: dict[str, Any]) -> Block:
        """Give an ACP content block as a LangChain standard block."""
        from trunkline.protocols.acp import wire
        from trunkline.protocols.acp.content import blocks_from_wire
        from trunkline.protocols.acp.lossless import decode

        return self.from_neutral(blocks_from_wire([decode(wire.ContentBlock, block)])[0])


def _bare_content(blocks: list[Block]) -> str | list[str | Block]:
    if all(block["type"] == "text" and "extras" not in block for block in blocks):
        return "\n".join(block["text"] for block in blocks)
    return [{"type": "text", "text": block["text"]} if block["type"] == "text" else block for block in blocks]


def _whole_content(message: BaseMessage) -> str | list[Any]:
    """Put back what ``user_message`` kept beside the text blocks."""
    content = cast("str | list[Any]", message.content)
    kept = cast("dict[str, Block]", message.additional_kwargs.get(b.OURS) or {})
    if isinstance(content, str):
        return content
    return [
        cast("Block", block) | {"extras": kept[str(index)]} if str(index) in kept else block
        for index, block in enumerate(content)
    ]
