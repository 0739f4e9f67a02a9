"""The journal's interface: an append-only log per session, with leases, commands and blobs.

Above are sessions, which decide what to write; below is one engine (memory, SQLite, later Redis).
Every engine passes the same test suite. The rules that all of them keep:

* Records of a session are numbered 1, 2, 3 ... without holes. The owner assigns the numbers; an
  append whose first number is not the next one is refused, so a retry can never write twice.
* An append carries its lease. The fence is checked in the same atomic step as the write: an owner
  that slept through its lease gets ``Fenced``, whatever it believes.
* Time for leases is the engine's own clock (``lease_clock``), never the caller's and never one that
  can be set.
* Commands are posted with a key; the same key is the same command. The owner settles each with a
  disposition, and the poster reads it.
"""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from trunkline.commands import Command
from trunkline.errors import JournalError
from trunkline.events import AnyEvent

WAITING_COMMANDS = 1000
"""How many commands may wait for a session's owner; more are refused with SessionBusy."""


class SessionKey(NamedTuple):
    """Who a session belongs to, and its name among theirs."""

    principal: str
    session_id: str


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the journal: an event, or a command that the owner accepted."""

    seq: int
    at: float
    fence: int
    event: AnyEvent | None = None
    command: Command | None = None


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a session without reading it."""

    principal: str
    session_id: str
    target: str = ""
    cwd: str | None = None
    roots: tuple[str, ...] = ()
    title: str | None = None
    meta: dict[str, Any] | None = None
    """What the client sent when it made the session."""
    kept: dict[str, Any] | None = None
    """What the session's agent keeps with it."""
    created_at: float = 0.0
    updated_at: float = 0.0
    first_seq: int = 1
    """The oldest record that is still there."""
    last_seq: int = 0
    bytes: int = 0
    fence: int = 0
    owner: str | None = None
    """Who holds the lease now, if anyone does."""

    @property
    def key(self) -> SessionKey:
        """The session's key."""
        return SessionKey(self.principal, self.session_id)


class SearchPage(NamedTuple):
    """The sessions that one step of a search found."""

    sessions: list[SessionInfo]
    next: tuple[float, str] | None
    """The ``before`` of the next step; None when every session was looked at."""


class Lease(NamedTuple):
    """The right to append to a session, until a higher fence exists."""

    key: SessionKey
    owner: str
    fence: int
    last_seq: int
    """The newest record when the lease was taken."""


class Held(NamedTuple):
    """Someone else holds the lease."""

    owner: str
    fence: int
    expires_in: float


class Snapshot(NamedTuple):
    """What the records of a session mean so far, in one respect; never the truth, only quicker to read."""

    seq: int
    """The newest record that it counts."""
    after: int
    """The snapshot that it continues, by its ``seq``; 0 for one that stands alone."""
    version: int
    """The form of the payload, which is its writer's own."""
    payload: bytes


class Disposition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the owner made of a command; a refusal carries the error's code and message."""

    accepted: bool
    code: str | None = None
    message: str | None = None
    result: dict[str, Any] | None = None


class Posted(NamedTuple):
    """A command that waits for the owner; ``number`` grows in the order of posting."""

    number: int
    key: str
    command: Command


class Journal(Protocol):
    """An engine. Every method may raise JournalError, and SessionNotFound for a key it lacks."""

    @property
    def url(self) -> str:
        """The address this journal was opened with."""
        ...

    async def open(self) -> None:
        """Make the engine ready; migrates an older schema, refuses a newer one."""

    async def close(self) -> None:
        """Write everything out and let go of the engine; idempotent."""

    async def check(self) -> None:
        """Write something and read it back by another way; raise JournalError with the reason."""

    def shortage(self) -> JournalError | None:
        """Why nothing new should be begun (too little space, a file that is gone or damaged), if known.

        Never blocks, and looks at the disk about once a second.
        """
        ...

    # -- sessions --

    async def create(self, info: SessionInfo) -> SessionInfo:
        """Add a session (created_at, updated_at are set by the engine); SessionBusy if it exists."""
        ...

    async def get(self, key: SessionKey) -> SessionInfo | None:
        """Look a session up."""
        ...

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
        """Newest first by (updated_at, session_id); ``before`` is the last row of the page before.

        ``principal`` None lists everyone's (the command line on one's own file). A slash at the end of
        ``cwd`` does not matter. With a ``target`` only the sessions of that agent are listed. With
        ``begun`` only sessions in which a turn began are listed: an editor makes one with every panel that
        is opened, and nobody looks for those that were never spoken in.
        """
        ...

    async def search(
        self,
        query: str,
        principal: str | None,
        *,
        limit: int = 100,
        before: tuple[float, str] | None = None,
        target: str | None = None,
    ) -> SearchPage:
        """Find the sessions, newest first, that have every word of a query in their title or texts.

        Only sessions in which a turn began are found. One call looks at a bounded number of bytes: a page
        may have fewer than ``limit`` sessions, or none, and still name where the next one begins. A query
        that is empty or too long raises InvalidCommand.
        """
        ...

    async def describe(self, key: SessionKey, *, title: str | None) -> None:
        """Set a session's title."""

    async def keep(self, key: SessionKey, name: str, value: Any) -> None:
        """Keep a value with a session for its agent; None removes it."""

    async def delete(self, key: SessionKey) -> bool:
        """Remove a session with its records and commands; False if there was none."""
        ...

    # -- ownership --

    async def claim(self, key: SessionKey, owner: str, ttl: float) -> Lease | Held:
        """Take the lease with a new fence if nobody holds it (or it ran out)."""
        ...

    async def renew(self, owner: str, ttl: float) -> dict[SessionKey, int]:
        """Extend every lease this owner still holds, in one step, and give those with their fences.

        A session that is missing here, or has another fence than the caller's lease, was taken over
        or deleted: what is said in it is refused from now on. A lease that ran out is still held as
        long as nobody took it.
        """
        ...

    async def release(self, lease: Lease) -> None:
        """Give the lease back; nothing happens if it was lost already."""

    # -- records --

    def append(
        self, lease: Lease, records: Sequence[Record], *, durable: bool = False
    ) -> asyncio.Future[None]:
        """Queue records, in order, all or nothing; the future tells when they are committed.

        Never blocks. Appends of all sessions that wait at one moment share one commit. ``durable``
        survives a power cut too; without it a commit survives the death of the process. The future
        raises Fenced when the lease was lost (the session was taken over, or deleted) and
        JournalError when the engine failed; a failed append leaves no trace, and those queued
        behind it on the same lease fail too. An empty durable append makes durable what was
        appended before it.
        """
        ...

    def crowded(self, key: SessionKey) -> bool:
        """Whether so much of a session, or of its principal, waits that more should wait for it.

        Whoever appends all the same is refused at a limit of that session or of its principal; what
        others say is never refused for it.
        """
        ...

    async def room(self, key: SessionKey) -> None:
        """Wait until a session is not crowded any more."""

    async def read(self, key: SessionKey, after: int = 0, limit: int = 1000) -> list[Record]:
        """Give up to ``limit`` committed records with seq > after, in order."""
        ...

    # -- snapshots --

    async def put_snapshot(self, lease: Lease, part: str, snapshot: Snapshot) -> None:
        """Keep a snapshot (fenced like an append) in the place of those of its part behind ``after``.

        It may count only records that are there. Deleting a session, and removing some of its records,
        removes its snapshots.
        """

    async def get_snapshots(self, key: SessionKey, part: str) -> builtins.list[Snapshot]:
        """Give the snapshots of a part, oldest first."""
        ...

    # -- commands --

    async def post(self, key: SessionKey, command_key: str, command: Command) -> int:
        """Leave a command for the owner; the same command_key again gives the same number."""
        ...

    async def commands(self, key: SessionKey) -> list[Posted]:
        """The commands that are not settled yet, in order of posting."""
        ...

    async def inbox(self, owner: str) -> list[SessionKey]:
        """The sessions this owner holds that have commands waiting."""
        ...

    async def settle(self, lease: Lease, command_key: str, disposition: Disposition) -> None:
        """Say what became of a command (fenced like an append); the first disposition stays."""

    async def report_progress(self, lease: Lease) -> None:
        """Count for every waiting command that the owner is at work (fenced like an append)."""

    async def progress(self, key: SessionKey, command_key: str) -> int:
        """How often the owner reported progress since a command was posted."""
        ...

    async def disposition(self, key: SessionKey, command_key: str) -> Disposition | None:
        """What became of a command, once the owner said so."""
        ...

    # -- watching --

    async def changes(self, since: int, *, poll: float) -> int:
        """Wait until anything changed after version ``since`` and give the new version.

        Changes of this process and of others count. ``since`` 0 returns at once. An engine that
        cannot be told looks every ``poll`` seconds. Cancel the call to stop waiting.
        """
        ...

    # -- blobs and retention --

    async def put_blob(self, data: bytes) -> str:
        """Keep data under its digest (``sha256:<hex>``); keeping it twice is keeping it once."""
        ...

    async def get_blob(self, digest: str) -> bytes | None:
        """Give the data back, if it is still there."""
        ...

    async def retain(self, *, max_age: float | None = None, max_bytes: int | None = None) -> int:
        """Forget whole sessions idle for max_age seconds, and the oldest turns of any session
        above max_bytes (never its newest turn); give the number of records removed.

        A session that somebody holds is not idle. Blobs that nothing mentions go when they are an
        hour old.
        """
        ...
