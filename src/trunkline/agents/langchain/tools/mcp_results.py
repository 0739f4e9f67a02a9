"""What an MCP tool gave back, as the content of a tool message; what has a type keeps it."""

from __future__ import annotations

from typing import Any

from langchain_core.messages.content import create_audio_block, create_image_block, create_text_block
from langchain_core.tools import ToolException

from mcp import types
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
from trunkline.content import LinkBlock, ResourceBlock

Blocks = list[dict[str, Any]]
_MAPPER = ContentBlockMapper()


class ToolRefused(ToolException):
    """The tool itself says that it failed; the model reads what it said."""

    def __init__(self, content: Blocks) -> None:
        words = [block["text"] for block in content if block["type"] == "text"]
        super().__init__("\n".join(words) or "the tool failed and did not say why")
        self.content = content


def read_result(
    result: types.CallToolResult, *, standard_content_blocks: bool = True
) -> tuple[Blocks | str, dict[str, Any] | None]:
    """Give content and artifact; without standard blocks all that is not text goes into the artifact."""
    artifact: dict[str, Any] = {}
    if result.structuredContent is not None:
        artifact["structured_content"] = result.structuredContent
    content: Blocks | str = [_block(item) for item in result.content]
    if result.isError:
        raise ToolRefused(content)
    if not standard_content_blocks:
        others = [item for item in result.content if not isinstance(item, types.TextContent)]
        if others:
            artifact["content"] = [
                item.model_dump(mode="json", by_alias=True, exclude_none=True) for item in others
            ]
        content = "\n".join(item.text for item in result.content if isinstance(item, types.TextContent))
    return content, artifact or None


def _block(item: types.ContentBlock) -> dict[str, Any]:
    """Give one MCP content as a standard block; a link and a resource are told apart again by the mapper."""
    if isinstance(item, types.TextContent):
        return dict(create_text_block(item.text))
    if isinstance(item, types.ImageContent):
        return dict(create_image_block(base64=item.data, mime_type=item.mimeType))
    if isinstance(item, types.AudioContent):
        return dict(create_audio_block(base64=item.data, mime_type=item.mimeType))
    if isinstance(item, types.ResourceLink):
        link = LinkBlock(
            uri=str(item.uri),
            name=item.name,
            title=item.title,
            description=item.description,
            mime_type=item.mimeType,
            size=item.size,
        )
        return _MAPPER.from_neutral(link)
    held = item.resource
    text = held.text if isinstance(held, types.TextResourceContents) else None
    data = held.blob if isinstance(held, types.BlobResourceContents) else None
    resource = ResourceBlock(uri=str(held.uri), text=text, data=data, mime_type=held.mimeType)
    return _MAPPER.from_neutral(resource)
