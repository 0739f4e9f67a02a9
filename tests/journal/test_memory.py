"""The journal in memory; what all engines promise is in test_interface.py."""

import asyncio

from hypothesis import given
from tests.journal.interleavings import Step, run_steps, steps

from trunkline.journal import SessionInfo
from trunkline.journal.memory import MemoryJournal


@given(steps)
def test_any_interleaving_of_owners_in_memory_is_one_log(steps: list[Step]) -> None:
    now = [0.0]
    journal = MemoryJournal(lease_clock=lambda: now[0])
    asyncio.run(run_steps(steps, (journal, journal), now))


async def test_two_journals_in_memory_share_nothing() -> None:
    one, other = MemoryJournal(), MemoryJournal()
    for journal in (one, other):
        await journal.open()
    made = await one.create(SessionInfo(principal="ada", session_id="one"))
    assert await one.get(made.key) == made
    assert await other.get(made.key) is None
