"""Tools, results and questions as MCP writes them; pure.

Addresses: https://modelcontextprotocol.io/specification/2025-11-25/server/tools and, for elicitation,
https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trunkline import content as c
from trunkline.tools.call_files import diff_text
from trunkline.tools.declaration import Tool
from trunkline.tools.naming import title_of
from trunkline.tools.results import json_value, model_text, shown_content

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The versions that are negotiated by ``initialize``."""
MODERN_VERSIONS = ("2026-07-28",)
"""The versions in which each request names its version, and there is no handshake."""

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"

_READS = frozenset({"read", "search", "fetch", "think"})


def negotiate(requested: str) -> str:
    """The version to speak: the one that the client wants, else the newest that both may know.

    "If the server supports the requested protocol version, it MUST respond with the same version.
    Otherwise, the server MUST respond with another protocol version it supports."
    (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation)
    """
    return requested if requested in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]


def describe_tool(tool: Tool, version: str) -> dict[str, Any]:
    """A tool as the list shows it; what a version does not know is left out."""
    described: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.schema,
    }
    title = title_of(tool.name, None)
    if version >= "2025-03-26":
        reads = tool.kind in _READS
        hints = {"readOnlyHint": True} if reads else {"readOnlyHint": False, "destructiveHint": True}
        described["annotations"] = {"title": title, **hints, "openWorldHint": tool.kind == "fetch"}
    if version >= "2025-06-18":
        described["title"] = title
        if tool.output_schema is not None:
            described["outputSchema"] = tool.output_schema
    return described


def describe_result(tool: Tool, result: Any, version: str) -> dict[str, Any]:
    """A result: the text that a model reads, what is no text beside it, and its JSON."""
    shown = (block for block in shown_content(result, tool.shows) if not isinstance(block, c.TextBlock))
    beside = [_block(block, version) for block in shown]
    described: dict[str, Any] = {"content": [{"type": "text", "text": model_text(result)}, *beside]}
    value = json_value(result)
    if version >= "2025-06-18" and (isinstance(value, dict) or tool.output_schema is not None):
        described["structuredContent"] = value
    return described


def describe_failure(error: BaseException) -> dict[str, Any]:
    """A call that failed: the model reads why, and may call again."""
    text = str(error) or type(error).__name__
    return {"content": [{"type": "text", "text": text}], "isError": True}


def _block(block: c.Content, version: str) -> dict[str, Any]:
    if isinstance(block, c.ImageBlock) and block.data is not None:
        return {"type": "image", "data": block.data, "mimeType": block.mime_type}
    if isinstance(block, c.AudioBlock) and block.data is not None and version >= "2025-03-26":
        return {"type": "audio", "data": block.data, "mimeType": block.mime_type}
    if isinstance(block, c.ResourceBlock) and (block.text is not None or block.data is not None):
        inside = {"text": block.text} if block.text is not None else {"blob": block.data}
        kind = {} if block.mime_type is None else {"mimeType": block.mime_type}
        return {"type": "resource", "resource": {"uri": block.uri, **inside, **kind}}
    if isinstance(block, c.LinkBlock) and version >= "2025-06-18":
        return {"type": "resource_link", "uri": block.uri, "name": block.name}
    if isinstance(block, c.DiffBlock):
        return {"type": "text", "text": diff_text(block)}
    return {"type": "text", "text": c.text_of((block,)) or f"[{type(block).__name__}]"}


def permission_form(
    message: str, tool: Tool, input: Any, shown: tuple[c.Content, ...], options: Any
) -> dict[str, Any]:
    """The form that asks for a permission: the whole call, and one choice."""
    written = msgspec.json.format(msgspec.json.encode(input), indent=2).decode()
    seen = [diff_text(one) if isinstance(one, c.DiffBlock) else c.text_of((one,)) for one in shown]
    lines = [message, f"{tool.name} ({tool.kind}) with {written}", *seen]
    choice = {
        "type": "string",
        "title": "Decision",
        "enum": [one.option_id for one in options],
        "enumNames": [one.name for one in options],
    }
    schema = {"type": "object", "properties": {"decision": choice}, "required": ["decision"]}
    return {"message": "\n\n".join(part for part in lines if part), "requestedSchema": schema}
