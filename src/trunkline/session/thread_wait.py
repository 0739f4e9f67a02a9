"""Wait in a plain function, which runs in a thread of its own, for something in the loop of a turn."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Awaitable
from typing import Any, TypeVar

from trunkline.errors import TurnCancelled
from trunkline.session.handles import in_loop

__all__ = ["discard", "wait_in_loop"]

T = TypeVar("T")


def wait_in_loop(awaitable: Awaitable[T], loop: asyncio.AbstractEventLoop, settled: asyncio.Event) -> T:
    """Wait for something in ``loop``; raises TurnCancelled once ``settled`` is set."""
    if in_loop():
        discard(awaitable)
        raise RuntimeError("ctx.wait() is for plain functions: write await instead")
    if settled.is_set() or loop.is_closed():
        discard(awaitable)
        raise TurnCancelled("the turn is over")
    waiting = asyncio.run_coroutine_threadsafe(_wait(awaitable, settled), loop)
    try:
        return waiting.result()
    except concurrent.futures.CancelledError:
        raise TurnCancelled("what was waited for was cancelled") from None


async def _wait(awaitable: Awaitable[T], settled: asyncio.Event) -> T:
    work = asyncio.ensure_future(awaitable)
    over = asyncio.ensure_future(settled.wait())
    try:
        await asyncio.wait({work, over}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise TurnCancelled("the turn is over")
        return work.result()
    finally:
        work.cancel()
        over.cancel()


def discard(awaitable: Awaitable[Any]) -> None:
    """Let go of something that is not awaited, without a warning from Python."""
    if asyncio.iscoroutine(awaitable):
        awaitable.close()
