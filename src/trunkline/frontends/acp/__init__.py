"""The ACP front end: serves agents to editors. Its names are imported when they are first used.

There is no ``decoder``: requests are read by ``trunkline.protocols.acp.lossless``, to the types of
``trunkline.protocols.acp.wire``. There is no ``options``: the front end has none of its own.

* ``card_cache``: the cache of agents' cards, from which ``initialize`` is answered
* ``editor``: the editor's files and terminals, with the methods of the sandboxed ones
* ``encoder``: neutral events to ACP updates; pure
* ``endpoint``: one client's methods on the sessions of a hub
* ``form_fields``: the fields of a form: their types, defaults and choices
* ``form_schema``: a form as the schema that an editor shows, and the content that it sends back
* ``forms_as_buttons``: a form that wants a yes or a no, or a link, as a permission request
* ``forms_as_text``: a form as a message, and the person's next message as its content
* ``history``: the history of a session as a client loads it
* ``hosted``: ACP for runs in a program of the user, on a transport of the user
* ``http_streams``: which stream of an HTTP client a message belongs to
* ``initialize``: the answer to ``initialize``
* ``known_words``: the words that ACP v1 knows, for words that an agent adds to ours
* ``lazy_endpoint``: answers ``initialize`` at once, and loads the rest when it is needed
* ``losses``: what ACP has no update for, and where its meaning goes
* ``manual``: ACP on stdin and stdout by hand, without sessions
* ``opened_session``: a session that a client has open: its files, terminals and prompts
* ``prompt_view``: a turn as one client sees it: updates, questions, waits
* ``questions``: questions as requests to the client
* ``request_checks``: refuses what cannot be done, before any work begins
* ``session_list``: sessions as a client lists them, page by page
* ``session_updates``: what a client is sent of its sessions besides answers: commands, changes, questions
* ``stdio``: serves ACP on standard input and output
* ``steering``: ``_session/steering``: a message for the turn that is running
* ``tool_calls``: tool calls on the wire
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
        **dict.fromkeys(__all__, "trunkline.protocols.acp.wire"),
        "Unknown": "trunkline.protocols.acp.lossless",
        "decode": "trunkline.protocols.acp.lossless",
        "encode": "trunkline.protocols.acp.lossless",
        "serve_acp": "trunkline.frontends.acp.stdio",
        "stdio_transport": "trunkline.frontends.acp.manual",
    },
)
