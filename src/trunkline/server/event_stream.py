"""Event streams: batches of events as one response, until they end or the client stops reading.

``send`` waits for the client, so a slow one holds up its own stream and nothing else: what it has not read
yet stays in the journal. The work is done by tasks of our own, each cancelled once and waited for. A cancel
scope would cancel again and again, and some frameworks never stop under that.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from trunkline.cursor import Cursor
from trunkline.protocols.sse import KEEP_ALIVE, MEDIA_TYPE
from trunkline.server.limits import Limits

_PACE = 0.005
"""Seconds between the small messages of a fast stream: sending costs more than producing."""
_FEW = 64
"""Events that make a message worth sending at once."""

Batches = AsyncGenerator[tuple[Cursor | None, Sequence[Any]]]


class Framing(msgspec.Struct, frozen=True, kw_only=True):
    """How events look as bytes, and what stands around them."""

    media_type: str
    write: Callable[[Cursor | None, Sequence[Any]], bytes]
    comment: bytes = b""
    """Bytes without meaning that keep a silent connection open; empty where the format has none."""
    end: bytes = b""
    """The last bytes of a stream that ends by itself, such as ``data: [DONE]``."""
    headers: Mapping[str, str] = {}
    """Headers of the response besides those of every stream."""


def sse_framing(
    write: Callable[[Cursor | None, Sequence[Any]], bytes],
    *,
    end: bytes = b"",
    headers: Mapping[str, str] | None = None,
) -> Framing:
    """Give a framing of server-sent events that ``write`` writes."""
    media_type = f"{MEDIA_TYPE}; charset=utf-8"
    return Framing(media_type=media_type, write=write, comment=KEEP_ALIVE, end=end, headers=headers or {})


def wanted_framing(request: Request, offered: Sequence[Framing]) -> Framing:
    """Give the framing that the client's Accept header prefers; the last one when it names none of them."""
    weights = _accept_weights(request)
    best = max(offered, key=lambda one: weights.get(_type_name(one.media_type), 0.0))
    return best if weights.get(_type_name(best.media_type)) else offered[-1]


def _accept_weights(request: Request) -> dict[str, float]:
    """Give the weight (0 to 1) of each media type that the client names.

    "If no "q" parameter is present, the default weight is 1."
    (RFC 9110, section 12.4.2, https://www.rfc-editor.org/rfc/rfc9110#section-12.4.2)
    """
    weights: dict[str, float] = {}
    for one in ",".join(request.headers.getlist("accept")).split(","):
        weight = re.search(r";\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*(?:;|$)", one)
        weights[_type_name(one)] = float(weight[1]) if weight else 1.0
    return weights


def _type_name(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


class _ClientGone(Exception):
    """The server below cannot send any more."""


class StreamResponse(Response):
    """Sends batches as they come; ``close`` is awaited at the end, for whatever reason it ends."""

    def __init__(
        self,
        batches: Batches,
        framing: Framing,
        *,
        close: Callable[[], Awaitable[None]] | None = None,
        limits: Limits | None = None,
        opening: bytes = b"",
    ) -> None:
        """Stream batches; a comment goes out after the ``keep_alive_seconds`` of the limits without an event.

        ``opening`` follows the headers at once, for streams whose first event may take a while: some servers
        and proxies send the headers with the first bytes of the body only.
        """
        self.status_code = 200
        self.background = None
        self.init_headers(
            {
                "content-type": framing.media_type,
                "cache-control": "no-cache",
                "x-accel-buffering": "no",
                **framing.headers,
            }
        )
        self._batches = batches
        self._framing = framing
        self._close = close
        limits = limits or Limits()
        self._keep_alive = limits.keep_alive_seconds
        self._stall_seconds = limits.stall_seconds
        self._opening = opening
        self._sending = asyncio.Lock()
        self._sent_at = time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the batches end, the client leaves, or it reads nothing for too long."""
        pump = asyncio.create_task(self._pump(send), name="trunkline stream")
        watch = asyncio.create_task(_wait_for_disconnect(receive), name="trunkline stream watch")
        tasks = {pump, watch}
        try:
            while not (pump.done() or watch.done()):
                silent = time.monotonic() - self._sent_at
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
            with suppress(_ClientGone):
                pump.result()

    async def _pump(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if self._opening:
            await self._send(send, self._opening)
        write = self._framing.write
        begun = False
        async with aclosing(self._batches) as batches:
            async for cursor, events in batches:
                if not events:
                    continue
                # The first batch is the start of a run: it does not wait for more.
                fast = begun and time.monotonic() - self._sent_at < _PACE
                begun = True
                await self._send(send, write(cursor, events))
                if fast:
                    # What comes meanwhile is sent as one piece, and other tasks run.
                    await asyncio.sleep(_PACE if len(events) < _FEW else 0)
        await self._send(send, self._framing.end, more=False)

    async def _send(self, send: Send, piece: bytes, *, more: bool = True) -> None:
        async with self._sending:
            self._sent_at = time.monotonic()
            try:
                await send({"type": "http.response.body", "body": piece, "more_body": more})
            except OSError as error:
                raise _ClientGone from error
            self._sent_at = time.monotonic()


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
