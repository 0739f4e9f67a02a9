"""Journals for the tests: one fixture per engine, with a clock that stands still until it is moved."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from trunkline.journal import Journal
from trunkline.journal.memory import MemoryJournal
from trunkline.journal.sqlite import SqliteJournal


@pytest.fixture
def clock() -> SimpleNamespace:
    """The engines' time; ``clock.now += 5`` lets five seconds pass."""
    return SimpleNamespace(now=1_000_000.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a SQLite journal may be."""
    return tmp_path / "journal.db"


@pytest.fixture(params=["memory", "sqlite"])
async def journal(
    request: pytest.FixtureRequest, path: Path, clock: SimpleNamespace
) -> AsyncIterator[Journal]:
    """An open journal of each engine."""
    engine: Journal
    if request.param == "memory":
        engine = MemoryJournal(clock=lambda: clock.now)
    else:
        engine = SqliteJournal(path, clock=lambda: clock.now)
    await engine.open()
    yield engine
    await engine.close()
