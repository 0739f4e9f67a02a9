"""Journals for the tests: one fixture per engine, with a clock that stands still until it is moved."""

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.hubs import opened

from trunkline.journal import Journal
from trunkline.journal.memory import MemoryJournal
from trunkline.journal.sqlite import SqliteJournal

Times = dict[str, Any]


@pytest.fixture
def clock() -> SimpleNamespace:
    """The engines' time: ``clock.now += 5`` lets five seconds pass, ``clock.set`` sets the wall clock."""
    return SimpleNamespace(now=1_000_000.0, set=0.0)


@pytest.fixture
def times(clock: SimpleNamespace) -> Times:
    """What an engine takes its times from."""
    return {"clock": lambda: clock.now + clock.set, "lease_clock": lambda: clock.now}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a SQLite journal may be."""
    return tmp_path / "journal.db"


@pytest.fixture(params=["memory", "sqlite"])
async def journal(request: pytest.FixtureRequest, path: Path, times: Times) -> AsyncIterator[Journal]:
    """An open journal of each engine."""
    engine: Journal = MemoryJournal(**times) if request.param == "memory" else SqliteJournal(path, **times)
    async with opened(engine):
        yield engine
