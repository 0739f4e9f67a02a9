"""The UnifiedMessage front end: any agent behind BeamCode's envelope, in a program or on a WebSocket.

* ``backend``: ``BackendAdapter`` and ``BackendSession``, for programs
* ``client_messages``: reads what a client sends, whole messages and short forms
* ``content_blocks``: content blocks as contents of a message
* ``decoder``: what a client's message asks of a session; pure
* ``encoder``: neutral events to UnifiedMessages; pure
* ``endpoint``: one client on one session
* ``error_codes``: why a turn ended as an error code
* ``following``: follows a session from any place
* ``handled_files``: files that a program's own object reads and writes, within our rules
* ``losses``: what has no message, and where its meaning goes
* ``message_iterator``: the messages of a connection one by one
* ``options``: what the front end shows
* ``questions``: questions as permission requests, and their answers
* ``session_facts``: options and commands
* ``session_init``: the first message of a connection, and the answer to initialize
* ``tool_calls``: one tool call on the wire
* ``turn_content``: what was said in a turn, in order
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names
from trunkline.protocols.unified import wire
from trunkline.protocols.unified.wire import *  # noqa: F403  # Its __all__ lists these names once.

if TYPE_CHECKING:
    from trunkline.frontends.unified.backend import (
        BackendAdapter,
        BackendCapabilities,
        BackendSession,
        user_message,
    )
    from trunkline.frontends.unified.encoder import UnifiedEncoder
    from trunkline.frontends.unified.options import UnifiedOptions
    from trunkline.protocols.unified.canonical import canonical_json

__all__ = [
    "BackendAdapter",
    "BackendCapabilities",
    "BackendSession",
    "UnifiedEncoder",
    "UnifiedOptions",
    "canonical_json",
    "user_message",
]
__all__ += wire.__all__

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(wire.__all__, wire.__name__),
        "BackendAdapter": "trunkline.frontends.unified.backend",
        "BackendCapabilities": "trunkline.frontends.unified.backend",
        "BackendSession": "trunkline.frontends.unified.backend",
        "UnifiedEncoder": "trunkline.frontends.unified.encoder",
        "UnifiedOptions": "trunkline.frontends.unified.options",
        "canonical_json": "trunkline.protocols.unified.canonical",
        "user_message": "trunkline.frontends.unified.backend",
    },
)
