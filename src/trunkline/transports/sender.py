"""Sends messages to a transport from any thread, in order, in the event loop where the transport lives.

A transport that fails is logged once: no agent breaks because its client is gone.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from typing import Any

from trunkline.transports.event_loops import running_loop

log = logging.getLogger("trunkline.transports")

_MOST_UNSENT = 65_536
_BAD_VALUES = (TypeError, ValueError, OverflowError, RecursionError)
"""What an encoder raises for a message that it cannot write: the client is still there."""


class Sender:
    """Carries the messages of one conversation to a transport, which has ``emit``."""

    def __init__(
        self,
        transport: Any,
        name: str,
        *,
        home: asyncio.AbstractEventLoop | None = None,
        stops_on_error: bool = False,
    ) -> None:
        """Send for the conversation ``name``; ``home`` is the loop where the transport was made, if any.

        With ``stops_on_error`` a transport that raised once gets nothing more, except where one message
        could not be encoded.
        """
        self.transport = transport
        self.name = name
        self._home = home
        self._stops_on_error = stops_on_error
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: int | None = None
        self._unsent: deque[tuple[Any, ...]] = deque()
        self._sending = threading.RLock()
        self._failed = self._reported = False

    def locate(self) -> None:
        """Find the loop of the transport: its own, the one that runs here, or the one it was made in."""
        loop: Any = getattr(self.transport, "loop", None)
        here = running_loop()
        if not isinstance(loop, asyncio.AbstractEventLoop):
            loop = here or self._home
        self._loop = loop
        self._thread = threading.get_ident() if loop is here else None

    @property
    def loop_elsewhere(self) -> asyncio.AbstractEventLoop | None:
        """The loop of the transport, if it runs in another thread than this code."""
        loop = self._loop
        if loop is None or threading.get_ident() == self._thread:
            return None
        return loop if loop.is_running() and loop is not running_loop() else None

    def send(self, *message: Any) -> None:
        """Send a message, in order, from any thread; never raises."""
        if self._failed and self._stops_on_error:
            return
        if len(self._unsent) >= _MOST_UNSENT:
            self._failed = True
            self.report("it is too far behind")
            return
        self._unsent.append(message)
        elsewhere = self.loop_elsewhere
        if elsewhere is not None:
            elsewhere.call_soon_threadsafe(self._flush)
        else:
            self._flush()

    def _flush(self) -> None:
        with self._sending:
            while self._unsent:
                message = self._unsent.popleft()
                try:
                    self.transport.emit(*message)
                except Exception as error:
                    self.report(f"{type(error).__name__}: {error}")
                    self._failed = self._failed or not isinstance(error, _BAD_VALUES)
                    if self._failed and self._stops_on_error:
                        self._unsent.clear()

    def report(self, reason: str) -> None:
        """Log that the client was not told something, once."""
        if not self._reported:
            self._reported = True
            log.warning("the client of session %s cannot be told: %s", self.name, reason)
