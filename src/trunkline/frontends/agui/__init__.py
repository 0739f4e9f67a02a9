"""The AG-UI front end: serves sessions to web pages. Only the protocol's types are imported at once.

* ``activities``: what an agent shows besides text
* ``buffered_transports``: transports whose reader may be slow or gone
* ``console``: events on a console, as JSON or for a person
* ``decoder``: what a request means for a session; pure
* ``early_results``: results of front-end tools that come before the agent asks for them
* ``encoder``: neutral events to AG-UI events; pure
* ``endpoint``: opens the runs of clients on the turns of a session
* ``event_queue``: events on their way to a reader, in order and bounded
* ``following``: all runs of a thread in one stream, for a client that stays
* ``history``: the history of a thread where a run begins, and what its client lacks of it
* ``hosted``: AG-UI for runs in a program of the user, on a transport of the user
* ``lanes``: the lanes of a run: the agent's own, and one for each subagent
* ``late_answers``: why an answer that came too late was not used
* ``legacy_interrupts``: interrupts as an event and a command, for pages of ag-ui-langgraph
* ``losses``: what AG-UI has no event for, and where its meaning goes
* ``options``: what the front end shows, and how long it waits
* ``questions``: questions as interrupts, and resumes and results of front-end tools as their answers
* ``rewind``: where a thread goes back to before it goes on
* ``run``: one run: a window on a turn, from RUN_STARTED to its one terminal
* ``seen_turns``: how much of a thread each page has seen
* ``snapshot_size``: makes a snapshot of messages small enough, and corrects it, so that a client can take it
* ``state``: the shared state in a run: snapshots and patches
* ``steering``: a run whose message is for the turn that is running
* ``substitute_messages``: text messages for what AG-UI has no event for that pages show
* ``text_parts``: the text and the reasoning of one lane
* ``thread_outline``: what the server has of a thread, for what a request means
* ``tool_calls``: tool calls on the wire
* ``transports``: takes AG-UI events to a client, for agents without our server
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.wire import *  # noqa: F403  # Its __all__ lists these names once.

if TYPE_CHECKING:
    from trunkline.frontends.agui.decoder import read_input
    from trunkline.frontends.agui.encoder import AguiEncoder
    from trunkline.frontends.agui.endpoint import AguiEndpoint
    from trunkline.frontends.agui.options import AguiOptions
    from trunkline.frontends.agui.run import AguiRun
    from trunkline.frontends.agui.transports import (
        AguiTransport,
        console_transport,
        http_transport,
        sse_transport,
        websocket_transport,
    )
    from trunkline.protocols.agui.codes import ErrorCode
    from trunkline.protocols.agui.event_types import EventType

__all__ = [
    "AguiEncoder",
    "AguiEndpoint",
    "AguiOptions",
    "AguiRun",
    "AguiTransport",
    "ErrorCode",
    "EventType",
    "console_transport",
    "http_transport",
    "read_input",
    "sse_transport",
    "websocket_transport",
]
__all__ += wire.__all__

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(wire.__all__, wire.__name__),
        "AguiEncoder": "trunkline.frontends.agui.encoder",
        "AguiEndpoint": "trunkline.frontends.agui.endpoint",
        "AguiOptions": "trunkline.frontends.agui.options",
        "AguiRun": "trunkline.frontends.agui.run",
        "AguiTransport": "trunkline.frontends.agui.transports",
        "ErrorCode": "trunkline.protocols.agui.codes",
        "EventType": "trunkline.protocols.agui.event_types",
        "console_transport": "trunkline.frontends.agui.transports",
        "http_transport": "trunkline.frontends.agui.transports",
        "read_input": "trunkline.frontends.agui.decoder",
        "sse_transport": "trunkline.frontends.agui.transports",
        "websocket_transport": "trunkline.frontends.agui.transports",
    },
)
