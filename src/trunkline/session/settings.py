"""Limits and waits of sessions, in one place, each with a safe default."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["BusyPolicy", "Settings"]

BusyPolicy = Literal["reject", "queue", "interrupt", "steer"]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How a hub's sessions behave; times are in seconds."""

    busy: BusyPolicy = "reject"
    """What a second prompt does when the caller does not choose."""
    queue_limit: int = 16
    """How many prompts may wait."""
    keep_limit: int = 64 * 1024
    """How many bytes an agent may keep with a session, all of its values together as JSON."""
    suspend_after: float = 0.2
    """With a question open and no event for this long, the turn counts as suspended."""
    detach_after: float = 5.0
    """How long a cancelled agent may take before its turn is ended without it."""
    close_agent_after: float = 30.0
    """How long an agent may take to close what it holds for a session, its processes for example. Closing a
    session waits for that no longer than ``detach_after``; closing the hub waits for all of it."""
    finish_grace: float = 1.0
    """How long an agent may take to stop after it emitted the end of its turn."""
    question_ttl: float = 3600.0
    """How long a question stays open; then it is refused."""
    abandon_after: float | None = 900.0
    """A turn that no reader follows for this long is cancelled (None: never)."""
    idle_sessions: int | None = None
    """How many sessions that are not used stay open in this process (None: all of them)."""
    idle_after: float = 60.0
    """How long no caller must have asked for a session before it is closed to make room."""
    snapshot_after: int = 500
    """At the end of a turn with this many records since the last snapshot, another one is written."""
    coalesce_window: float = 0.03
    """How long a delta may wait for more before it is written."""
    coalesce_limit: int = 4096
    """How many characters one record of deltas may hold."""
    reader_backlog: int = 1024
    """A reader this many events behind reads from the journal instead."""
    lag_limit: int = 20_000
    """With this many events not yet written, the agent waits for the journal."""
    retain_age: float | None = None
    """Sessions that were not used for this long are discarded (None: never)."""
    retain_bytes: int | None = None
    """The oldest turns of a session that is larger are discarded (None: never)."""
    retain_every: float = 3600.0
    """How often to look for what may be discarded."""
    lease_ttl: float = 5.0
    """How long a process owns a session after it last renewed its lease."""
    command_timeout: float = 30.0
    """How long to wait for the owner's answer to a posted command, or for its next sign of work."""
    poll_busy: float = 0.05
    """How often a journal that cannot notify is looked at while a turn runs or somebody follows."""
    poll_idle: float = 1.0
    """How often it is looked at otherwise."""
