"""What a tool gave back, as AG-UI shows it: text or content parts, shortened for the front end."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import msgspec

from trunkline import content as c
from trunkline.safe_text import safe_title

OUTPUT_TAIL = 65_536
"""Characters that are kept of what a call, or its terminal, has printed."""

PART_KEY = "agui.part"
"""Where the meta of a block keeps the part that it was made from, if nothing else can bring that back."""

_KINDS: dict[type[Any], str] = {c.ImageBlock: "image", c.AudioBlock: "audio", c.VideoBlock: "video"}


class FinishedCall(Protocol):
    """What is known of a call: as it was streamed, or as a conversation holds it."""

    content: tuple[c.Content, ...]
    output: str
    raw_output: Any
    reason: str | None

    @property
    def status(self) -> str | None:
        """How it ended."""
        ...


def call_metadata(kind: str, title: str | None) -> dict[str, Any]:
    """Say what AG-UI has no field for in a call; it is part of the metadata."""
    return {"trunkline": {"kind": kind, **({"title": safe_title(title)} if title is not None else {})}}


def tool_result(
    call: FinishedCall, terminals: Mapping[str, str], limit: int, *, modern: bool
) -> tuple[str | list[dict[str, Any]], dict[str, Any] | None]:
    """Give the content of a result, and its metadata: what was cut, and why it failed."""
    content = result_content(
        call.content, call.raw_output, call.output[-OUTPUT_TAIL:], call.reason, terminals
    )
    if not modern and not isinstance(content, str):
        # Before 1.0 a result is text.
        content = "\n".join(part.get("text") or f"[{part['type']}]" for part in content)
    content, facts = shorten(content, limit)
    about: dict[str, Any] = dict(facts or {})
    if call.status != "completed":
        about["status"] = call.status
        about["error"] = call.reason or call.status
    return content, {"trunkline": about} if about and modern else None


def content_part(block: c.Content) -> dict[str, Any] | None:
    """Give a block as a content part; None for what AG-UI has no part for."""
    part: dict[str, Any]
    if block.meta is not None and PART_KEY in block.meta:
        return block.meta[PART_KEY]
    if isinstance(block, c.TextBlock):
        part = {"type": "text", "text": block.text}
    elif isinstance(block, c.ImageBlock | c.AudioBlock | c.VideoBlock):
        part = {"type": _KINDS[type(block)], "source": _source(block.data, block.url, block.mime_type)}
    elif isinstance(block, c.ResourceBlock):
        if block.text is not None:
            part = {"type": "text", "text": block.text}
        else:
            source = _source(block.data, block.uri, block.mime_type or "application/octet-stream")
            part = {"type": "document", "source": source}
    elif isinstance(block, c.LinkBlock):
        part = {"type": "document", "source": _source(None, block.uri, block.mime_type)}
    elif isinstance(block, c.SourceBlock) and block.url is not None:
        part = {"type": "document", "source": _source(None, block.url, block.mime_type)}
    else:
        return None
    return part if block.meta is None else {**part, "metadata": block.meta}


def _source(data: str | None, url: str | None, mime_type: str | None) -> dict[str, Any]:
    if data is not None:
        return {"type": "data", "value": data, "mimeType": mime_type or "application/octet-stream"}
    mime = {"mimeType": mime_type} if mime_type and not mime_type.endswith("/*") else {}
    return {"type": "url", "value": url or "", **mime}


def result_content(
    content: Iterable[c.Content],
    raw_output: Any,
    output: str,
    reason: str | None,
    terminals: Mapping[str, str] | None = None,
) -> str | list[dict[str, Any]]:
    """Choose what stands for a call's result: typed parts, its text, its value, or the reason.

    The text comes first, as it does for the model: the value may be what a tool keeps from both.
    """
    blocks: list[c.Content] = []
    changes: list[str] = []
    for block in content:
        if isinstance(block, c.TerminalBlock):
            blocks.append(c.TextBlock(text=(terminals or {}).get(block.terminal_id, "")[-OUTPUT_TAIL:]))
        elif isinstance(block, c.DiffBlock):
            changes.append(f"{_change(block)} {block.path}")
        else:
            blocks.append(block)
    if any(not isinstance(block, c.TextBlock) for block in blocks):
        parts = [content_part(block) for block in blocks]
        return [part for part in parts if part is not None]
    if text := c.text_of(blocks):
        return text
    if raw_output is not None:
        return raw_output if isinstance(raw_output, str) else msgspec.json.encode(raw_output).decode()
    return output or reason or "\n".join(changes)


def _change(block: c.DiffBlock) -> str:
    if block.old is None:
        return "wrote"
    return "removed" if block.new is None else "changed"


def shorten(
    content: str | list[dict[str, Any]], limit: int
) -> tuple[str | list[dict[str, Any]], dict[str, Any] | None]:
    """Cut a result for the front end and mark its end; the metadata has its whole size and its digest."""
    if not limit:
        return content, None
    whole = content.encode() if isinstance(content, str) else msgspec.json.encode(content)
    if len(whole) <= limit:
        return content, None
    facts = {"truncated": True, "bytes": len(whole), "sha256": hashlib.sha256(whole).hexdigest()}
    if isinstance(content, str):
        return f"{whole[:limit].decode(errors='ignore')}{_cut_mark(len(whole))}", facts
    kept: list[dict[str, Any]] = []
    room = limit
    for part in content:
        size = len(msgspec.json.encode(part))
        if size <= room:
            kept.append(part)
            room -= size
        elif part.get("type") == "text":
            text = part["text"].encode()
            cut = f"{text[:room].decode(errors='ignore')}{_cut_mark(len(text))}"
            kept.append({"type": "text", "text": cut})
            room = 0
        else:
            kept.append({"type": "text", "text": f"[{part.get('type')} of {size} bytes left out]"})
    return kept, facts


def _cut_mark(size: int) -> str:
    return f"\n[cut here: {size} bytes in all]"
