"""Limits of the server, in one place, each with a safe default."""

from __future__ import annotations

import msgspec

__all__ = ["Limits"]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much a request may be, and how long it may take; times are in seconds."""

    body_bytes: int = 4 * 1024 * 1024
    """Bytes of a body, and of a WebSocket's frame."""
    body_seconds: float = 30.0
    """How long a body may take to arrive."""
    json_depth: int = 64
    """How deep a body may be nested."""
    stall_seconds: float = 300.0
    """A reader that takes nothing for this long is dropped; it may come back with its cursor."""
    waiting_frames: int = 8
    """Frames of a WebSocket that may wait while a run goes on."""
