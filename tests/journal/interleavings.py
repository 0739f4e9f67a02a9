"""Two owners of a session in any order: whole numbers, growing fences, nothing lost."""

import asyncio
from typing import Literal

from hypothesis import strategies as st

from trunkline.errors import Fenced
from trunkline.events import Text
from trunkline.journal import Held, Journal, Lease, Record, SessionInfo, SessionKey

KEY = SessionKey("ada", "one")
TTL = 10.0

Step = tuple[Literal["claim", "append", "release", "renew"], int, int]
steps = st.lists(
    st.tuples(
        st.sampled_from(["claim", "append", "append", "append", "release", "renew"]),
        st.integers(0, 1),
        st.integers(0, 6),
    ),
    max_size=30,
)


class Owner:
    """One process: it numbers its records from its own lease and trusts no other."""

    def __init__(self, name: str, journal: Journal) -> None:
        self.name = name
        self.journal = journal
        self.lease: Lease | None = None
        self.last = 0
        self.kept: list[str] = []
        self.appended = 0

    async def claim(self) -> None:
        lease = await self.journal.claim(KEY, self.name, TTL)
        if isinstance(lease, Held):
            assert lease.owner != self.name
            return
        assert self.lease is None or lease.fence > self.lease.fence
        self.lease, self.last = lease, lease.last_seq

    async def append(self, count: int) -> None:
        """Append two batches without waiting in between; either both are kept or none is."""
        if self.lease is None:
            return
        appending: list[asyncio.Future[None]] = []
        deltas: list[str] = []
        for size in (count, 1):
            batch = [f"{self.name}{self.appended + n}" for n in range(size)]
            records = [
                Record(
                    seq=self.last + len(deltas) + n,
                    at=0.0,
                    fence=self.lease.fence,
                    event=Text(message_id="m", delta=delta),
                )
                for n, delta in enumerate(batch, 1)
            ]
            deltas += batch
            self.appended += size
            appending.append(self.journal.append(self.lease, records))
        results = await asyncio.gather(*appending, return_exceptions=True)
        if results == [None, None]:
            self.last += len(deltas)
            self.kept += deltas
        else:
            assert all(isinstance(result, Fenced) for result in results)
            self.lease = None


async def run_steps(steps: list[Step], journals: tuple[Journal, Journal], now: list[float]) -> None:
    for journal in journals:
        await journal.open()
    try:
        await journals[0].create(SessionInfo(principal="ada", session_id="one"))
        owners = [Owner("A", journals[0]), Owner("B", journals[1])]
        for action, who, amount in steps:
            owner = owners[who]
            if action == "claim":
                await owner.claim()
            elif action == "append":
                await owner.append(amount)
            elif action == "renew":
                await owner.journal.renew(owner.name, TTL)
            elif owner.lease is not None:
                await owner.journal.release(owner.lease)
            now[0] += amount
        records = await journals[1].read(KEY)
        assert [record.seq for record in records] == list(range(1, len(records) + 1))
        fences = [record.fence for record in records]
        assert fences == sorted(fences)
        deltas = [record.event.delta for record in records if isinstance(record.event, Text)]
        for owner in owners:
            assert [delta for delta in deltas if delta[0] == owner.name] == owner.kept
    finally:
        for journal in journals:
            await journal.close()
