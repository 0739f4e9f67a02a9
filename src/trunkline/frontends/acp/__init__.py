"""The Agent Client Protocol, version 1: serving agents, its wire types, and reading them without loss.

The names below are the ones most code needs; ``trunkline.protocols.acp.wire`` has all of them. They
are imported when they are first asked for, because an editor waits for every import at its start.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trunkline.frontends.acp.handset import stdio_transport
    from trunkline.frontends.acp.serving import serve_acp
    from trunkline.protocols.acp.lossless import Unknown, decode, encode
    from trunkline.protocols.acp.wire import (
        AgentMessageChunk,
        AgentThoughtChunk,
        AudioContent,
        ContentBlock,
        EmbeddedResource,
        ImageContent,
        InitializeRequest,
        InitializeResponse,
        NewSessionRequest,
        NewSessionResponse,
        PermissionOption,
        PermissionOptionKind,
        PromptRequest,
        PromptResponse,
        RequestPermissionRequest,
        RequestPermissionResponse,
        ResourceLink,
        SessionNotification,
        SessionUpdate,
        StopReason,
        TextContent,
        ToolCall,
        ToolCallStatus,
        ToolCallUpdate,
        ToolKind,
    )

__all__ = [
    "AgentMessageChunk",
    "AgentThoughtChunk",
    "AudioContent",
    "ContentBlock",
    "EmbeddedResource",
    "ImageContent",
    "InitializeRequest",
    "InitializeResponse",
    "NewSessionRequest",
    "NewSessionResponse",
    "PermissionOption",
    "PermissionOptionKind",
    "PromptRequest",
    "PromptResponse",
    "RequestPermissionRequest",
    "RequestPermissionResponse",
    "ResourceLink",
    "SessionNotification",
    "SessionUpdate",
    "StopReason",
    "TextContent",
    "ToolCall",
    "ToolCallStatus",
    "ToolCallUpdate",
    "ToolKind",
    "Unknown",
    "decode",
    "encode",
    "serve_acp",
    "stdio_transport",
]

_HOMES = {
    "Unknown": "protocols.acp.lossless",
    "decode": "protocols.acp.lossless",
    "encode": "protocols.acp.lossless",
    "serve_acp": "frontends.acp.serving",
    "stdio_transport": "frontends.acp.handset",
}


def __getattr__(name: str) -> Any:
    """Import a public name from the module that has it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"trunkline.{_HOMES.get(name, 'protocols.acp.wire')}"), name)
    globals()[name] = value
    return value
