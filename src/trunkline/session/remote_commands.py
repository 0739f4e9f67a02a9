"""Remote commands: how a command reaches the process that owns a session, and how its result comes back.

A process that does not own the session posts the command in the journal; the owner carries it out and
leaves the disposition there.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import msgspec

from trunkline.commands import Command, HandOver
from trunkline.errors import JournalError, SessionBusy, SessionClosed, TrunklineError
from trunkline.journal import Disposition, Journal, Lease, Posted, SessionInfo
from trunkline.session.ids import new_id
from trunkline.session.settings import Settings

log = logging.getLogger("trunkline.session")


class RemoteCommands:
    """Posts commands to the owner of a session, and carries out posted ones as the owner."""

    def __init__(
        self,
        journal: Journal,
        info: SessionInfo,
        settings: Settings,
        *,
        may_run: bool,
        own: Callable[[], Awaitable[bool]],
        lease: Callable[[], Lease | None],
        carry_out: Callable[[Command], Awaitable[dict[str, Any]]],
        hand_over: Callable[[str, Callable[[], Awaitable[None]]], Awaitable[None]],
        journal_changed: Callable[[float], Awaitable[None]],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        """Serve one session; ``may_run`` says whether this process has the session's agent.

        ``own`` claims the session if no other process has it, ``lease`` is what that gave (None once the
        session is closed), ``hand_over`` gives it to another process and calls back before it does, and
        ``journal_changed`` waits for a change of the journal, with a timeout.
        """
        self._journal = journal
        self._key = info.key
        self._settings = settings
        self._may_run = may_run
        self._start_first = f"this session belongs to {info.target!r}: start that first"
        self._own = own
        self._lease = lease
        self._carry_out = carry_out
        self._hand_over = hand_over
        self._journal_changed = journal_changed
        self._spawn = spawn
        self._working = asyncio.Lock()
        self._more = False

    async def delegate(self, command: Command) -> dict[str, Any]:
        """Post a command and wait for the owner's answer; take over if the owner is gone."""
        journal, key = self._journal, self._key
        if not self._may_run and ((info := await journal.get(key)) is None or info.owner is None):
            # Refused before it is posted, so that no later owner finds it and carries it out after all.
            raise SessionBusy(f"no process runs this session now; {self._start_first}")
        command_key = command.key or new_id("cmd")
        # The key goes with the command: an owner that dies halfway leaves one that the next knows again.
        await journal.post(key, command_key, msgspec.structs.replace(command, key=command_key))
        try:
            async with asyncio.timeout(None) as waiting:
                progress = -1
                while (found := await journal.disposition(key, command_key)) is None:
                    if (now := await journal.progress(key, command_key)) != progress:
                        progress = now
                        waiting.reschedule(asyncio.get_running_loop().time() + self._settings.command_timeout)
                    if await self._own():
                        # This process carries the command out now, without a time limit.
                        waiting.reschedule(None)
                        await self.carry_out_posted()
                        progress = -1
                    else:
                        await self._journal_changed(self._settings.lease_ttl / 4)
        except TimeoutError:
            fix = "close it, or try again" if self._may_run else self._start_first
            raise SessionBusy(f"the process that owns this session does not answer; {fix}") from None
        if not found.accepted:
            raise error_of(found)
        return found.result or {}

    def carry_out_soon(self) -> None:
        """Start to carry out what other processes posted; a round that runs already looks once more."""
        self._more = True
        if not self._working.locked():
            self._spawn(self.carry_out_posted())

    async def carry_out_posted(self) -> None:
        """Carry out what other processes posted, in order, and store what came of each."""
        async with self._working:
            self._more = await self._own()
            while self._more:
                self._more = False
                for posted in await self._journal.commands(self._key):
                    lease = self._lease()
                    if lease is None:
                        return
                    reporting = asyncio.create_task(self._report_progress(lease))
                    try:
                        disposition = await self._dispose(posted, lease)
                    finally:
                        reporting.cancel()
                    if disposition is not None:
                        await self._journal.settle(lease, posted.key, disposition)

    async def _report_progress(self, lease: Lease) -> None:
        """Let the processes that posted commands know now and then that this one works on them."""
        with contextlib.suppress(JournalError):
            while True:
                await asyncio.sleep(self._settings.command_timeout / 3)
                await self._journal.report_progress(lease)

    async def _dispose(self, posted: Posted, lease: Lease) -> Disposition | None:
        """Carry a command out and say what came of it; None for one that is settled already."""
        command = posted.command
        try:
            if not isinstance(command, HandOver):
                return Disposition(accepted=True, result=await self._carry_out(command))
            # Settled while the lease still allows it: after that it is another process that may.
            accepted = Disposition(accepted=True)
            await self._hand_over(command.to, lambda: self._journal.settle(lease, posted.key, accepted))
            return None
        except (JournalError, SessionClosed):
            # This process owns the session no more: the next owner finds the command and carries it out.
            raise
        except TrunklineError as error:
            return Disposition(accepted=False, code=error.code, message=str(error), result=vars(error))
        except Exception as error:
            log.exception("a command that another process posted failed in session %s", self._key.session_id)
            why = f"{type(error).__name__}: {error}"
            return Disposition(accepted=False, code=TrunklineError.code, message=why)


def error_of(disposition: Disposition) -> TrunklineError:
    """Make the error that the owner raised, from what it left in the journal."""
    kinds: list[type[TrunklineError]] = [TrunklineError]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
    found = next((kind for kind in kinds if kind.code == disposition.code), TrunklineError)
    error = found.__new__(found)
    Exception.__init__(error, disposition.message or "the owner refused the command")
    vars(error).update(disposition.result or {})
    return error
