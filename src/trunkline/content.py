"""Content blocks: the values that messages, tool results and prompts are made of.

A block is a frozen value without identity. Binary data is base64 text, as on every wire
we speak, or a ``blob`` digest once the journal moved it into the blob store.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Union

import msgspec

__all__ = [
    "AudioBlock",
    "Block",
    "Content",
    "DiffBlock",
    "ImageBlock",
    "LinkBlock",
    "ResourceBlock",
    "SourceBlock",
    "TerminalBlock",
    "TextBlock",
    "VideoBlock",
    "as_content",
    "text_of",
]


class Block(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """The common fields of every content block."""

    annotations: dict[str, Any] | None = None
    meta: dict[str, Any] | None = None


class TextBlock(Block, frozen=True, kw_only=True, tag="text"):
    """Plain or markdown text."""

    text: str


class ImageBlock(Block, frozen=True, kw_only=True, tag="image"):
    """An image, inline as base64 or by address."""

    mime_type: str
    data: str | None = None
    url: str | None = None
    blob: str | None = None


class AudioBlock(Block, frozen=True, kw_only=True, tag="audio"):
    """A sound, inline as base64 or by address."""

    mime_type: str
    data: str | None = None
    url: str | None = None
    blob: str | None = None


class VideoBlock(Block, frozen=True, kw_only=True, tag="video"):
    """A video, inline as base64 or by address."""

    mime_type: str
    data: str | None = None
    url: str | None = None
    blob: str | None = None


class LinkBlock(Block, frozen=True, kw_only=True, tag="link"):
    """A pointer to a resource that the reader may fetch."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None


class ResourceBlock(Block, frozen=True, kw_only=True, tag="resource"):
    """A resource with its contents embedded, as text or as base64 data."""

    uri: str
    text: str | None = None
    data: str | None = None
    mime_type: str | None = None
    blob: str | None = None


class DiffBlock(Block, frozen=True, kw_only=True, tag="diff"):
    """A file change: ``old`` is None for a new file, ``new`` is None for a removed one."""

    path: str
    new: str | None
    old: str | None = None


class TerminalBlock(Block, frozen=True, kw_only=True, tag="terminal"):
    """The live output of a terminal."""

    terminal_id: str


class SourceBlock(Block, frozen=True, kw_only=True, tag="source"):
    """Where a statement comes from: a web address or a document."""

    source_id: str
    url: str | None = None
    title: str | None = None
    document: str | None = None
    mime_type: str | None = None


Content = Union[
    TextBlock,
    ImageBlock,
    AudioBlock,
    VideoBlock,
    LinkBlock,
    ResourceBlock,
    DiffBlock,
    TerminalBlock,
    SourceBlock,
]


def as_content(value: str | Content | Iterable[Content]) -> tuple[Content, ...]:
    """Give a tuple of blocks for whatever a person is likely to write."""
    if isinstance(value, str):
        return (TextBlock(text=value),)
    if isinstance(value, Block):
        return (value,)
    return tuple(value)


def text_of(content: tuple[Content, ...] | list[Content]) -> str:
    """Join the text of the blocks that have one; links count by their address."""
    pieces: list[str] = []
    for block in content:
        if isinstance(block, TextBlock):
            pieces.append(block.text)
        elif isinstance(block, LinkBlock):
            pieces.append(block.uri)
        elif isinstance(block, ResourceBlock) and block.text is not None:
            pieces.append(block.text)
    return "\n".join(pieces)
