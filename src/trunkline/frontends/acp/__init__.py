"""The Agent Client Protocol, version 1: serving agents, its wire types, and reading them without loss.

The names below are the ones most code needs; ``trunkline.protocols.acp.wire`` has all of them. They
are imported when they are first asked for, because an editor waits for every import at its start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names

if TYPE_CHECKING:
    from trunkline.frontends.acp.manual import stdio_transport
    from trunkline.frontends.acp.stdio import serve_acp
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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "AgentMessageChunk": "trunkline.protocols.acp.wire",
        "AgentThoughtChunk": "trunkline.protocols.acp.wire",
        "AudioContent": "trunkline.protocols.acp.wire",
        "ContentBlock": "trunkline.protocols.acp.wire",
        "EmbeddedResource": "trunkline.protocols.acp.wire",
        "ImageContent": "trunkline.protocols.acp.wire",
        "InitializeRequest": "trunkline.protocols.acp.wire",
        "InitializeResponse": "trunkline.protocols.acp.wire",
        "NewSessionRequest": "trunkline.protocols.acp.wire",
        "NewSessionResponse": "trunkline.protocols.acp.wire",
        "PermissionOption": "trunkline.protocols.acp.wire",
        "PermissionOptionKind": "trunkline.protocols.acp.wire",
        "PromptRequest": "trunkline.protocols.acp.wire",
        "PromptResponse": "trunkline.protocols.acp.wire",
        "RequestPermissionRequest": "trunkline.protocols.acp.wire",
        "RequestPermissionResponse": "trunkline.protocols.acp.wire",
        "ResourceLink": "trunkline.protocols.acp.wire",
        "SessionNotification": "trunkline.protocols.acp.wire",
        "SessionUpdate": "trunkline.protocols.acp.wire",
        "StopReason": "trunkline.protocols.acp.wire",
        "TextContent": "trunkline.protocols.acp.wire",
        "ToolCall": "trunkline.protocols.acp.wire",
        "ToolCallStatus": "trunkline.protocols.acp.wire",
        "ToolCallUpdate": "trunkline.protocols.acp.wire",
        "ToolKind": "trunkline.protocols.acp.wire",
        "Unknown": "trunkline.protocols.acp.lossless",
        "decode": "trunkline.protocols.acp.lossless",
        "encode": "trunkline.protocols.acp.lossless",
        "serve_acp": "trunkline.frontends.acp.stdio",
        "stdio_transport": "trunkline.frontends.acp.manual",
    },
)
