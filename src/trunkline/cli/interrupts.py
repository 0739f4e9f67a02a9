"""Ctrl-C inside a running loop: a handler of ours instead of an exception anywhere."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager

__all__ = ["interrupts"]


@contextmanager
def interrupts(handler: Callable[[], None]) -> Generator[None]:
    """Call ``handler`` for every Ctrl-C while the block runs."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, handler)
    except (NotImplementedError, RuntimeError, ValueError):
        # A platform without signal handlers, or not the main thread: Ctrl-C stays an exception.
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
