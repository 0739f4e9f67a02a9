"""A line to an ACP client: one session on one transport, and what outlives its runs.

A transport that fails is logged once: no agent breaks because its client is gone.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from trunkline.agents.langchain.stops import explain
from trunkline.frontends.acp import wire
from trunkline.frontends.acp.encoder import AcpEncoder
from trunkline.grammar import Grammar
from trunkline.handles import in_loop

if TYPE_CHECKING:
    from trunkline.agents.langchain.acp import AcpVoice

__all__ = ["Line", "Script", "Transport"]

log = logging.getLogger("trunkline.langchain")

_MOST_UNSENT = 65_536


class Transport(Protocol):
    """Whatever carries ACP to a client; ``trunkline.stdio_transport`` makes one."""

    def emit(self, method: str, params: Any, /) -> None:
        """Tell the client something."""
        ...

    async def request(self, method: str, params: Any, /, *, timeout: float | None) -> Any:
        """Ask the client and give its result."""
        ...


class Script(NamedTuple):
    """What keeps the updates of a session legal from one run to the next."""

    grammar: Grammar
    encoder: AcpEncoder


class Line:
    """One session on one transport: what outlives its runs.

    A session without an id leaves it to the transport to add its own.
    """

    def __init__(
        self,
        transport: Transport,
        session_id: str | None,
        *,
        client: wire.ClientCapabilities | None = None,
        home: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Speak to a client with these capabilities; ``home`` is where the transport may live."""
        self.transport = transport
        self.session_id = session_id
        self.client = client or wire.ClientCapabilities()
        self.memory: dict[Any, Any] = {}
        self.always: dict[str, bool] = {}
        """Tools that a person allowed or refused for good."""
        self.interrupted: AcpVoice | None = None
        """The voice of a run that waits to be resumed."""
        self.turns = 0
        self.loop: asyncio.AbstractEventLoop | None = None
        """Where the transport lives, as far as that is known."""
        self._home = home
        self._idle: Script | None = None
        self._unsent: deque[tuple[str, dict[str, Any]]] = deque()
        self._sending = threading.RLock()
        self._failed = False

    @property
    def name(self) -> str:
        """The session's id, for those who need one."""
        return self.session_id or "default"

    def locate(self) -> None:
        """Find the loop of the transport: its own, the one that runs here, or the one it was made in."""
        loop: Any = getattr(self.transport, "loop", None)
        if not isinstance(loop, asyncio.AbstractEventLoop):
            loop = asyncio.get_running_loop() if in_loop() else self._home
        self.loop = loop

    @property
    def is_far(self) -> bool:
        """Whether the transport lives in a loop that runs elsewhere."""
        loop = self.loop
        return (
            loop is not None and loop.is_running() and not (in_loop() and loop is asyncio.get_running_loop())
        )

    def lend(self) -> Script:
        """Give a run what it speaks by; a second run at the same time gets its own."""
        script, self._idle = self._idle, None
        if script is None:
            encoder = AcpEncoder(self.session_id or "", self.client)
            script = Script(Grammar(), encoder)
        return script

    def take_back(self, script: Script) -> None:
        """Keep it for the next run."""
        self._idle = script

    # -- sending -----------------------------------------------------------------------------------

    def send(self, method: str, params: dict[str, Any]) -> None:
        """Tell the client something, in order, from any thread; never raises."""
        if len(self._unsent) >= _MOST_UNSENT:
            self.complain("it is too far behind")
            return
        self._unsent.append((method, self.addressed(params)))
        if self.is_far:
            cast("asyncio.AbstractEventLoop", self.loop).call_soon_threadsafe(self._flush)
        else:
            self._flush()

    def _flush(self) -> None:
        with self._sending:
            while self._unsent:
                method, params = self._unsent.popleft()
                try:
                    self.transport.emit(method, params)
                except Exception as error:
                    self.complain(explain(error))

    def addressed(self, params: dict[str, Any]) -> dict[str, Any]:
        """Put the session's id into a message, or leave it to the transport."""
        if self.session_id is None:
            params.pop("sessionId", None)
        return params

    def complain(self, why: str) -> None:
        """Log that the client cannot be told, once."""
        if not self._failed:
            self._failed = True
            log.warning("the client of session %s cannot be told: %s", self.name, why)
