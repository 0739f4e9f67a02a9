"""The dates of a session, in UTC: the same in every file, wherever it is made."""

from __future__ import annotations

from datetime import UTC, datetime

from trunkline.journal import SessionInfo


def describe_dates(info: SessionInfo) -> str:
    """Say when a session began and was last used; nothing if that is not known."""
    if not info.created_at:
        return ""
    return f"begun {_date(info.created_at)}, last used {_date(info.updated_at)}"


def _date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
