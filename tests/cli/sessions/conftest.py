"""Journals with sessions, and the command on them."""

import asyncio
from pathlib import Path

import pytest

from tests.cli.child_programs import Result, run
from tests.cli.sessions.kept_sessions import Run, fill


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal with two sessions, made once."""
    path = tmp_path_factory.mktemp("kept") / "journal.db"
    asyncio.run(fill(path))
    return path


@pytest.fixture
def sessions(kept: Path) -> Run:
    """Run ``trunkline sessions`` on the journal."""

    def run_(*arguments: str) -> Result:
        return run("sessions", *arguments, TRUNKLINE_JOURNAL=f"sqlite:{kept}")

    return run_


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A journal of one's own, to delete from."""
    path = tmp_path / "own.db"
    asyncio.run(fill(path))
    return path
