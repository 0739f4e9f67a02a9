"""Content blocks as the seven contents of a UnifiedMessage, and what of them only its metadata can hold."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from trunkline import content as c
from trunkline.protocols.acp.content import block_to_wire, tool_content_to_wire
from trunkline.protocols.unified.wire import (
    CodeContent,
    ImageContent,
    ImageSource,
    TextContent,
    UnifiedContent,
)

__all__ = ["acp_content", "contents_of", "details_of", "shorten"]

_LANGUAGES = {
    "py": "python", "js": "javascript", "ts": "typescript", "tsx": "tsx", "rs": "rust", "md": "markdown",
    "yml": "yaml", "sh": "shell", "rb": "ruby", "kt": "kotlin", "cs": "csharp", "h": "c", "hpp": "cpp",
}  # fmt: skip


def contents_of(blocks: Iterable[c.Content], printed: Mapping[str, str]) -> tuple[UnifiedContent, ...]:
    """Give blocks as contents; ``printed`` is what terminals have printed so far."""
    return tuple(_content(block, printed) for block in blocks)


def _content(block: c.Content, printed: Mapping[str, str]) -> UnifiedContent:
    if isinstance(block, c.TextBlock):
        return TextContent(block.text)
    if isinstance(block, c.ImageBlock) and block.data is not None:
        return ImageContent(ImageSource(media_type=block.mime_type, data=block.data))
    if isinstance(block, c.DiffBlock):
        return CodeContent(language=_language_of(block.path), code=block.new or "")
    if isinstance(block, c.TerminalBlock):
        return CodeContent(language="console", code=printed.get(block.terminal_id, ""))
    if isinstance(block, c.ResourceBlock) and block.text is not None:
        return CodeContent(language=_language_of(block.uri), code=block.text)
    if isinstance(block, c.LinkBlock):
        return TextContent(f"[{block.name}]({block.uri})")
    if isinstance(block, c.SourceBlock):
        return TextContent(f"[{block.title or block.document or block.source_id}]({block.url or ''})")
    if isinstance(block, c.ResourceBlock):
        return TextContent(f"[{block.uri}]")
    kind = type(block).__name__.removesuffix("Block").lower()
    return TextContent(f"[{kind} {block.mime_type}]" if block.url is None else f"[{kind}]({block.url})")


def _language_of(path: str) -> str:
    """Name the language of a file by its ending, as most highlighters do."""
    ending = posixpath.splitext(path)[1].removeprefix(".").lower()
    return _LANGUAGES.get(ending, ending or "text")


def details_of(blocks: Iterable[c.Content]) -> dict[str, Any]:
    """Give what the contents leave out: changes of files, terminals, and blocks that are only described."""
    diffs: list[dict[str, Any]] = []
    terminals: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for block in blocks:
        if isinstance(block, c.DiffBlock):
            diffs.append({"path": block.path, "oldText": block.old, "newText": block.new})
        elif isinstance(block, c.TerminalBlock):
            terminals.append({"terminalId": block.terminal_id})
        elif not isinstance(block, c.TextBlock) and not (isinstance(block, c.ImageBlock) and block.data):
            others.append(block_to_wire(block))
    found = {"diffs": diffs, "terminals": terminals, "blocks": others}
    return {name: value for name, value in found.items() if value}


def acp_content(blocks: Iterable[c.Content]) -> list[dict[str, Any]]:
    """Give the content of a call in the shape of ACP, as a permission request shows it."""
    listed = list(blocks)
    terminals = {block.terminal_id for block in listed if isinstance(block, c.TerminalBlock)}
    return [tool_content_to_wire(block, terminals) for block in listed]


def shorten(text: str, most: int) -> str:
    """Cut a text that is too long, and say how much is left out; 0 is no limit."""
    if not most or len(text) <= most:
        return text
    return f"{text[:most]}\n[{len(text) - most} more characters are not shown]"
