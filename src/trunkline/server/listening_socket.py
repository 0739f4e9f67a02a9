"""The socket that the server listens on: binds its port, and says what to do when that fails."""

from __future__ import annotations

import errno
import ipaddress
import socket

from trunkline.errors import ConfigurationError


def bind(host: str, port: int) -> socket.socket:
    """Bind a port; port 0 is any free one."""
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        listener = socket.create_server(address[:2], family=family, backlog=1024)
        # asyncio sets this only for sockets whose protocol number is given, which this one lacks. Without it
        # a small write waits for the client's delayed acknowledgement: 40 ms before a run's first event.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        raise ConfigurationError(_explain(error, host, port)) from None


def _explain(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is taken: choose another with --port, or --port 0 for any free one"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"port {port} needs more rights than we have: choose one above 1023 with --port"
    return (
        f"{host!r} is no address of this machine ({error.strerror or error}): leave --host out, or give one"
    )


def url_of(listener: socket.socket) -> str:
    """Give the URL of a socket, as a person types it."""
    host, port = listener.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = "127.0.0.1" if listener.family == socket.AF_INET else "::1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
