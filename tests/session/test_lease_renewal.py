"""Renewing leases: what a session does while its lease is in doubt, and once it is lost."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.hubs import collect, forever, hub_for, only, opened, soon, text_of, until

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.journal import SessionKey
from trunkline.journal.memory import MemoryJournal
from trunkline.session.session import Session

LONG = 60.0
"""A lease that is renewed only when somebody doubts it."""


async def busy(prompt: Prompt) -> AsyncIterator[str]:
    yield "working "
    await forever()


def doubt(session: Session) -> None:
    """Let the owner's own deadline pass."""
    session.event_stream.extend_lease(0.0)


async def test_an_owner_in_doubt_whose_lease_still_stands_goes_on() -> None:
    async with hub_for(lease_ttl=LONG) as hub:
        session = await hub.create("s")
        await collect(session, "mine")
        fence = session.event_stream.fence
        doubt(session)
        assert text_of(await collect(session, "still mine")) == "still mine "
        assert session.event_stream.fence == fence
        assert session.event_stream.held_lease.is_current


async def test_nothing_is_shown_or_written_while_the_lease_is_in_doubt() -> None:
    class Unsure(MemoryJournal):
        certain = asyncio.Event()

        async def renew(self, owner: str, ttl: float) -> dict[SessionKey, int]:
            await self.certain.wait()
            return await super().renew(owner, ttl)

    async with opened(Unsure()) as journal, hub_for(busy, journal=journal, lease_ttl=LONG) as hub:
        session = await hub.create("s")
        await session.prompt("go")
        assert session.turn is not None
        async with session.follow() as reader:
            doubt(session)
            session.turn.emit(ev.Notice(title="unsure"))
            storing = asyncio.create_task(session.durable())
            await until(lambda: hub.lease_renewal.is_renewing)
            before = (await journal.get(session.key) or pytest.fail("it is gone")).last_seq
            session.turn.emit(" more")
            for _ in range(5):
                await asyncio.sleep(0)
            assert not storing.done()
            assert reader.waiting == 0
            assert (await journal.get(session.key) or pytest.fail("it is gone")).last_seq == before
            journal.certain.set()
            await soon(storing)
            seen = [entry.event for entry in await soon(reader.next())]
            assert only(seen, ev.Notice)[0].title == "unsure"


async def test_a_deleted_session_is_lost_when_its_lease_is_renewed(journal: MemoryJournal) -> None:
    async with hub_for(journal=journal) as hub:
        session = await hub.create("s")
        await collect(session, "mine")
        await journal.delete(session.key)
        await until(lambda: session.closed)
