"""Owners: how a process names itself in a lease, claims a session, keeps it and gives it up.

An owner trusts its lease only until its own deadline. After that it asks the journal before it carries
out a command or shows anything. If another process has taken the session meanwhile, it becomes a follower
of that owner, or, when it was in the middle of a turn, ends here with the reason.

A lease runs out by itself, which is all another machine can wait for. On the same machine a process
that is gone can be seen to be gone, so no process has to wait for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
from pathlib import Path
from typing import Protocol

from trunkline.agents.optional_methods import AgentHooks
from trunkline.errors import Fenced, SessionNotFound, TrunklineError
from trunkline.journal import Held, Lease
from trunkline.journal.lease_clock import boot_id, lease_clock
from trunkline.session.ids import new_id
from trunkline.session.stream import EventStream


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

    def check_open(self) -> None:
        """Raise if the session was closed."""

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

    def renew_soon(self) -> None:
        """Start to renew its leases."""

    async def renew_leases(self) -> None:
        """Renew its leases."""


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
        self._stream = stream
        self._hooks = hooks
        self._process = process
        self._may_run = may_run
        self._claiming = asyncio.Lock()
        # Something waits to be shown and stored until it is known whether the lease is still ours.
        stream.on_lease_in_doubt = process.renew_soon

    @property
    def is_claiming(self) -> bool:
        """Whether a claim is on its way."""
        return self._claiming.locked()

    async def claim(self) -> bool:
        """Become the owner if no other process is; True when this process owns the session."""
        stream = self._stream
        if stream.lease_is_current:
            return True
        async with self._claiming:
            if stream.lease is not None and not stream.lease_is_current:
                await self._process.renew_leases()
            if stream.lease is not None:
                return True
            self._session.check_open()
            return await self._claim()

    async def _claim(self) -> bool:
        if not self._may_run:
            return False
        stream, journal = self._stream, self._stream.journal
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

    async def lose(self) -> None:
        """Stop being the owner: another process has taken the session."""
        session, stream = self._session, self._stream
        if not stream.lease_in_doubt:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(stream.settings.finish_grace):
                    await session.wait_for_stored_end()
        if session.is_idle_here and not stream.unwritten:
            stream.become_follower()
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
