"""Journals: where sessions are kept. ``open_journal("sqlite:PATH")`` or ``"memory:"``."""

from __future__ import annotations

from trunkline.journal.interface import (
    Disposition,
    Held,
    Journal,
    Lease,
    Posted,
    Record,
    SessionInfo,
    SessionKey,
    Snapshot,
)

__all__ = [
    "Disposition",
    "Held",
    "Journal",
    "Lease",
    "Posted",
    "Record",
    "SessionInfo",
    "SessionKey",
    "Snapshot",
    "default_url",
    "open_journal",
]


def default_url() -> str:
    """The journal used when none is chosen: a SQLite file in the platform's data folder."""
    import os

    chosen = os.environ.get("TRUNKLINE_JOURNAL")
    if chosen:
        return chosen
    import platformdirs

    return f"sqlite:{platformdirs.user_data_path('trunkline') / 'journal.db'}"


async def open_journal(url: str | None = None) -> Journal:
    """Open a journal by its address; each engine is imported only when it is asked for."""
    from trunkline.errors import ConfigurationError

    url = url or default_url()
    scheme, _, rest = url.partition(":")
    journal: Journal
    if scheme == "memory":
        from trunkline.journal.memory import MemoryJournal

        journal = MemoryJournal()
    elif scheme == "sqlite" and rest:
        from trunkline.journal.sqlite import SqliteJournal

        journal = SqliteJournal(rest)
    else:
        raise ConfigurationError(
            f"unknown journal {url!r}: use sqlite:PATH, for example sqlite:journal.db, or memory:"
        )
    await journal.open()
    return journal
