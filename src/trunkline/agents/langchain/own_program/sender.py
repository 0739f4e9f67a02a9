"""A line: what carries the words of a run to a transport, in order and from any thread.

A transport that fails is logged once: no agent breaks because its client is gone.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, cast

from trunkline.agents.langchain.stop_reasons import explain
from trunkline.session.handles import in_loop

if TYPE_CHECKING:
    from trunkline.agents.langchain.own_program.run import LineVoice

__all__ = ["Line", "Ties"]

log = logging.getLogger("trunkline.langchain")

_MOST_UNSENT = 65_536


class Ties:
    """What outlives the runs of a session."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.memory: dict[Any, Any] = {}
        self.always: dict[str, bool] = {}
        """What a person allowed or refused for good, by the key of what the answer covers."""
        self.interrupted: LineVoice | None = None
        """The channel of a run that waits to be resumed."""
        self.busy = False
        """Whether somebody runs the agent in this session, who will also say when that is over."""
        self._idle: Any = None

    def lend(self) -> Any:
        """Give a run what the last one spoke by; None for the first, and for two at the same time."""
        script, self._idle = self._idle, None
        return script

    def take_back(self, script: Any) -> None:
        """Keep it for the next run."""
        self._idle = script


class Line:
    """Carries what is said in a session to a transport."""

    cancels_waiting = False
    """Whether a transport that failed once is left alone."""

    def __init__(
        self,
        transport: Any,
        name: str,
        *,
        ties: Ties | None = None,
        home: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Speak to a transport for a session; ``home`` is where the transport may live."""
        self.transport = transport
        self.name = name
        self.ties = ties or Ties()
        self.loop: asyncio.AbstractEventLoop | None = None
        """Where the transport lives, as far as that is known."""
        self._home = home
        self._thread: int | None = None
        self._unsent: deque[tuple[Any, ...]] = deque()
        self._sending = threading.RLock()
        self._failed = False

    def locate(self) -> None:
        """Find the loop of the transport: its own, the one that runs here, or the one it was made in."""
        loop: Any = getattr(self.transport, "loop", None)
        here = asyncio.get_running_loop() if in_loop() else None
        if not isinstance(loop, asyncio.AbstractEventLoop):
            loop = here or self._home
        self.loop = loop
        self._thread = threading.get_ident() if loop is here else None

    @property
    def is_far(self) -> bool:
        """Whether the transport lives in a loop that runs elsewhere."""
        loop = self.loop
        if loop is None or threading.get_ident() == self._thread:
            return False  # Where the loop runs nothing is far.
        return loop.is_running() and not (in_loop() and loop is asyncio.get_running_loop())

    def send(self, *message: Any) -> None:
        """Tell the client something, in order, from any thread; never raises."""
        if self._failed and self.cancels_waiting:
            return
        if len(self._unsent) >= _MOST_UNSENT:
            self.complain("it is too far behind")
            return
        self._unsent.append(message)
        if self.is_far:
            cast("asyncio.AbstractEventLoop", self.loop).call_soon_threadsafe(self._flush)
        else:
            self._flush()

    def _flush(self) -> None:
        with self._sending:
            while self._unsent:
                message = self._unsent.popleft()
                try:
                    self.transport.emit(*message)
                except Exception as error:
                    self.complain(explain(error))
                    if self.cancels_waiting:
                        self._unsent.clear()

    def complain(self, why: str) -> None:
        """Log that the client cannot be told, once."""
        if not self._failed:
            self._failed = True
            log.warning("the client of session %s cannot be told: %s", self.name, why)
