"""Streams that are being opened: what ``/agui`` and ``/api/chat`` have in common."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing, suppress
from typing import Any, Protocol, TypeVar

from starlette.responses import Response

from trunkline.cursor import Cursor
from trunkline.server.agents import ServedAgents
from trunkline.server.event_stream import Framing, StreamResponse


class Shown(Protocol):
    """What a client is shown: batches, with the cursor behind each."""

    def __aiter__(self) -> AsyncGenerator[tuple[Cursor | None, Sequence[Any]]]:
        """Give the batches."""
        ...

    async def close(self) -> None:
        """Detach the client."""


AnyShown = TypeVar("AnyShown", bound=Shown | None)


class OpeningStreams:
    """Streams what is being opened, also where the agent takes its time to start."""

    def __init__(self, agents: ServedAgents) -> None:
        self._agents = agents
        self._closing: set[asyncio.Task[None]] = set()

    async def respond(
        self,
        opening: Coroutine[Any, Any, Shown | None],
        framing: Framing,
        *,
        nothing: Response,
        tell: Callable[[Exception], Any],
        is_counted: Callable[[Shown], bool] = lambda _: True,
        comment: bytes = b"",
    ) -> Response:
        """Stream what is being opened; ``nothing`` is the response without it.

        What is refused in time has a status of its own. An agent that takes longer to start must not hold
        back the headers, because proxies give up a silent request after 30 to 60 seconds: the response then
        begins without it, and ``tell`` gives the event of a failure. A shutdown waits for what is counted.
        ``comment`` follows the headers at once.
        """
        task = asyncio.create_task(opening, name="trunkline opens a stream")
        try:
            await asyncio.wait({task}, timeout=self._agents.limits.open_seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not task.done():
            return self._stream_later(task, framing, tell, comment or framing.comment)
        shown = task.result()
        if shown is None:
            return nothing
        if is_counted(shown):
            self._agents.add_run(shown)

        async def close() -> None:
            self._agents.remove_run(shown)
            await shown.close()

        return StreamResponse(aiter(shown), framing, close=close, limits=self._agents.limits, opening=comment)

    async def opened(self, opening: Coroutine[Any, Any, AnyShown]) -> AnyShown:
        """Wait until something is open; a client that leaves meanwhile leaves its turn, which begins."""
        task = asyncio.create_task(opening, name="trunkline opens a stream")
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self._agents.add_run(task)
            self._close_soon(task)
            raise

    def _stream_later(
        self,
        task: asyncio.Task[Shown | None],
        framing: Framing,
        tell: Callable[[Exception], Any],
        comment: bytes,
    ) -> StreamResponse:
        """Stream what its agent still opens; a client that leaves meanwhile leaves its turn."""
        self._agents.add_run(task)

        async def close() -> None:
            self._close_soon(task)

        return StreamResponse(
            _batches_of(task, tell), framing, close=close, limits=self._agents.limits, opening=comment
        )

    def _close_soon(self, task: asyncio.Task[Any]) -> None:
        closing = asyncio.create_task(self._close_when_open(task))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def _close_when_open(self, task: asyncio.Task[Shown | None]) -> None:
        try:
            with suppress(Exception):
                shown = await task
                if shown is not None:
                    await shown.close()
        finally:
            self._agents.remove_run(task)


async def _batches_of(
    task: asyncio.Task[Shown | None], tell: Callable[[Exception], Any]
) -> AsyncGenerator[tuple[Cursor | None, Sequence[Any]]]:
    try:
        shown = await asyncio.shield(task)
    except Exception as error:
        yield None, [tell(error)]
        return
    if shown is not None:
        async with aclosing(aiter(shown)) as batches:
            async for batch in batches:
                yield batch
