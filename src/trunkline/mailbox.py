"""The mailbox: how a command reaches the process that owns a session, and how its word comes back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from trunkline.commands import Command
from trunkline.errors import AlreadyAnswered, SessionBusy, TrunklineError
from trunkline.ids import new_id
from trunkline.journal import Disposition

if TYPE_CHECKING:
    from trunkline.session import Session

__all__ = ["Mailbox", "error_of"]


class Mailbox:
    """Posts commands to the owner of a session, and works through them when we are the owner."""

    def __init__(self, session: Session) -> None:
        """Serve one session."""
        self._session = session
        self._working = asyncio.Lock()

    async def delegate(self, command: Command) -> dict[str, Any]:
        """Post a command and wait for the owner's word; take over if the owner is gone."""
        session = self._session
        journal, settings = session.hub.journal, session.settings
        command_key = command.key or new_id("cmd")
        await journal.post(session.key, command_key, command)
        try:
            async with asyncio.timeout(settings.command_timeout):
                while (found := await journal.disposition(session.key, command_key)) is None:
                    if await session.own():
                        await self.work()
                    else:
                        await session.hub.changed(settings.lease_ttl / 4)
        except TimeoutError:
            fix = "close it, or try again"
            if not session.hub.may_run(session.info):
                fix = f"this session belongs to {session.info.target!r}: start that first"
            raise SessionBusy(f"the process that owns this session does not answer; {fix}") from None
        if not found.accepted:
            raise error_of(found)
        return found.result or {}

    async def work(self) -> None:
        """Carry out what other processes posted, in order, and say what became of each."""
        session = self._session
        async with self._working:
            lease = session.line.lease
            if lease is None:
                return
            for posted in await session.hub.journal.commands(session.key):
                disposition = await self._dispose(posted.command)
                await session.hub.journal.settle(lease, posted.key, disposition)

    async def _dispose(self, command: Command) -> Disposition:
        try:
            return Disposition(accepted=True, result=await self._session.carry_out(command))
        except TrunklineError as error:
            first = {"by": error.by} if isinstance(error, AlreadyAnswered) else None
            return Disposition(accepted=False, code=error.code, message=str(error), result=first)


def error_of(disposition: Disposition) -> TrunklineError:
    """Make the error that the owner met, from what it left in the journal."""
    kinds: list[type[TrunklineError]] = [TrunklineError]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
    found = next((kind for kind in kinds if kind.code == disposition.code), TrunklineError)
    error = found.__new__(found)
    Exception.__init__(error, disposition.message or "the owner refused the command")
    if isinstance(error, AlreadyAnswered):
        error.by = (disposition.result or {}).get("by")
    return error
