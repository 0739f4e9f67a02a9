"""The UnifiedMessage front end: any agent behind BeamCode's envelope, in a program or on a WebSocket.

* ``content_blocks``: content blocks as contents of a message
* ``decoder``: what a client's message asks of a session; pure
* ``encoder``: neutral events to UnifiedMessages; pure
* ``error_codes``: why a turn ended as an error code
* ``losses``: what has no message, and where its meaning goes
* ``options``: what the front end shows
* ``questions``: questions as permission requests, and their answers
* ``session_facts``: the first message of a connection, options and commands
* ``short_frames``: frames without an envelope
* ``tool_calls``: one tool call on the wire
* ``turn_content``: what was said in a turn, in order
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names
from trunkline.protocols.unified import wire
from trunkline.protocols.unified.wire import *  # noqa: F403  # Its __all__ lists these names once.

if TYPE_CHECKING:
    from trunkline.frontends.unified.encoder import UnifiedEncoder
    from trunkline.frontends.unified.options import UnifiedOptions
    from trunkline.protocols.unified.canonical import canonical_json

__all__ = ["UnifiedEncoder", "UnifiedOptions", "canonical_json"]
__all__ += wire.__all__

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(wire.__all__, wire.__name__),
        "UnifiedEncoder": "trunkline.frontends.unified.encoder",
        "UnifiedOptions": "trunkline.frontends.unified.options",
        "canonical_json": "trunkline.protocols.unified.canonical",
    },
)
