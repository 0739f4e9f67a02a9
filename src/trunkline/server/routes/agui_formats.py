"""The formats of AG-UI streams: server-sent events, lines of JSON, protobuf."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request

from trunkline.cursor import Cursor
from trunkline.protocols.agui.protobuf import MEDIA_TYPE, frame_event
from trunkline.protocols.agui.wire import encode
from trunkline.protocols.sse import write_frames
from trunkline.server.event_stream import Framing, sse_framing, wanted_framing


def _write_events(cursor: Cursor | None, events: Sequence[Any]) -> bytes:
    return write_frames([encode(event) for event in events], cursor)


def _write_lines(cursor: Cursor | None, events: Sequence[Any]) -> bytes:
    return b"".join([encode(event) + b"\n" for event in events])


def _write_protobuf(cursor: Cursor | None, events: Sequence[Any]) -> bytes:
    return b"".join([frame_event(event) for event in events])


SSE = sse_framing(_write_events)
NDJSON = Framing(media_type="application/x-ndjson", write=_write_lines, comment=b"\n")
PROTOBUF = Framing(media_type=MEDIA_TYPE, write=_write_protobuf)


def framing_for(request: Request, *, modern: bool = True) -> Framing:
    """Give the format that the client prefers: server-sent events, unless it names another one.

    A client older than 1.0 fails on what its protobuf does not know, such as the result of a call; it gets
    server-sent events whatever it asks for.
    """
    return wanted_framing(request, (PROTOBUF, NDJSON, SSE) if modern else (NDJSON, SSE))
