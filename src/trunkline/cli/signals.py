"""Ctrl-C, SIGTERM and a closed window inside a running loop: a handler of ours instead of a sudden end."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager

__all__ = ["interrupts"]


@contextmanager
def interrupts(handler: Callable[[signal.Signals], None]) -> Generator[None]:
    """Call ``handler`` for every Ctrl-C, SIGTERM and SIGHUP while the block runs."""
    loop = asyncio.get_running_loop()
    terminals = [fd for fd in (0, 1, 2) if os.isatty(fd)]

    def heard(number: signal.Signals) -> None:
        if number is signal.SIGHUP:
            _forget(terminals)
        handler(number)

    handled: list[signal.Signals] = []
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # nohup means it: the window may close.
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, heard, number)
                handled.append(number)
    except (NotImplementedError, RuntimeError, ValueError):
        # A platform without signal handlers, or not the main thread: they stay what they are.
        yield
        return
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)


def _forget(terminals: list[int]) -> None:
    """Write nowhere from now on: writing to a terminal that is gone fails."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in terminals:
        os.dup2(nowhere, fd)
    os.close(nowhere)
