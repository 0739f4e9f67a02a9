"""Event loops: the one that runs here, and one of the process in which plain threads wait."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import importlib
import os
import threading
from collections.abc import Awaitable
from typing import Any, TypeVar, cast

T = TypeVar("T")

_STARTING = threading.Lock()
_CHECK_EVERY = 0.2  # seconds between two looks at whether the program ends


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that runs this code, or None."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def background_loop() -> asyncio.AbstractEventLoop:
    """The one loop of the process for what plain threads wait for: a transport may belong to one loop."""
    with _STARTING:
        return _start_loop(os.getpid())


@functools.cache
def _start_loop(process_id: int) -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="trunkline-background", daemon=True).start()
    return loop


def wait_in_thread(awaitable: Awaitable[T], loop: asyncio.AbstractEventLoop) -> T:
    """Wait in a plain thread for what runs in ``loop``; it is cancelled when the program ends."""
    exiting = _exit_event()
    waiting = asyncio.run_coroutine_threadsafe(_awaited(awaitable), loop)
    while not concurrent.futures.wait([waiting], _CHECK_EVERY).done:
        if exiting.is_set():
            waiting.cancel()
    return waiting.result()


@functools.cache
def _exit_event() -> threading.Event:
    """Give an event that is set when Python begins to exit.

    Python then joins the threads of every pool, and one that waits for a person would never let it. There is
    no public way to know: what is registered after ``concurrent.futures.thread`` is called just before it.
    """
    event = threading.Event()
    importlib.import_module("concurrent.futures.thread")
    cast("Any", threading)._register_atexit(event.set)
    return event


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable
