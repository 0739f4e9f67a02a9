"""Run a plain (not async) wrapper of tool calls in a thread of its own, and do not block the loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Awaitable, Callable
from typing import Any

from trunkline.agents.own_thread import OwnThread

Execute = Callable[[Any], Awaitable[Any]]
PlainWrap = Callable[[Any, Callable[[Any], Any]], Any]


async def wrap_in_thread(plain: PlainWrap, execute: Execute, request: Any) -> Any:
    """Call a plain wrapper in a thread; the tool that it runs still runs in this loop."""
    loop = asyncio.get_running_loop()
    running: set[concurrent.futures.Future[Any]] = set()

    async def run(given: Any) -> Any:
        return await execute(given)

    def execute_from_thread(given: Any) -> Any:
        future = asyncio.run_coroutine_threadsafe(run(given), loop)
        running.add(future)
        return future.result()

    thread = OwnThread()
    try:
        return await thread.do(lambda: plain(request, execute_from_thread))
    finally:
        for future in running:
            future.cancel()
        await thread.end()
