"""Owners: how a process names itself in a lease, claims a session, keeps it and gives it up.

An owner trusts its lease only until its own deadline. After that it asks the journal before it carries
out a command or shows anything. If another process has taken the session meanwhile, it becomes a follower
of that owner, or, when it was in the middle of a turn, ends here with the reason.

A lease runs out by itself, which is all another machine can wait for. On the same machine a process
that is gone can be seen to be gone, so no process has to wait for it.

A process that must run the turns itself, as its agent is an editor's, asks the owner to hand the session
over. An owner that has nothing to do does so, and goes on as a follower.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

from trunkline.agents.optional_methods import AgentHooks
from trunkline.commands import Command, HandOver
from trunkline.errors import Fenced, SessionBusy, SessionNotFound, TrunklineError
from trunkline.journal import Held, Lease, SessionKey
from trunkline.journal.lease_clock import boot_id, lease_clock
from trunkline.session.ids import new_id
from trunkline.session.lease_renewal import LeaseRenewal
from trunkline.session.stream.event_stream import EventStream

log = logging.getLogger("trunkline.session")

_OWNER_BUSY = "the process that owns this session is busy with it: wait for its turn to end"


def new_owner() -> str:
    """A name for this process, unique among all that share a journal."""
    return f"{_machine()}/{os.getpid()}/{new_id('hub')}"


def is_gone(owner: str) -> bool:
    """Whether an owner is a process of this very machine that does not exist any more."""
    machine, _, rest = owner.partition("/")
    pid = rest.partition("/")[0]
    if not pid.isdigit() or not machine or machine != _machine():
        return False
    try:
        # A zombie runs no turns either.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True
    except OSError:
        return False


def _machine() -> str:
    """Name this boot and this namespace of process ids; empty where they are unknown."""
    try:
        space = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return ""
    boot = boot_id()
    return hashlib.sha256(f"{boot}{space}".encode()).hexdigest()[:16] if boot else ""


class OwnedSession(Protocol):
    """What happens in a session when its ownership changes."""

    @property
    def is_idle_here(self) -> bool:
        """Whether no turn runs in this process."""
        ...

    @property
    def busy(self) -> bool:
        """Whether a turn is running or suspended, here or in another process."""
        ...

    @property
    def can_hand_over(self) -> bool:
        """Whether nothing runs, waits or begins in this process."""
        ...

    def check_open(self) -> None:
        """Raise if the session was closed."""

    async def submit(self, command: Command) -> dict[str, Any]:
        """Carry a command out, here or in the process that owns the session."""
        ...

    async def recover(self, why: str | None) -> None:
        """Finish, or go on with, what an earlier owner left open."""

    async def wait_for_stored_end(self) -> None:
        """Wait until a turn that has ended is stored."""

    def fail(self, error: TrunklineError) -> None:
        """End the session in this process with an error."""


class OwnerProcess(Protocol):
    """The process that owns sessions."""

    @property
    def owner(self) -> str:
        """Its name in a lease."""
        ...

    @property
    def lease_renewal(self) -> LeaseRenewal:
        """What renews its leases."""
        ...

    async def changed(self, timeout: float) -> None:
        """Wait until the journal changed, at most ``timeout`` seconds."""

    def wait_at_close(self, key: SessionKey, task: asyncio.Task[None]) -> None:
        """Wait for this task before the session is opened again or deleted, and when the process ends."""


class Ownership:
    """Claims a session's lease and gives it up."""

    def __init__(
        self,
        session: OwnedSession,
        stream: EventStream,
        hooks: AgentHooks,
        process: OwnerProcess,
        *,
        may_run: bool,
    ) -> None:
        """Serve one session; ``may_run`` says whether this process has its agent."""
        self._session = session
        self.stream = stream
        self._hooks = hooks
        self._process = process
        self._may_run = may_run
        self._claiming = asyncio.Lock()
        self._unanswered: str | None = None  # The key of a request to hand over, if nobody decided it yet.
        # Something waits to be shown and stored until it is known whether the lease is still ours.
        stream.held_lease.on_doubt = process.lease_renewal.renew_soon

    @property
    def is_claiming(self) -> bool:
        """Whether a claim is on its way."""
        return self._claiming.locked()

    async def claim(self) -> bool:
        """Become the owner if no other process is; True when this process owns the session."""
        stream = self.stream
        if stream.held_lease.is_current:
            return True
        async with self._claiming:
            if stream.lease is not None and not stream.held_lease.is_current:
                await self._process.lease_renewal.renew()
            if stream.lease is not None:
                return True
            self._session.check_open()
            return await self._claim()

    async def _claim(self) -> bool:
        if not self._may_run:
            return False
        stream, journal = self.stream, self.stream.journal
        ttl, asked_at = stream.settings.lease_ttl, lease_clock()
        claimed = await journal.claim(stream.key, self._process.owner, ttl)
        if isinstance(claimed, Held) and is_gone(claimed.owner):
            # Its lease would run out anyway; until then it only keeps others waiting.
            await journal.release(Lease(stream.key, claimed.owner, claimed.fence, 0))
            asked_at = lease_clock()
            claimed = await journal.claim(stream.key, self._process.owner, ttl)
        if isinstance(claimed, Held):
            return False
        await stream.catch_up()
        # Asked before anything is carried out here: until then no other process can claim the session.
        why = await self._hooks.why_over(list(stream.grammar.questions.values()))
        stream.become_owner(claimed, asked_at + ttl)
        await self._session.recover(why)
        return True

    # -- handing over ------------------------------------------------------------------------------

    async def take_over(self, within: float) -> None:
        """Become the owner; a process that is must hand the session over, which it does when it is idle.

        Raises SessionBusy when it did not within so many seconds.
        """
        why = "the process that owns this session did not answer"
        try:
            async with asyncio.timeout(within):
                while not await self.claim():
                    try:
                        await self._ask_to_hand_over()
                    except SessionBusy as error:
                        why = str(error)
                        await self._process.changed(self.stream.settings.poll_idle)
        except TimeoutError:
            raise SessionBusy(why) from None

    async def _ask_to_hand_over(self) -> None:
        """Ask the owner, and wait for its answer; raises SessionBusy for one that keeps the session.

        Only one request of ours waits at a time: an owner of an earlier version answers none.
        """
        if self._session.busy:
            raise SessionBusy(_OWNER_BUSY)
        key = self._unanswered = self._unanswered or new_id("cmd")
        try:
            await self._session.submit(HandOver(to=self._process.owner, key=key))
        except TrunklineError:
            self._unanswered = None
            raise
        self._unanswered = None

    async def hand_over(self, to: str, tell: Callable[[], Awaitable[None]]) -> None:
        """Let another process own the session, and follow it; raises SessionBusy while there is work here.

        ``tell`` is called before that process can claim the session. One that has it already, or that is gone
        by now, gets nothing.
        """
        if to == self._process.owner or is_gone(to):
            await tell()
            return
        stream = self.stream
        async with self._claiming:
            await stream.durable()
            lease = stream.lease
            if lease is None or stream.unwritten or not self._session.can_hand_over:
                raise SessionBusy(_OWNER_BUSY)
            stream.become_follower()
            try:
                await asyncio.wait({self._close_agent()}, timeout=stream.settings.detach_after)
                await tell()
            finally:
                await stream.journal.release(lease)

    def _close_agent(self) -> asyncio.Task[None]:
        """Let the agent close the session: it will not know what another process adds to it."""
        key = self.stream.key

        async def close() -> None:
            try:
                async with asyncio.timeout(self.stream.settings.close_agent_after):
                    await self._hooks.close_until_needed()
            except Exception:
                log.exception("the agent failed to close session %s", key.session_id)

        closing = asyncio.create_task(close(), name=f"trunkline close {key.session_id}")
        self._process.wait_at_close(key, closing)
        return closing

    async def lose(self) -> None:
        """Stop being the owner: another process has taken the session."""
        session, stream = self._session, self.stream
        if not stream.held_lease.in_doubt:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(stream.settings.finish_grace):
                    await session.wait_for_stored_end()
        if session.is_idle_here and not stream.unwritten:
            stream.become_follower()
            self._close_agent()
            try:
                await stream.catch_up()
            except SessionNotFound as error:
                session.fail(error)
            return
        error = Fenced(
            "another process took this session over while this one did not answer; "
            "open it again to see what is stored"
        )
        stream.fail(error)  # Also while it is being closed: a caller may wait for the lease.
        session.fail(error)
