"""The settings of sessions that are served to many clients."""

from __future__ import annotations

from typing import Any

from trunkline.session.settings import Settings

_IDLE_SESSIONS = 256
"""Sessions that stay open when no client uses them; others are opened again when they are needed."""


def session_settings(*, reader_backlog: int = 256, **fields: Any) -> Settings:
    """Give the settings of sessions that are served to many clients; ``fields`` are those of Settings."""
    return Settings(reader_backlog=reader_backlog, idle_sessions=_IDLE_SESSIONS, **fields)
