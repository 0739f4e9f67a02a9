"""A connection that can be cut: a proxy between a browser and a server."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from urllib.parse import urlsplit

_SECONDS = 30


class CutProxy:
    """Passes bytes on, until it is cut; while it is cut nobody gets through."""

    def __init__(self, server: str) -> None:
        """Listen on a free port for a server's address."""
        parts = urlsplit(server)
        self._target = (parts.hostname or "", parts.port or 80)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._cut = False
        self._threads: list[threading.Thread] = []
        self.refused = 0
        """Connections that came while it was cut."""
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._start(self._accept)

    def cut(self) -> None:
        """Break all connections, and take no more."""
        with self._lock:
            self._cut = True
            broken = list(self._open)
        for one in broken:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Let connections through again."""
        with self._lock:
            self._cut = False

    def close(self) -> None:
        """Break everything and stop listening."""
        self.cut()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(_SECONDS)

    def _start(self, target: Callable[..., None], *arguments: socket.socket) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                if self._cut:
                    self.refused += 1
                    client.close()
                    continue
                server = socket.create_connection(self._target, _SECONDS)
                server.settimeout(None)
                self._open |= {client, server}
            self._start(self._pass_on, client, server)
            self._start(self._pass_on, server, client)

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        with self._lock:
            gone = source in self._open
            self._open.discard(source)
        if gone:
            source.close()


@contextmanager
def cut_proxy(server: str) -> Generator[CutProxy]:
    """Run a proxy before a server."""
    proxy = CutProxy(server)
    try:
        yield proxy
    finally:
        proxy.close()
