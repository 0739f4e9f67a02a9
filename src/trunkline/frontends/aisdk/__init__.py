"""The AI SDK front end: serves sessions to pages built on useChat.

* ``acp_conversion``: ACP's updates and the AI SDK's messages, one by one
* ``chat_request``: reads the requests of useChat
* ``content_parts``: content blocks as parts of a message
* ``decoder``: what a request means for a session; pure
* ``encoder``: neutral events to the chunks of a UI message stream; pure (words: ``protocols.aisdk.wire``)
* ``endpoint``: opens the responses of pages on the turns of a session
* ``history``: the history of a chat where a response begins
* ``imported_history``: the history that a page brings to a new chat
* ``lane_calls``: the tool calls of one lane, as chunks
* ``lane_encoder``: what is said in one lane, as the chunks of one message
* ``losses``: what the stream has no chunk for, and where its meaning goes
* ``lost_ends``: counts the pages that lack the end of a turn
* ``message_ids``: makes messages and ids for them
* ``message_reducer``: folds chunks to a message, as the AI SDK does it
* ``messages``: the messages of a chat as a page holds them
* ``metadata``: what agents say in fields of their own, and tokens spent
* ``openings``: the requests that are not in a turn yet
* ``options``: what the front end shows
* ``questions``: questions as approvals and data parts, and their answers
* ``run``: one response: a window on a turn
* ``subagents``: subagents as data parts with messages of their own
* ``terminals``: what terminals have printed
* ``text_parts``: text and reasoning parts of one message, and its steps
* ``throttle``: holds back parts that are sent whole each time they change
* ``tool_calls``: one tool call on the wire
* ``user_parts``: what a person sent, as content for an agent
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names

if TYPE_CHECKING:
    from trunkline.frontends.aisdk.acp_conversion import (
        StreamState,
        map_tool_status,
        session_update_to_chunks,
        session_update_to_part,
        tool_call_to_ui_part,
        ui_message_to_content_blocks,
    )
    from trunkline.frontends.aisdk.chat_request import ChatRequest
    from trunkline.frontends.aisdk.decoder import read_chat_request
    from trunkline.frontends.aisdk.encoder import AisdkEncoder
    from trunkline.frontends.aisdk.endpoint import AisdkEndpoint
    from trunkline.frontends.aisdk.message_ids import create_ui_message, generate_message_id
    from trunkline.frontends.aisdk.messages import fold_ui_messages
    from trunkline.frontends.aisdk.options import AisdkOptions
    from trunkline.frontends.aisdk.run import AisdkResponse

__all__ = [
    "AisdkEncoder",
    "AisdkEndpoint",
    "AisdkOptions",
    "AisdkResponse",
    "ChatRequest",
    "StreamState",
    "create_ui_message",
    "fold_ui_messages",
    "generate_message_id",
    "map_tool_status",
    "read_chat_request",
    "session_update_to_chunks",
    "session_update_to_part",
    "tool_call_to_ui_part",
    "ui_message_to_content_blocks",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "AisdkEncoder": "trunkline.frontends.aisdk.encoder",
        "AisdkEndpoint": "trunkline.frontends.aisdk.endpoint",
        "AisdkOptions": "trunkline.frontends.aisdk.options",
        "AisdkResponse": "trunkline.frontends.aisdk.run",
        "ChatRequest": "trunkline.frontends.aisdk.chat_request",
        "StreamState": "trunkline.frontends.aisdk.acp_conversion",
        "create_ui_message": "trunkline.frontends.aisdk.message_ids",
        "fold_ui_messages": "trunkline.frontends.aisdk.messages",
        "generate_message_id": "trunkline.frontends.aisdk.message_ids",
        "map_tool_status": "trunkline.frontends.aisdk.acp_conversion",
        "read_chat_request": "trunkline.frontends.aisdk.decoder",
        "session_update_to_chunks": "trunkline.frontends.aisdk.acp_conversion",
        "session_update_to_part": "trunkline.frontends.aisdk.acp_conversion",
        "tool_call_to_ui_part": "trunkline.frontends.aisdk.acp_conversion",
        "ui_message_to_content_blocks": "trunkline.frontends.aisdk.acp_conversion",
    },
)
