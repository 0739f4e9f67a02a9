"""Run the app on a socket with uvicorn, until a signal comes.

A shutdown takes no new connections, lets runs finish for a while and then cancels them, so that every stream
ends with its own last event and every turn is written.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any
from weakref import WeakKeyDictionary

import uvicorn

from trunkline.server.app import Server
from trunkline.server.connections import (
    HttpProtocol,
    Unread,
    WebSocketProtocol,
    abort_stalled,
    abort_unread,
    close_slow,
    room_for,
)
from trunkline.transports.process.own_exit_processes import end_descendants


async def listen(
    app: Server,
    listener: socket.socket,
    *,
    on_ready: Callable[[], None],
    stop: asyncio.Event | None = None,
    parent: socket.socket | None = None,
) -> None:
    """Serve until a signal comes, or ``stop`` is set; a second signal means at once.

    With ``parent``, the socket of a process that started us, also until that one is gone.
    """
    stop = stop or asyncio.Event()
    if parent is not None:
        parent.setblocking(False)
        asyncio.get_running_loop().add_reader(parent, stop.set)
    with _signals(stop):
        await _serve(app, listener, on_ready, stop)


@contextlib.asynccontextmanager
async def served(app: Server, listener: socket.socket) -> AsyncGenerator[None]:
    """Serve beside what the block does, until it ends; signals are left to the block."""
    ready, stop = asyncio.Event(), asyncio.Event()
    serving = asyncio.create_task(_serve(app, listener, ready.set, stop))
    waiting = asyncio.create_task(ready.wait())
    try:
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
        yield
    finally:
        waiting.cancel()
        stop.set()
        await asyncio.wait({serving, waiting})
    serving.result()


async def _serve(
    app: Server, listener: socket.socket, on_ready: Callable[[], None], stop: asyncio.Event
) -> None:
    # Before the server runs, a journal that cannot be opened ends the command with a sentence.
    await app.agents.open()
    server = _Uvicorn(app, on_ready)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    draining = asyncio.create_task(server.drain(stop))
    try:
        await asyncio.wait({serving, draining}, return_when=asyncio.FIRST_COMPLETED)
        await serving
    finally:
        draining.cancel()
        await asyncio.gather(draining, return_exceptions=True)


@contextlib.contextmanager
def _signals(stop: asyncio.Event) -> Generator[None]:
    def on_signal(number: signal.Signals) -> None:
        if stop.is_set():
            # The journal settles what was running when its session is opened again.
            end_descendants()
            os._exit(128 + number)
        stop.set()

    loop = asyncio.get_running_loop()
    names = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    for name in names:
        loop.add_signal_handler(name, on_signal, name)
    try:
        yield
    finally:
        for name in names:
            loop.remove_signal_handler(name)


class _Uvicorn(uvicorn.Server):
    """Uvicorn with limits on slow clients, and a shutdown that lets runs finish."""

    def __init__(self, app: Server, on_ready: Callable[[], None]) -> None:
        limits = app.agents.limits
        room = room_for(limits.connections)
        app.unauthenticated.most_of_peer = max(1, min(limits.unauthenticated_connections, room // 4))
        app.unauthenticated.most = 2 * app.unauthenticated.most_of_peer
        super().__init__(
            uvicorn.Config(
                app,
                lifespan="on",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                http=HttpProtocol,
                ws=WebSocketProtocol,
                ws_max_size=limits.body_bytes,
                # Our frames are small, so it costs a third more and saves little.
                ws_per_message_deflate=False,
                limit_concurrency=room,
                # So many are accepted before one of them can be refused.
                backlog=max(1, room // 8),
                # A proxy that sends a request into a connection that we close just then answers 502.
                timeout_keep_alive=limits.idle_seconds,
                timeout_graceful_shutdown=3,
            )
        )
        self._agents = app.agents
        self._limits = limits
        self._on_ready = on_ready
        self._slow: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
        self._unread: WeakKeyDictionary[Any, Unread] = WeakKeyDictionary()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals to ``listen``."""
        yield

    async def on_tick(self, counter: int) -> bool:
        """Close slow and stalled connections, about once a second."""
        if counter % 10 == 0:
            close_slow(self.server_state.connections, self._slow, self._limits)
            abort_stalled(self.server_state.connections, self._unread, self._limits)
        return await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Report when it is ready."""
        await super().startup(sockets)
        self._on_ready()

    async def drain(self, stop: asyncio.Event) -> None:
        """Shut down once ``stop`` is set, so that no response is cut off."""
        await stop.wait()
        for server in self.servers:
            server.close()
        self._agents.closing = True
        await self._agents.wait_for_runs(self._limits.drain_seconds)
        await self._agents.close()
        abort_unread(self.server_state.connections)
        self.should_exit = True
