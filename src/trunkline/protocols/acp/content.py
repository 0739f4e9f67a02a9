"""Content blocks on the ACP wire, both ways.

What ACP has no block for is carried by the nearest one: a video is a resource, a source is a link.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

import msgspec

from trunkline import content as c
from trunkline.errors import InvalidCommand
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.lossless import Unknown, decode, encode


def block_to_wire(block: c.Content) -> dict[str, Any]:
    """Give a block as an ACP content block."""
    made = _to_wire(block)
    if block.annotations is not None:
        made["annotations"] = block.annotations
    if block.meta is not None:
        made["_meta"] = block.meta
    return made


def _to_wire(block: c.Content) -> dict[str, Any]:
    if isinstance(block, c.TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, c.ImageBlock | c.AudioBlock | c.VideoBlock):
        return _media_to_wire(block)
    if isinstance(block, c.LinkBlock):
        made: dict[str, Any] = {"type": "resource_link", "uri": block.uri, "name": block.name}
        optional = {
            "title": block.title,
            "description": block.description,
            "mimeType": block.mime_type,
            "size": block.size,
        }
        return made | {key: value for key, value in optional.items() if value is not None}
    if isinstance(block, c.ResourceBlock):
        resource: dict[str, Any] = {"uri": block.uri}
        if block.mime_type is not None:
            resource["mimeType"] = block.mime_type
        if block.text is not None:
            resource["text"] = block.text
        else:
            resource["blob"] = block.data or ""
        return {"type": "resource", "resource": resource}
    if isinstance(block, c.SourceBlock):
        uri = block.url or f"source:{block.source_id}"
        return {"type": "resource_link", "uri": uri, "name": block.title or block.document or uri}
    if isinstance(block, c.DiffBlock):
        return {"type": "text", "text": f"{block.path}\n{block.new or ''}"}
    return {"type": "text", "text": f"[terminal {block.terminal_id}]"}


def _media_to_wire(block: c.ImageBlock | c.AudioBlock | c.VideoBlock) -> dict[str, Any]:
    kind = type(block).__name__.removesuffix("Block").lower()
    if block.data is None:
        uri = block.url or f"blob:{block.blob}"
        return {"type": "resource_link", "uri": uri, "name": kind, "mimeType": block.mime_type}
    if kind == "video":
        resource = {"uri": block.url or "video:inline", "mimeType": block.mime_type, "blob": block.data}
        return {"type": "resource", "resource": resource}
    made = {"type": kind, "mimeType": block.mime_type, "data": block.data}
    if kind == "image" and block.url is not None:
        made["uri"] = block.url
    return made


def tool_content_to_wire(block: c.Content, terminals: Iterable[str]) -> dict[str, Any]:
    """Give a block as the content of a tool call; only terminals of the client's own are named."""
    if isinstance(block, c.DiffBlock):
        diff: dict[str, Any] = {"type": "diff", "path": block.path, "newText": block.new or ""}
        if block.old is not None:
            diff["oldText"] = block.old
        return diff
    if isinstance(block, c.TerminalBlock) and block.terminal_id in terminals:
        return {"type": "terminal", "terminalId": block.terminal_id}
    return {"type": "content", "content": block_to_wire(block)}


def blocks_from_wire(blocks: Iterable[wire.ContentBlock]) -> tuple[c.Content, ...]:
    """Read a prompt; a block that cannot be read is the client's fault."""
    return tuple(_from_wire(block, number) for number, block in enumerate(blocks))


def block_from_wire(block: Any) -> c.Content | None:
    """Read a block that an agent sent; None if it cannot be read."""
    try:
        return _from_wire(decode(wire.ContentBlock, block), 0)
    except (InvalidCommand, msgspec.ValidationError):
        return None


def tool_content_from_wire(item: Any) -> c.Content | None:
    """Read a piece of a tool call's content; None if it cannot be read."""
    try:
        read = decode(wire.ToolCallContent, item)
        if isinstance(read, wire.Content):
            return _from_wire(read.content, 0)
    except (InvalidCommand, msgspec.ValidationError):
        return None
    if isinstance(read, wire.Diff):
        return c.DiffBlock(path=read.path, old=read.old_text, new=read.new_text, meta=read.meta)
    if isinstance(read, wire.Terminal):
        return c.TerminalBlock(terminal_id=read.terminal_id, meta=read.meta)
    return None


def _from_wire(block: wire.ContentBlock, number: int) -> c.Content:
    if isinstance(block, Unknown):
        raise _unreadable(number, block.get("type"))
    annotations = None if block.annotations is None else encode(block.annotations)
    extra: dict[str, Any] = {"annotations": annotations, "meta": block.meta}
    if isinstance(block, wire.TextContent):
        return c.TextBlock(text=block.text, **extra)
    if isinstance(block, wire.ImageContent):
        _check_base64(block.data, number)
        return c.ImageBlock(data=block.data, mime_type=block.mime_type, url=block.uri, **extra)
    if isinstance(block, wire.AudioContent):
        _check_base64(block.data, number)
        return c.AudioBlock(data=block.data, mime_type=block.mime_type, **extra)
    if isinstance(block, wire.ResourceLink):
        return c.LinkBlock(
            uri=block.uri,
            name=block.name,
            title=block.title,
            description=block.description,
            mime_type=block.mime_type,
            size=block.size,
            **extra,
        )
    resource = block.resource
    if resource.text is None and resource.blob is None:
        raise _unreadable(number, "resource")
    if resource.blob is not None:
        _check_base64(resource.blob, number)
    return c.ResourceBlock(
        uri=resource.uri, text=resource.text, data=resource.blob, mime_type=resource.mime_type, **extra
    )


def _check_base64(data: str, number: int) -> None:
    """Refuse what no model could read."""
    try:
        base64.b64decode("".join(data.split()), validate=True)
    except ValueError as error:
        raise InvalidCommand(
            f"block {number} of the prompt is not base64 ({str(error).lower()}): "
            "send the bytes in base64, without a data: prefix"
        ) from None


def _unreadable(number: int, kind: object) -> InvalidCommand:
    return InvalidCommand(
        f"block {number} of the prompt cannot be read: its type is {kind!r}; "
        "send text, image, audio, resource_link or resource with their required fields"
    )
