"""What waits to be written, kept by session, so that one session's flood holds up nobody else.

The order inside a session is the order of submission; sessions take turns. A group that shares one
commit has a bounded size, so a small append waits for one such group and not for all that another
session has queued; one piece of work that is larger than a group is committed alone, and never twice
in a row while small ones wait.

Bytes count as waiting until their commit is over. The queue belongs to whoever holds the writer's lock.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from trunkline.journal.interface import SessionKey

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

GROUP_BYTES = 4 * 2**20
"""How many bytes share one commit, unless a single piece of work is larger."""

NOBODY = SessionKey("", "")
"""Whose work it is that is no session's."""


class Job(NamedTuple):
    """A piece of work, whose it is, and how many bytes it brings."""

    work: Work[Any]
    future: asyncio.Future[Any]
    durable: bool
    key: SessionKey
    size: int


class FairQueue:
    """Gives out what waits in groups, and knows how much of whom waits."""

    def __init__(self) -> None:
        self._streams: dict[SessionKey, deque[Job]] = {}
        self._of_session: dict[SessionKey, int] = {}
        self._of_principal: dict[str, int] = {}
        self._large_before = False
        self.bytes = 0
        """How many bytes wait, of all sessions."""

    def __bool__(self) -> bool:
        """Whether anything waits to be taken."""
        return bool(self._streams)

    def waiting(self, key: SessionKey) -> tuple[int, int]:
        """How many bytes of a session wait, and how many of its principal."""
        return self._of_session.get(key, 0), self._of_principal.get(key.principal, 0)

    def put(self, job: Job) -> None:
        """Add work behind what its session has waiting."""
        self._streams.setdefault(job.key, deque()).append(job)
        if job.size:
            self._count(job.key, job.size)

    def take(self) -> list[Job]:
        """Take the next group; ``settle`` it when it is committed or failed."""
        if not self._large_before and (large := self._take_large()):
            self._large_before = True
            return large
        self._large_before = False
        return self._take_small() or self._take_large()

    def settle(self, group: Sequence[Job]) -> None:
        """Note that a group waits no longer."""
        for job in group:
            if job.size:
                self._count(job.key, -job.size)

    def _take_large(self) -> list[Job]:
        """Take the piece of work that stands first, if it is larger than a group."""
        first = next(iter(self._streams), None)
        if first is None or self._streams[first][0].size <= GROUP_BYTES:
            return []
        return [self._pop(first)]

    def _take_small(self) -> list[Job]:
        group: list[Job] = []
        room = GROUP_BYTES
        for key in list(self._streams):
            while (stream := self._streams.get(key)) and stream[0].size <= room:
                job = self._pop(key)
                room -= job.size
                group.append(job)
        return group

    def _pop(self, key: SessionKey) -> Job:
        """Take a session's oldest work; the session stands last then."""
        stream = self._streams.pop(key)
        job = stream.popleft()
        if stream:
            self._streams[key] = stream
        return job

    def _count(self, key: SessionKey, size: int) -> None:
        self.bytes += size
        _add(self._of_session, key, size)
        _add(self._of_principal, key.principal, size)


def _add(counts: dict[Any, int], key: Any, size: int) -> None:
    count = counts.get(key, 0) + size
    if count:
        counts[key] = count
    else:
        del counts[key]
