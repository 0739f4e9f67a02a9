"""Signals of a running command: Ctrl-C, SIGTERM and a closed window call a handler instead of ending it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def handle_signals(handler: Callable[[signal.Signals], None]) -> Generator[None]:
    """Call ``handler`` for every Ctrl-C, SIGTERM and SIGHUP while the block runs."""
    loop = asyncio.get_running_loop()
    terminals = [fd for fd in (0, 1, 2) if os.isatty(fd)]

    def on_signal(number: signal.Signals) -> None:
        if number is signal.SIGHUP:
            _discard_terminals(terminals)
        handler(number)

    handled: list[signal.Signals] = []
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Under nohup SIGHUP stays ignored.
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, on_signal, number)
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


def _discard_terminals(terminals: list[int]) -> None:
    """Send output to nowhere: writing to a terminal that is gone fails."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in terminals:
        os.dup2(nowhere, fd)
    os.close(nowhere)
