"""The journal in memory: for tests, and for sessions that nobody wants to keep.

It stores the same rows as the other engines, so what comes back is what they would give. Every
operation happens at once, on the event loop; a future of an append is done when it is returned.
"""

from __future__ import annotations

import asyncio
import builtins
import itertools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from trunkline.commands import Command
from trunkline.errors import JournalError
from trunkline.journal import blobs, refusals, trimming
from trunkline.journal.change_waiters import ChangeWaiters
from trunkline.journal.codec import TURN, Row, copy, decode_command, encode, pack, unpack, with_kept
from trunkline.journal.interface import (
    Disposition,
    Held,
    Lease,
    Posted,
    Record,
    SearchPage,
    SessionInfo,
    SessionKey,
    Snapshot,
)
from trunkline.journal.lease_clock import lease_clock
from trunkline.journal.search import PREFIXES, Query, search_page


@dataclass
class _Command:
    number: int
    payload: bytes
    disposition: Disposition | None = None
    progress: int = 0


@dataclass
class _Session:
    info: SessionInfo
    expires_at: float = 0.0
    rows: list[Row] = field(default_factory=list[Row])
    commands: dict[str, _Command] = field(default_factory=dict[str, _Command])
    snapshots: dict[str, list[Snapshot]] = field(default_factory=dict[str, list[Snapshot]])

    def change(self, **fields: object) -> SessionInfo:
        self.info = msgspec.structs.replace(self.info, **fields)
        return self.info

    def seen_at(self, now: float) -> SessionInfo:
        """The info as it is shown: an owner that ran out is none."""
        return self.info if self.expires_at > now else msgspec.structs.replace(self.info, owner=None)

    def waiting(self) -> Iterator[tuple[str, _Command]]:
        return ((key, command) for key, command in self.commands.items() if command.disposition is None)


class MemoryJournal:
    """Keeps sessions for as long as it is open."""

    def __init__(
        self, *, clock: Callable[[], float] = time.time, lease_clock: Callable[[], float] = lease_clock
    ) -> None:
        self._clock = clock
        self._lease_clock = lease_clock
        self._open = False
        self._sessions: dict[SessionKey, _Session] = {}
        self._blobs: dict[str, tuple[float, bytes]] = {}
        self._numbers = itertools.count(1)
        self._floor = 0
        self._changes = 0
        self._waiters = ChangeWaiters(lambda: self._changes)

    @property
    def url(self) -> str:
        return "memory:"

    async def open(self) -> None:
        self._open = True

    async def close(self) -> None:
        """Forget everything; idempotent."""
        self._open = False
        self._sessions.clear()
        self._blobs.clear()
        self._waiters.close(self._closed)

    async def check(self) -> None:
        """Say whether it is open; there is nothing else to fail."""
        self._check()

    def shortage(self) -> JournalError | None:
        """Why nothing new should be begun: nothing speaks against it."""
        return None

    def _closed(self) -> JournalError:
        return refusals.closed(self.url)

    def _check(self) -> None:
        if not self._open:
            raise self._closed()

    def _changed(self) -> None:
        self._changes += 1
        self._waiters.refresh()

    def _find(self, key: SessionKey) -> _Session | None:
        self._check()
        return self._sessions.get(key)

    def _have(self, key: SessionKey) -> _Session:
        session = self._find(key)
        if session is None:
            raise refusals.missing(key)
        return session

    def _leased(self, lease: Lease) -> _Session:
        session = self._find(lease.key)
        refusals.check_fence(lease, session and session.info.fence)
        assert session is not None
        return session

    # -- sessions --

    async def create(self, info: SessionInfo) -> SessionInfo:
        if self._find(info.key) is not None:
            raise refusals.exists(info.key)
        session = self._sessions[info.key] = _Session(copy(info, "the session"))
        now = self._clock()
        stored = session.change(
            created_at=now, updated_at=now, first_seq=1, last_seq=0, bytes=0, fence=self._floor, owner=None
        )
        self._changed()
        return stored

    async def get(self, key: SessionKey) -> SessionInfo | None:
        session = self._find(key)
        return session and session.seen_at(self._lease_clock())

    async def list(
        self,
        principal: str | None,
        *,
        cwd: str | None = None,
        limit: int = 100,
        before: tuple[float, str] | None = None,
        begun: bool = False,
        target: str | None = None,
    ) -> list[SessionInfo]:
        self._check()
        now = self._lease_clock()
        found = [
            session.seen_at(now)
            for session in self._sessions.values()
            if principal in (None, session.info.principal)
            and (cwd is None or _is_same_folder(cwd, session.info.cwd))
            and target in (None, session.info.target)
            and (not begun or any(row.kind == TURN for row in session.rows))
        ]
        found.sort(key=_place, reverse=True)
        return [info for info in found if before is None or _place(info) < before][: max(limit, 0)]

    async def search(
        self,
        query: str,
        principal: str | None,
        *,
        limit: int = 100,
        before: tuple[float, str] | None = None,
        target: str | None = None,
    ) -> SearchPage:
        wanted = Query.parse(query)
        infos = await self.list(principal, limit=sys.maxsize, before=before, begun=True, target=target)
        return search_page(
            wanted,
            iter(infos),
            lambda info: (
                (len(row.payload), row.payload if row.payload.startswith(PREFIXES) else None)
                for row in reversed(self._sessions[info.key].rows)
            ),
            limit,
        )

    async def describe(self, key: SessionKey, *, title: str | None) -> None:
        self._have(key).change(title=title)
        self._changed()

    async def keep(self, key: SessionKey, name: str, value: Any) -> None:
        session = self._have(key)
        kept = with_kept(session.info.kept, name, value)
        session.change(kept=copy(kept, "a kept value"))

    async def delete(self, key: SessionKey) -> bool:
        session = self._find(key)
        if session is not None:
            self._remove(session)
        return session is not None

    def _remove(self, session: _Session) -> int:
        self._floor = max(self._floor, session.info.fence)
        del self._sessions[session.info.key]
        self._changed()
        return len(session.rows)

    # -- ownership --

    async def claim(self, key: SessionKey, owner: str, ttl: float) -> Lease | Held:
        session = self._have(key)
        now = self._lease_clock()
        holder = session.seen_at(now).owner
        if holder is not None and holder != owner:
            return Held(holder, session.info.fence, session.expires_at - now)
        session.expires_at = now + ttl
        info = session.change(owner=owner, fence=session.info.fence + 1)
        self._changed()
        return Lease(key, owner, info.fence, info.last_seq)

    async def renew(self, owner: str, ttl: float) -> dict[SessionKey, int]:
        self._check()
        held = [session for session in self._sessions.values() if session.info.owner == owner]
        for session in held:
            session.expires_at = self._lease_clock() + ttl
        if held:
            self._changed()
        return {session.info.key: session.info.fence for session in held}

    async def release(self, lease: Lease) -> None:
        session = self._find(lease.key)
        if session is not None and session.info.fence == lease.fence:
            session.expires_at = 0.0
            session.change(owner=None)
            self._changed()

    # -- records --

    def append(
        self, lease: Lease, records: Sequence[Record], *, durable: bool = False
    ) -> asyncio.Future[None]:
        """Add records, in order, all or nothing; the future is done already."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        try:
            batch = pack(lease, records)
            session = self._leased(lease)
            info = session.info
            refusals.check_next(lease, batch, info.last_seq)
        except JournalError as error:
            future.set_exception(error)
            return future
        session.rows += batch.rows
        session.change(
            last_seq=info.last_seq + len(batch.rows), bytes=info.bytes + batch.size, updated_at=self._clock()
        )
        future.set_result(None)
        self._changed()
        return future

    def crowded(self, key: SessionKey) -> bool:
        """Whether much waits: nothing ever does."""
        return False

    async def room(self, key: SessionKey) -> None:
        """Go on: nothing ever waits."""

    async def read(self, key: SessionKey, after: int = 0, limit: int = 1000) -> builtins.list[Record]:
        session = self._have(key)
        start = max(after + 1 - session.info.first_seq, 0)
        return [unpack(*row) for row in session.rows[start : start + max(limit, 0)]]

    # -- snapshots --

    async def put_snapshot(self, lease: Lease, part: str, snapshot: Snapshot) -> None:
        session = self._leased(lease)
        refusals.check_snapshot(lease, snapshot, session.info.last_seq)
        kept = [one for one in session.snapshots.get(part, ()) if one.seq <= snapshot.after]
        session.snapshots[part] = [*kept, snapshot]
        self._changed()

    async def get_snapshots(self, key: SessionKey, part: str) -> builtins.list[Snapshot]:
        return builtins.list(self._have(key).snapshots.get(part, ()))

    # -- commands --

    async def post(self, key: SessionKey, command_key: str, command: Command) -> int:
        session = self._have(key)
        known = session.commands.get(command_key)
        if known is None:
            refusals.check_waiting(key, sum(1 for _ in session.waiting()))
            known = _Command(next(self._numbers), encode(command, f"command {command_key!r}"))
            session.commands[command_key] = known
            self._changed()
        return known.number

    async def commands(self, key: SessionKey) -> builtins.list[Posted]:
        waiting = self._have(key).waiting()
        decoded = ((waits.number, name, decode_command(waits.payload)) for name, waits in waiting)
        return [Posted(number, name, command) for number, name, command in decoded if command is not None]

    async def inbox(self, owner: str) -> builtins.list[SessionKey]:
        self._check()
        held = ((key, one) for key, one in self._sessions.items() if one.info.owner == owner)
        return [key for key, one in held if any(one.waiting())]

    async def settle(self, lease: Lease, command_key: str, disposition: Disposition) -> None:
        command = self._leased(lease).commands.get(command_key)
        if command is None:
            raise refusals.unposted(command_key)
        if command.disposition is None:
            command.disposition = copy(disposition, f"the disposition of {command_key!r}")
            command.payload = b""
            self._changed()

    async def report_progress(self, lease: Lease) -> None:
        for _, command in self._leased(lease).waiting():
            command.progress += 1
        self._changed()

    async def progress(self, key: SessionKey, command_key: str) -> int:
        command = self._have(key).commands.get(command_key)
        return 0 if command is None else command.progress

    async def disposition(self, key: SessionKey, command_key: str) -> Disposition | None:
        command = self._have(key).commands.get(command_key)
        return command and command.disposition

    # -- watching --

    async def changes(self, since: int, *, poll: float) -> int:
        self._check()
        return await self._waiters.wait(since, None)

    # -- blobs and retention --

    async def put_blob(self, data: bytes) -> str:
        self._check()
        digest = blobs.digest_of(data)
        self._blobs[digest] = (self._clock(), bytes(data))
        self._changed()
        return digest

    async def get_blob(self, digest: str) -> bytes | None:
        self._check()
        kept = self._blobs.get(digest)
        return kept and kept[1]

    async def retain(self, *, max_age: float | None = None, max_bytes: int | None = None) -> int:
        """Forget idle sessions and the oldest turns of large ones; give the number of records removed."""
        self._check()
        now = self._clock()
        removed = 0
        for session in builtins.list(self._sessions.values()):
            info = session.seen_at(self._lease_clock())
            if max_age is not None and info.owner is None and info.updated_at < now - max_age:
                removed += self._remove(session)
            elif max_bytes is not None and info.bytes > max_bytes:
                removed += self._trim(session, max_bytes)
        self._sweep(now - blobs.GRACE)
        return removed

    def _trim(self, session: _Session, max_bytes: int) -> int:
        info = session.info
        sizes = ((row.seq, row.kind, len(row.payload)) for row in session.rows)
        found = trimming.choose_cut(sizes, info.bytes - max_bytes)
        if found is None:
            return 0
        first, freed = found
        removed = first - info.first_seq
        del session.rows[:removed]
        session.snapshots.clear()  # They know of what went.
        session.change(first_seq=first, bytes=info.bytes - freed)
        self._changed()
        return removed

    def _sweep(self, cutoff: float) -> None:
        needed: set[str] = set()
        for session in self._sessions.values():
            for payload in (
                *(row.payload for row in session.rows),
                *(c.payload for c in session.commands.values()),
            ):
                needed |= blobs.digests_in(payload)
        self._blobs = {
            digest: kept for digest, kept in self._blobs.items() if digest in needed or kept[0] >= cutoff
        }


def _place(info: SessionInfo) -> tuple[float, str]:
    return info.updated_at, info.session_id


def _is_same_folder(one: str, other: str | None) -> bool:
    """Whether two paths are the same, but for a slash at the end."""
    return other is not None and one.rstrip("/") == other.rstrip("/")
