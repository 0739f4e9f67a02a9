"""Content blocks as parts of a message: files, sources, and data parts for everything else."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from trunkline import content as c
from trunkline.frontends.aisdk.metadata import OURS, merged, provider_metadata
from trunkline.protocols.aisdk.data_urls import data_url
from trunkline.protocols.aisdk.wire import Chunk, JsonObject

__all__ = ["SENT", "block_part", "camel_keys", "diff_data", "output_parts", "source_part", "user_part"]

_UNKNOWN = "application/octet-stream"
_UNDERSCORE = re.compile("_([a-z])")
_WEB = ("http://", "https://")


def block_part(block: c.Content) -> Chunk:
    """Give a block as a part; also as the chunk that makes one, except for text, which is streamed."""
    if isinstance(block, c.TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, c.ImageBlock | c.AudioBlock | c.VideoBlock):
        url = data_url(block.mime_type, block.data) if block.data is not None else block.url
        return _other(block) if url is None else _file(block, url, block.mime_type)
    if isinstance(block, c.ResourceBlock):
        return _resource(block)
    if isinstance(block, c.LinkBlock):
        return _link(block)
    if isinstance(block, c.SourceBlock):
        return _with_metadata(
            source_part(block.source_id, block.url, block.title, block.document, block.mime_type), block
        )
    if isinstance(block, c.DiffBlock):
        return {"type": "data-diff", "data": diff_data(block)}
    return {"type": "data-terminal", "data": {"terminalId": block.terminal_id}}


def user_part(block: c.Content) -> JsonObject:
    """Give a block of what a person said as the part that a page sends: a text, or a file with its name."""
    name = provider_metadata(block.meta).get(SENT, {}).get("filename")
    if isinstance(block, c.LinkBlock):
        part = {"type": "file", "mediaType": block.mime_type or _UNKNOWN, "url": block.uri}
        name = name or block.name
    else:
        part = block_part(block)
        part.pop("providerMetadata", None)
    return {**part, "filename": name} if name and part["type"] == "file" else part


SENT = "aisdk"
"""Where the meta of a block keeps what a page sent with a file: its name."""


def source_part(
    source_id: str, url: str | None, title: str | None, document: str | None, mime_type: str | None
) -> Chunk:
    """Give a source: a web address, or a document."""
    if url is not None:
        return {"type": "source-url", "sourceId": source_id, "url": url} | _optional(title=title)
    return {
        "type": "source-document",
        "sourceId": source_id,
        "mediaType": mime_type or _UNKNOWN,
        "title": title or document or source_id,
    } | _optional(filename=document)


def diff_data(block: c.DiffBlock) -> JsonObject:
    """Give a change of a file: ``oldText`` is null for a new file, ``newText`` for a removed one."""
    return {"path": block.path, "oldText": block.old, "newText": block.new}


def output_parts(content: Iterable[c.Content]) -> str | list[Chunk] | None:
    """Give what a call shows besides changes and terminals: its text, or parts if there is more than text."""
    blocks: list[c.Content] = [
        block for block in content if not isinstance(block, c.DiffBlock | c.TerminalBlock)
    ]
    if any(not isinstance(block, c.TextBlock) for block in blocks):
        return [block_part(block) for block in blocks]
    return c.text_of(blocks) or None


def _resource(block: c.ResourceBlock) -> Chunk:
    mime_type = block.mime_type or ("text/plain" if block.text is not None else _UNKNOWN)
    data = block.data
    if data is None and block.text is not None:
        data = base64.b64encode(block.text.encode()).decode()
    if data is None:
        return _other(block)
    return _file(block, data_url(mime_type, data), mime_type, {"uri": block.uri})


def _link(block: c.LinkBlock) -> Chunk:
    about: JsonObject = {}
    for name in ("description", "size"):
        if (value := getattr(block, name)) is not None:
            about[name] = value
    if block.uri.startswith(_WEB):
        part = source_part(block.uri, block.uri, block.title or block.name, None, None)
        if block.mime_type:
            about["mediaType"] = block.mime_type
    else:
        part = source_part(block.uri, None, block.title or block.name, block.name, block.mime_type)
        about["uri"] = block.uri
    return _with_metadata(part, block, about)


def _file(block: c.Block, url: str, mime_type: str, about: JsonObject | None = None) -> Chunk:
    return _with_metadata({"type": "file", "mediaType": mime_type, "url": url}, block, about)


def _other(block: Any) -> Chunk:
    """A block without anything to show: what is known of it."""
    return {"type": "data-content", "data": camel_keys(msgspec.to_builtins(block))}


def camel_keys(fields: JsonObject) -> JsonObject:
    """Spell the names of our own fields as pages do."""
    return {_UNDERSCORE.sub(lambda found: found[1].upper(), name): value for name, value in fields.items()}


def _with_metadata(part: Chunk, block: c.Block, about: JsonObject | None = None) -> Chunk:
    if block.annotations:
        about = {**(about or {}), "annotations": block.annotations}
    metadata = provider_metadata(block.meta)
    if about:
        metadata = merged(metadata, {OURS: about})
    return {**part, "providerMetadata": metadata} if metadata else part


def _optional(**fields: Any) -> JsonObject:
    """Leave out what is not known: an optional key may not be null."""
    return {name: value for name, value in fields.items() if value is not None}
