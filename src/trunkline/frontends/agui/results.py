"""What a tool gave back, as AG-UI shows it: text or content parts, shortened for the front end."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from trunkline import content as c

__all__ = ["part_of", "result_content", "shorten"]

_KINDS: dict[type[Any], str] = {c.ImageBlock: "image", c.AudioBlock: "audio", c.VideoBlock: "video"}


def part_of(block: c.Content) -> dict[str, Any] | None:
    """Give a block as a content part; None for what AG-UI has no part for."""
    if isinstance(block, c.TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, c.ImageBlock | c.AudioBlock | c.VideoBlock):
        return {"type": _KINDS[type(block)], "source": _source(block.data, block.url, block.mime_type)}
    if isinstance(block, c.ResourceBlock):
        if block.text is not None:
            return {"type": "text", "text": block.text}
        source = _source(block.data, block.uri, block.mime_type or "application/octet-stream")
        return {"type": "document", "source": source}
    if isinstance(block, c.LinkBlock):
        return {"type": "document", "source": _source(None, block.uri, block.mime_type)}
    return None


def _source(data: str | None, url: str | None, mime_type: str | None) -> dict[str, Any]:
    if data is not None:
        return {"type": "data", "value": data, "mimeType": mime_type or "application/octet-stream"}
    mime = {"mimeType": mime_type} if mime_type else {}
    return {"type": "url", "value": url or "", **mime}


def result_content(
    content: Iterable[c.Content], raw_output: Any, output: str, reason: str | None
) -> str | list[dict[str, Any]]:
    """Choose what stands for a call's result: typed parts, its own text, its value, or the reason."""
    blocks: list[c.Content] = [
        block for block in content if not isinstance(block, c.DiffBlock | c.TerminalBlock)
    ]
    if any(not isinstance(block, c.TextBlock) for block in blocks):
        parts = [part_of(block) for block in blocks]
        return [part for part in parts if part is not None]
    if isinstance(raw_output, str):
        return raw_output
    if blocks:
        return c.text_of(blocks)
    if raw_output is not None:
        return msgspec.json.encode(raw_output).decode()
    return output or reason or ""


def shorten(
    content: str | list[dict[str, Any]], limit: int
) -> tuple[str | list[dict[str, Any]], dict[str, Any] | None]:
    """Cut a result for the front end; what was cut is told by its size and its digest."""
    if not limit:
        return content, None
    whole = content.encode() if isinstance(content, str) else msgspec.json.encode(content)
    if len(whole) <= limit:
        return content, None
    facts = {"truncated": True, "bytes": len(whole), "sha256": hashlib.sha256(whole).hexdigest()}
    if isinstance(content, str):
        return whole[:limit].decode(errors="ignore"), facts
    kept: list[dict[str, Any]] = []
    room = limit
    for part in content:
        size = len(msgspec.json.encode(part))
        if size <= room:
            kept.append(part)
            room -= size
        elif part.get("type") == "text":
            kept.append({"type": "text", "text": part["text"].encode()[:room].decode(errors="ignore")})
            room = 0
        else:
            kept.append({"type": "text", "text": f"[{part.get('type')} of {size} bytes left out]"})
    return kept, facts
