"""The pytest plugin: fixtures for tests of agents and front ends.

It is loaded in every pytest run of an environment that has trunkline, so it imports nothing until a
fixture is used. The fixtures are plain ones: they work with pytest-asyncio, with anyio and with
``asyncio.run``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from contextlib import AbstractAsyncContextManager

    from trunkline.journal import Journal
    from trunkline.session.hub import Hub


@pytest.fixture
def memory_journal() -> Journal:
    """A journal in memory, not opened yet: ``await memory_journal.open()``."""
    from trunkline.journal.memory import MemoryJournal

    return MemoryJournal()


@pytest.fixture
def scripted_hub(memory_journal: Journal) -> AbstractAsyncContextManager[Hub]:
    """A hub with the scripted agent on ``memory_journal``: ``async with scripted_hub as hub: ...``."""
    from contextlib import asynccontextmanager

    from trunkline.demos.scripted import ScriptedAgent
    from trunkline.session.hub import Hub

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Hub]:
        await memory_journal.open()
        try:
            async with Hub(ScriptedAgent(), memory_journal, target="demo") as hub:
                yield hub
        finally:
            await memory_journal.close()

    return opened()
