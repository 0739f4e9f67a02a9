"""``trunkline sessions delete``."""

import asyncio
from pathlib import Path

import pytest

from tests.cli.child_programs import Pty, run
from tests.cli.sessions.kept_sessions import FIRST, SECOND
from trunkline.journal.sqlite import SqliteJournal

pytestmark = pytest.mark.slow


def test_deleting_wants_to_be_sure(own: Path) -> None:
    url = f"sqlite:{own}"
    refused = run("sessions", "delete", FIRST, "--journal", url)
    assert refused.code == 2
    assert "--yes" in refused.err

    done = run("sessions", "delete", FIRST, "--yes", "--journal", url)
    assert (done.code, done.err) == (0, f"deleted {FIRST}\n")
    assert run("sessions", "delete", FIRST, "--yes", "--journal", url).code == 2
    assert [
        row["session_id"] for row in run("sessions", "list", "--format", "json", "--journal", url).json
    ] == [SECOND]


def test_a_person_is_asked_before_deleting(own: Path) -> None:
    with Pty("sessions", "delete", FIRST, "--journal", f"sqlite:{own}") as terminal:
        terminal.expect("[y/N]")
        terminal.type("n")
        assert terminal.wait() == 130
    with Pty("sessions", "delete", FIRST, "--journal", f"sqlite:{own}") as terminal:
        terminal.expect("[y/N]")
        terminal.type("y")
        assert terminal.wait() == 0


async def test_a_session_in_use_is_not_deleted(own: Path) -> None:
    journal = SqliteJournal(own)
    await journal.open()
    await journal.claim((await journal.list(None))[0].key, "somebody", 60.0)
    result = await asyncio.to_thread(run, "sessions", "delete", SECOND, "--yes", "--journal", f"sqlite:{own}")
    await journal.close()

    assert result.code == 1
    assert "close it there and try again" in result.err
