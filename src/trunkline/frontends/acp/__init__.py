"""The Agent Client Protocol, version 1: serving agents, its wire types, and reading them without loss.

The names below are the ones most code needs; ``trunkline.frontends.acp.wire`` has all of them. They
are imported when they are first asked for, because an editor waits for every import at its start.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trunkline.frontends.acp.handset import stdio_transport
    from trunkline.frontends.acp.lossless import Unknown, decode, encode
    from trunkline.frontends.acp.serving import serve_acp
    from trunkline.frontends.acp.wire import (
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
    "Unknown": "lossless",
    "decode": "lossless",
    "encode": "lossless",
    "serve_acp": "serving",
    "stdio_transport": "handset",
}


def __getattr__(name: str) -> Any:
    """Import a public name from the module that has it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'wire')}"), name)
    globals()[name] = value
    return value
