"""Streams: batches of events as one response that goes on until they end or nobody reads any more.

``send`` waits for the reader, so a slow one holds up its own stream and nothing else: what it has not read
yet stays in the journal. The work is done by tasks of our own, each cancelled once and waited for. A cancel
scope would cancel again and again, and some frameworks never stop under that.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from trunkline.cursor import Cursor
from trunkline.protocols.agui.protobuf import MEDIA_TYPE, frame_event
from trunkline.protocols.agui.wire import encode
from trunkline.protocols.sse import KEEP_ALIVE, write_frames
from trunkline.protocols.sse import MEDIA_TYPE as EVENT_STREAM

__all__ = ["NDJSON", "PROTOBUF", "SSE", "Framing", "Stream", "framing_for"]

_PACE = 0.005
"""Seconds between the small messages of a fast stream: to send costs more than to say."""
_FEW = 64
"""Events that make a message worth sending at once."""

Batches = AsyncGenerator[tuple[Cursor | None, Sequence[Any]]]


class Framing(NamedTuple):
    """How events look as bytes."""

    media_type: str
    frame: Callable[[Cursor | None, Sequence[Any]], bytes]
    comment: bytes
    """What keeps a silent connection open and says nothing; empty where there is no such thing."""


def _frame_events(cursor: Cursor | None, events: Sequence[Any]) -> bytes:
    """Write server-sent events; the last one carries the place after all of them."""
    return write_frames([encode(event) for event in events], cursor)


def _frame_lines(cursor: Cursor | None, events: Sequence[Any]) -> bytes:
    """Write each event as a line of JSON."""
    return b"".join([encode(event) + b"\n" for event in events])


def _frame_messages(cursor: Cursor | None, events: Sequence[Any]) -> bytes:
    """Write each event as a message of protobuf."""
    return b"".join([frame_event(event) for event in events])


SSE = Framing(f"{EVENT_STREAM}; charset=utf-8", _frame_events, KEEP_ALIVE)
NDJSON = Framing("application/x-ndjson", _frame_lines, b"\n")
PROTOBUF = Framing(MEDIA_TYPE, _frame_messages, b"")


def framing_for(request: Request, *, modern: bool = True) -> Framing:
    """What the client likes best to read: server-sent events, unless it names something else.

    A client older than 1.0 fails on what its protobuf does not know, such as the result of a call; it reads
    server-sent events whatever it asks for.
    """
    likes = _likes(request)
    offered = (PROTOBUF, NDJSON, SSE) if modern else (NDJSON, SSE)
    best = max(offered, key=lambda one: likes.get(_name_of(one.media_type), 0.0))
    return best if likes.get(_name_of(best.media_type)) else SSE


def _likes(request: Request) -> dict[str, float]:
    """How much a client likes each of the types that it names, from 0 to 1."""
    likes: dict[str, float] = {}
    for one in ",".join(request.headers.getlist("accept")).split(","):
        weight = re.search(r";\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*(?:;|$)", one)
        likes[_name_of(one)] = float(weight[1]) if weight else 1.0
    return likes


def _name_of(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


class _Left(Exception):
    """The reader is gone, says the server."""


class Stream(Response):
    """Sends batches as they come; ``close`` is awaited at the end, however it came to that."""

    def __init__(
        self,
        batches: Batches,
        framing: Framing = SSE,
        *,
        close: Callable[[], Awaitable[None]] | None = None,
        keep_alive: float = 15.0,
        stall_seconds: float = 300.0,
    ) -> None:
        """Stream batches; a comment goes out after ``keep_alive`` seconds of silence."""
        self.status_code = 200
        self.background = None
        self.init_headers(
            {
                "content-type": framing.media_type,
                "cache-control": "no-cache",
                "x-accel-buffering": "no",
            }
        )
        self._batches = batches
        self._framing = framing
        self._close = close
        self._keep_alive = keep_alive
        self._stall_seconds = stall_seconds
        self._sending = asyncio.Lock()
        self._spoke = time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the batches end, the reader leaves, or it takes nothing for too long."""
        pump = asyncio.create_task(self._pump(send), name="trunkline stream")
        watch = asyncio.create_task(_leaves(receive), name="trunkline stream watch")
        tasks = {pump, watch}
        try:
            while not (pump.done() or watch.done()):
                silent = time.monotonic() - self._spoke
                wait = self._keep_alive - silent
                if self._sending.locked():
                    wait = self._stall_seconds - silent
                    if wait <= 0:
                        break
                elif wait <= 0:
                    wait = self._keep_alive
                    if self._framing.comment:
                        tasks.add(asyncio.create_task(self._send(send, self._framing.comment)))
                await asyncio.wait(tasks, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
                tasks = {task for task in tasks if not task.done()}
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._batches.aclose()
            if self._close is not None:
                await self._close()
        if pump.done() and not pump.cancelled():
            with suppress(_Left):
                pump.result()

    async def _pump(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        frame = self._framing.frame
        begun = False
        async with aclosing(self._batches) as batches:
            async for cursor, events in batches:
                if not events:
                    continue
                # The first piece is the start of a run: its first words do not wait for more.
                fast = begun and time.monotonic() - self._spoke < _PACE
                begun = True
                await self._send(send, frame(cursor, events))
                if fast:
                    # What is said meanwhile comes in one piece; and others get their turn.
                    await asyncio.sleep(_PACE if len(events) < _FEW else 0)
        await self._send(send, b"", more=False)

    async def _send(self, send: Send, piece: bytes, *, more: bool = True) -> None:
        async with self._sending:
            self._spoke = time.monotonic()
            try:
                await send({"type": "http.response.body", "body": piece, "more_body": more})
            except OSError as error:
                raise _Left from error
            self._spoke = time.monotonic()


async def _leaves(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
