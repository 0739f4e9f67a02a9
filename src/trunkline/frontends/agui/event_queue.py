"""Events on their way to a reader, in order, bounded, and put in from any thread.

While the reader keeps up every event is a frame of its own. When it falls behind, the neighbouring deltas
of one message are joined, so a long answer costs a slow reader its text and not its tokens. One that
reads nothing at all is told that the run is lost to it, and dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from trunkline.protocols.agui import wire
from trunkline.protocols.agui.codes import ErrorCode

_MOST_BYTES = 16 * 2**20
_PIECE = 65_536
_PATIENCE = 30.0  # seconds that an agent waits for a reader before it goes on

_JOINED: dict[type[Any], str] = {
    wire.TextMessageContent: "message_id",
    wire.ReasoningMessageContent: "message_id",
    wire.ToolCallArgs: "tool_call_id",
}
_TERMINALS = (wire.RunFinished, wire.RunError)


class EventQueue:
    """Holds frames until they are read."""

    def __init__(
        self,
        frame: Callable[[wire.AguiEvent], bytes],
        *,
        high_water_mark: int = 256,
        coalesce: bool = True,
        runs: bool = False,
    ) -> None:
        """Frame events; without ``runs`` the end of the first run is the end of it all."""
        self._frame = frame
        self._high = high_water_mark
        self._coalesce = coalesce
        self._runs = runs
        self._frames: deque[bytes] = deque()
        self._size = 0
        self._last: Any = None
        self._deltas: list[str] = []
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = asyncio.Event()
        self._room = asyncio.Event()
        self.closed = False
        """Whether nothing more is taken in."""
        self.dropped = False
        """Whether the reader was too far behind."""
        self.ends = 0
        """How many runs have ended."""

    # -- in ----------------------------------------------------------------------------------------

    def put(self, event: wire.AguiEvent) -> None:
        """Take an event in; what comes after the end is passed over."""
        with self._lock:
            if self.closed:
                return
            if not self._join(event):
                self._add(event)
            if isinstance(event, _TERMINALS):
                self.ends += 1
                self.closed = not self._runs
            if self._size > _MOST_BYTES:
                self._drop()
        self._wake()

    def _join(self, event: Any) -> bool:
        """Add a delta to the one before it, if the reader is behind and both are of one message."""
        last = self._last
        if last is None or type(event) is not type(last) or event.metadata is not None:
            return False
        same = _JOINED[type(last)]
        if getattr(event, same) != getattr(last, same) or event.subagent_run_id != last.subagent_run_id:
            return False
        self._hold(event.delta)
        return True

    def _add(self, event: Any) -> None:
        self._settle()
        behind = self._coalesce and len(self._frames) >= self._high
        if behind and type(event) in _JOINED and event.metadata is None:
            self._hold(event.delta)
            self._last = event
        else:
            self._push(self._frame(event))

    def _hold(self, delta: str) -> None:
        """Keep a delta to be joined; one that no wire can carry raises here, and spoils no other."""
        self._size += len(delta.encode())
        self._deltas.append(delta)

    def _settle(self) -> None:
        """Frame the deltas that were joined so far."""
        if self._last is not None:
            text = "".join(self._deltas)
            whole = msgspec.structs.replace(self._last, delta=text)
            self._last, self._deltas = None, []
            self._size -= len(text.encode())
            self._push(self._frame(whole))

    def _push(self, frame: bytes) -> None:
        self._frames.append(frame)
        self._size += len(frame)

    def _drop(self) -> None:
        self._frames.clear()
        self._last, self._deltas, self._size = None, [], 0
        message = "the client did not read for too long, and the run is lost to it"
        self._push(self._frame(wire.RunError(message=message, code=ErrorCode.TIMEOUT)))
        self.closed = self.dropped = True

    def close(self) -> None:
        """Take in nothing more; what is here can still be read."""
        with self._lock:
            self.closed = True
        self._wake()

    def _wake(self) -> None:
        loop = self._loop
        if loop is None:
            return
        try:
            if asyncio.get_running_loop() is loop:
                self._ready.set()
                return
        except RuntimeError:
            pass
        with contextlib.suppress(RuntimeError):  # The reader's loop is closed, and the reader gone.
            loop.call_soon_threadsafe(self._ready.set)

    # -- out ---------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        """Whether everything was read."""
        return not self._frames and self._last is None

    @property
    def over(self) -> bool:
        """Whether everything was read and nothing more comes."""
        return self.closed and self.empty

    def take(self) -> list[bytes]:
        """Give the next frames, some at a time; none when there are none."""
        self._loop = asyncio.get_running_loop()
        taken: list[bytes] = []
        room = _PIECE
        with self._lock:
            if not self._frames:
                self._settle()
            while self._frames and room > 0:
                taken.append(self._frames.popleft())
                room -= len(taken[-1])
            self._size -= _PIECE - room
            if self.closed or 2 * len(self._frames) <= self._high:
                self._room.set()
        return taken

    def put_back(self, frames: Sequence[bytes]) -> None:
        """Take frames again that were taken and could not be sent."""
        with self._lock:
            self._frames.extendleft(reversed(frames))
            self._size += sum(map(len, frames))

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait for something to read, or for the end; False when nothing happened in time."""
        self._ready.clear()
        if self.closed or not self.empty:
            return True
        try:
            async with asyncio.timeout(seconds):
                await self._ready.wait()
        except TimeoutError:
            return False
        return True

    async def drained(self) -> None:
        """Wait until the reader has caught up; only as long as is reasonable, and only in its own loop."""
        if len(self._frames) < self._high or self.closed or self._loop is not asyncio.get_running_loop():
            return
        self._room.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self._room.wait()

    def detach(self) -> None:
        """The reader is gone: nothing is kept for it, and nothing waits for it."""
        with self._lock:
            self._frames.clear()
            self._last, self._deltas, self._size = None, [], 0
            self.closed = True
        self._wake()
        self._room.set()
