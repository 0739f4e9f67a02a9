"""Transports: whatever takes AG-UI events to a client, for agents that run without a server of ours.

Any object with ``emit(event)`` is one; ``connect``, ``disconnect`` and ``is_connected`` are optional, and so
are ``drained`` (waits for a slow reader) and ``when_gone`` (calls back when the client is gone). Those made
here never raise into the agent. The two that stream are the body of a response in any web framework::

    stream = sse_transport()
    stream.attach(agent.ainvoke(read_input(body), transport=stream))
    return StreamingResponse(stream, media_type=stream.media_type, headers=stream.headers)
"""

from __future__ import annotations

from typing import Any, Literal, TextIO

from trunkline.errors import ConfigurationError
from trunkline.frontends.agui.buffered_transports import StreamTransport, WebSocketTransport
from trunkline.frontends.agui.console import ConsoleTransport, Detail
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.options import OnDisconnect
from trunkline.protocols import sse
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.protobuf import MEDIA_TYPE, frame_event
from trunkline.protocols.agui.transport import AguiTransport

__all__ = ["AguiTransport", "console_transport", "http_transport", "sse_transport", "websocket_transport"]


def sse_transport(
    *,
    keep_alive: float = 15.0,
    high_water_mark: int = 256,
    coalesce: bool = True,
    on_disconnect: OnDisconnect = "cancel",
) -> StreamTransport:
    """Make a stream of server-sent events for one run, as every AG-UI client reads it."""
    options = AguiOptions(
        keep_alive=keep_alive, high_water_mark=high_water_mark, coalesce=coalesce, on_disconnect=on_disconnect
    )
    return StreamTransport(
        sse.MEDIA_TYPE, lambda event: sse.write_frame(wire.encode(event)), sse.KEEP_ALIVE, options
    )


def http_transport(
    *,
    format: Literal["ndjson", "protobuf"] = "ndjson",
    keep_alive: float = 15.0,
    high_water_mark: int = 256,
    coalesce: bool = True,
    on_disconnect: OnDisconnect = "cancel",
) -> StreamTransport:
    """Make a stream with a line of JSON for each event of one run; an empty line is a sign of life.

    ``protobuf`` is for clients of AG-UI 1.0 that ask for it; it has no sign of life.
    """
    if format not in ("ndjson", "protobuf"):
        raise ConfigurationError(f"format is {format!r}: give one of ndjson, protobuf")
    options = AguiOptions(
        keep_alive=keep_alive, high_water_mark=high_water_mark, coalesce=coalesce, on_disconnect=on_disconnect
    )
    if format == "protobuf":
        return StreamTransport(MEDIA_TYPE, frame_event, b"", options)
    return StreamTransport("application/x-ndjson", lambda event: wire.encode(event) + b"\n", b"\n", options)


def websocket_transport(
    websocket: Any,
    *,
    high_water_mark: int = 256,
    coalesce: bool = True,
    on_disconnect: OnDisconnect = "cancel",
) -> WebSocketTransport:
    """Send each event as a text frame, on anything with an async ``send_text`` or ``send``.

    It carries one run after the other. Make it where the socket is served; closing the socket is yours.
    """
    options = AguiOptions(high_water_mark=high_water_mark, coalesce=coalesce, on_disconnect=on_disconnect)
    return WebSocketTransport(websocket, options)


def console_transport(file: TextIO | None = None, detail: Detail = "full") -> ConsoleTransport:
    """Print what an agent says: ``full`` is every event as JSON, ``brief`` what a person would read."""
    return ConsoleTransport(file, detail)
