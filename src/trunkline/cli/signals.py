"""Signals of a running command: Ctrl-C, SIGTERM and a closed window call a handler instead of ending it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

_HELD_UP = 0.5
"""Seconds that a Ctrl-C waits for the event loop until the next one interrupts what holds it up."""
_ENDS_WITHIN = 5.0
"""Seconds that SIGTERM and a closed window wait for it: they come only once."""
_TWICE_WITHIN = 1.0
"""Seconds in which a signal that came again is the same one: a window that closes sends its signal twice."""
_BLOCKS = (
    "the agent holds up everything else, and is interrupted: "
    "write `def` instead of `async def`, or `await asyncio.to_thread(...)` for what takes long"
)

log = logging.getLogger(__name__)


@contextmanager
def handle_signals(handler: Callable[[signal.Signals], None]) -> Generator[None]:
    """Call ``handler`` for every Ctrl-C, SIGTERM and SIGHUP while the block runs.

    An agent that blocks the event loop is not asked: the second Ctrl-C is raised in it, and the others after
    five seconds.
    """
    loop = asyncio.get_running_loop()
    terminals = [fd for fd in (0, 1, 2) if os.isatty(fd)]
    unheard: list[float] = []
    """When Ctrl-C was pressed since the loop heard of one."""
    ends: dict[int, tuple[float, threading.Timer]] = {}
    """When another signal came that the loop has not heard of, and what sends it again."""
    heard: dict[int, float] = {}
    """When the loop heard of another signal."""

    def on_arrival(number: int, frame: object) -> None:
        unheard.append(time.monotonic())
        if unheard[-1] - unheard[0] > _HELD_UP:
            log.warning(_BLOCKS)
            raise KeyboardInterrupt("Ctrl-C was pressed twice")

    def on_end(number: int, frame: object) -> None:
        now = time.monotonic()
        if number not in ends:
            again = threading.Timer(_ENDS_WITHIN, signal.pthread_kill, (threading.get_ident(), number))
            again.daemon = True
            ends[number] = now, again
            again.start()
        elif now - ends[number][0] >= _ENDS_WITHIN:
            log.warning(_BLOCKS)
            raise KeyboardInterrupt("the command was told to end")

    def on_signal(number: signal.Signals) -> None:
        # What came again while the loop was held up is one signal.
        if number is signal.SIGINT:
            if not unheard:
                return
            unheard.clear()
        else:
            if number not in ends:
                return
            ends.pop(number)[1].cancel()
            heard[number] = time.monotonic()
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
        # The loop hears of a signal by its descriptor, whatever is called for it at once.
        for number in handled:
            signal.signal(number, on_arrival if number is signal.SIGINT else on_end)
            signal.siginterrupt(number, False)
    except (NotImplementedError, RuntimeError, ValueError):
        # A platform without signal handlers, or not the main thread: they stay what they are.
        yield
        return
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)
            if number in heard:
                signal.signal(number, _end_again(heard[number]))
        for _, again in ends.values():
            again.cancel()


def _end_again(heard: float) -> Callable[[int, object], None]:
    """Make the handler of a signal by which the command ends already."""

    def on_signal(number: int, frame: object) -> None:
        if time.monotonic() - heard > _TWICE_WITHIN:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    return on_signal


def hang_up() -> bool:
    """Do what the signal of a closed window does, which may come later than the end of its input.

    False where nobody handles that signal.
    """
    if not callable(signal.getsignal(signal.SIGHUP)):
        return False
    signal.raise_signal(signal.SIGHUP)
    return True


@contextmanager
def end_by_signals() -> Generator[None]:
    """End a command that has no event loop by SIGTERM and SIGHUP as by Ctrl-C: what it started ends first."""

    def on_signal(number: int, frame: object) -> None:
        sys.exit(128 + number)

    before = {
        number: signal.signal(number, on_signal)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN  # as under nohup
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _discard_terminals(terminals: list[int]) -> None:
    """Send output to nowhere: writing to a terminal that is gone fails."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in terminals:
        os.dup2(nowhere, fd)
    os.close(nowhere)
