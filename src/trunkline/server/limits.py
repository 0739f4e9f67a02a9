"""Limits of the server, in one place, each with a safe default."""

from __future__ import annotations

import msgspec

__all__ = ["Limits"]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much a request may be, and how long it may take; times are in seconds."""

    body_bytes: int = 4 * 1024 * 1024
    """Bytes of a body, and of a WebSocket's frame; of an AG-UI request, what is new in it."""
    history_bytes: int = 32 * 1024 * 1024
    """Bytes of an AG-UI request with its history: clients send all of it every time, photos too."""
    reading_bytes: int = 128 * 1024 * 1024
    """Bytes of one principal's requests that are read at once."""
    body_seconds: float = 30.0
    """How long a body may take to arrive."""
    json_depth: int = 64
    """How deep a body may be nested."""
    json_values: int = 200_000
    """Values in a body: the members of all its lists and objects."""
    messages: int = 20_000
    """Messages in the history that an AG-UI client sends with a run."""
    open_seconds: float = 2.0
    """How long a run may take to begin before its response starts without it: agents may start slowly."""
    keep_alive_seconds: float = 15.0
    """Seconds between the comments that keep a silent stream open."""
    stall_seconds: float = 300.0
    """A reader that takes nothing for this long is dropped; it may come back with its cursor."""
    waiting_frames: int = 8
    """Frames of a WebSocket that may wait while a run goes on."""
    head_seconds: float = 10.0
    """How long the first lines of a request may take to arrive, and the last bytes to be read."""
    idle_seconds: int = 75
    """How long a connection without a request stays open: longer than proxies keep theirs (nginx: 60 s)."""
    connections: int = 4096
    """Connections at once; more are refused with the advice to come back later."""
    unauthenticated_connections: int = 1024
    """Connections of one address that have shown no token yet; twice as many of all addresses together.

    The oldest idle one is closed for a new one. Never more than a quarter of ``connections``.
    """
    principal_requests: int = 2048
    """Requests, streams and sockets of one principal at once, so that it does not take all connections."""
    drain_seconds: float = 5.0
    """How long runs may go on when the server goes down; then they are cancelled."""
    acp_connections: int = 64
    """ACP connections of one principal."""
    acp_requests: int = 256
    """Requests of one ACP connection that may wait for their answers."""
    streams: int = 256
    """Sessions that one ACP connection over HTTP may read at once."""
    unread_bytes: int = 16 * 1024 * 1024
    """Bytes that may wait for an ACP client; turns are shown no faster than it reads long before that."""
    away_seconds: float = 10.0
    """How long an ACP client over HTTP may read no stream; then it has left."""
    client_programs: bool = False
    """Whether ACP clients may name MCP servers that are started here as programs."""
