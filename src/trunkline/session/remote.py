"""The mailbox: how a command reaches the process that owns a session, and how its word comes back."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import msgspec

from trunkline.commands import Command
from trunkline.errors import JournalError, SessionBusy, SessionClosed, TrunklineError
from trunkline.journal import Disposition
from trunkline.session.ids import new_id

if TYPE_CHECKING:
    from trunkline.session.session import Session

__all__ = ["RemoteCommands", "error_of"]

log = logging.getLogger("trunkline.session")


class RemoteCommands:
    """Posts commands to the owner of a session, and works through them when we are the owner."""

    def __init__(self, session: Session) -> None:
        """Serve one session."""
        self._session = session
        self._working = asyncio.Lock()
        self._more = False

    async def delegate(self, command: Command) -> dict[str, Any]:
        """Post a command and wait for the owner's word; take over if the owner is gone."""
        session = self._session
        journal, settings = session.hub.journal, session.settings
        start_it = f"this session belongs to {session.info.target!r}: start that first"
        ours = session.hub.may_run(session.info)
        if not ours and ((info := await journal.get(session.key)) is None or info.owner is None):
            # Refused before it is posted, so that nobody finds it later and does it after all.
            raise SessionBusy(f"nobody runs this session now; {start_it}")
        command_key = command.key or new_id("cmd")
        # The key goes with the command: an owner that dies halfway leaves one that the next knows again.
        await journal.post(session.key, command_key, msgspec.structs.replace(command, key=command_key))
        try:
            async with asyncio.timeout(settings.command_timeout):
                while (found := await journal.disposition(session.key, command_key)) is None:
                    if await session.own():
                        await self.work()
                    else:
                        await session.hub.changed(settings.lease_ttl / 4)
        except TimeoutError:
            fix = "close it, or try again" if ours else start_it
            raise SessionBusy(f"the process that owns this session does not answer; {fix}") from None
        if not found.accepted:
            raise error_of(found)
        return found.result or {}

    def attend(self) -> None:
        """Begin to carry out what other processes posted; who is at it already looks once more."""
        self._more = True
        if not self._working.locked():
            self._session.spawn(self.work())

    async def work(self) -> None:
        """Carry out what other processes posted, in order, and say what became of each."""
        session = self._session
        async with self._working:
            self._more = await session.own()
            while self._more:
                self._more = False
                for posted in await session.hub.journal.commands(session.key):
                    lease = session.event_stream.lease
                    if lease is None or session.closed:
                        return
                    disposition = await self._dispose(posted.command)
                    await session.hub.journal.settle(lease, posted.key, disposition)

    async def _dispose(self, command: Command) -> Disposition:
        try:
            return Disposition(accepted=True, result=await self._session.carry_out(command))
        except (JournalError, SessionClosed):
            # Not ours to settle any more: the next owner finds the command and carries it out.
            raise
        except TrunklineError as error:
            return Disposition(accepted=False, code=error.code, message=str(error), result=vars(error))
        except Exception as error:
            log.exception("%s failed on a command of another process", self._session.agent_name)
            why = f"{type(error).__name__}: {error}"
            return Disposition(accepted=False, code=TrunklineError.code, message=why)


def error_of(disposition: Disposition) -> TrunklineError:
    """Make the error that the owner met, from what it left in the journal."""
    kinds: list[type[TrunklineError]] = [TrunklineError]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
    found = next((kind for kind in kinds if kind.code == disposition.code), TrunklineError)
    error = found.__new__(found)
    Exception.__init__(error, disposition.message or "the owner refused the command")
    vars(error).update(disposition.result or {})
    return error
