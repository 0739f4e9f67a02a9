"""Journals: where sessions are kept. ``open_journal("sqlite:PATH")`` or ``"memory:"``.

* ``address``: reads journal addresses
* ``blobs``: attachments and large outputs, by their digest, and which ones no record mentions
* ``change_waiters``: wakes those who wait for a change of the journal, ours or another process's
* ``codec``: records to rows and back
* ``fair_queue``: what waits to be written, by session
* ``file_health``: whether the file is there, whole, has space and can be written
* ``interface``: what every engine promises
* ``lease_clock``: the clock of leases, and the name of this start of the machine
* ``leases``: claims, renews and releases leases, in SQL
* ``memory``: the journal in memory
* ``posted_commands``: what other processes post for the owner of a session, in SQL
* ``reader_threads``: the threads that read
* ``refusals``: what every engine refuses, and what it says
* ``retention``: discards idle sessions, old turns and blobs in slices, one small commit after the other
* ``search``: which texts of a session a search looks at, and when they match
* ``sessions``: sessions and their records, in SQL: create, list, search, append, read
* ``snapshots``: snapshots beside the records, in SQL
* ``sqlite``: the journal in a file
* ``sqlite_errors``: errors of SQLite with their cause and the next step
* ``tables``: the tables of the SQLite file, and their migrations
* ``trimming``: which old turns go when a session is too large
* ``writer_thread``: the one thread that writes, with group commit
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names
from trunkline.journal.address import parse_address

if TYPE_CHECKING:
    import os

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
    "open_journal",
    "parse_address",
]

_names = "Disposition Held Journal Lease Posted Record SessionInfo SessionKey Snapshot"
__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(_names.split(), "trunkline.journal.interface"))


async def open_journal(address: str | os.PathLike[str] | None = None) -> Journal:
    """Open a journal by its address; each engine is imported only when it is asked for."""
    scheme, path = parse_address(address)
    journal: Journal
    if scheme == "memory":
        from trunkline.journal.memory import MemoryJournal

        journal = MemoryJournal()
    else:
        from trunkline.journal.sqlite import SqliteJournal

        journal = SqliteJournal(path)
    await journal.open()
    return journal
