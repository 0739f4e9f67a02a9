"""The AI SDK front end: serves sessions to pages built on useChat.

* ``budget``: bounds what parts cost that are sent whole each time they change
* ``calls``: the tool calls of one message
* ``content_parts``: content blocks as parts of a message
* ``encoder``: neutral events to the chunks of a UI message stream; pure
* ``losses``: what the stream has no chunk for, and where its meaning goes
* ``message_encoder``: what is said in one lane as the chunks of one message
* ``messages``: the messages of a chat as a page holds them
* ``metadata``: what agents say in fields of their own, and tokens spent
* ``options``: what the front end shows
* ``parts``: text and reasoning parts of one message, and its steps
* ``questions``: questions as approvals and data parts, and their answers
* ``reducer``: folds chunks to a message, as the AI SDK does it
* ``subagents``: subagents as data parts with messages of their own
* ``terminals``: what terminals have printed
* ``tool_calls``: one tool call on the wire
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names

if TYPE_CHECKING:
    from trunkline.frontends.aisdk.encoder import AisdkEncoder
    from trunkline.frontends.aisdk.messages import fold_ui_messages
    from trunkline.frontends.aisdk.options import AisdkOptions

__all__ = ["AisdkEncoder", "AisdkOptions", "fold_ui_messages"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "AisdkEncoder": "trunkline.frontends.aisdk.encoder",
        "AisdkOptions": "trunkline.frontends.aisdk.options",
        "fold_ui_messages": "trunkline.frontends.aisdk.messages",
    },
)
