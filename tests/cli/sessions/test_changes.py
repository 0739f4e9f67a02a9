"""``trunkline sessions delete``, ``prune`` and ``rename``."""

import asyncio
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.child_programs import Pty, command, run
from tests.cli.sessions.kept_sessions import FIRST, SECOND, fill
from trunkline.journal.sqlite import SqliteJournal

pytestmark = pytest.mark.slow


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A journal of one's own, to delete from."""
    path = tmp_path / "own.db"
    asyncio.run(fill(path))
    return path


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


def age(path: Path, session_id: str, days: float) -> None:
    """Let a session be older than it is."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "UPDATE sessions SET updated_at = updated_at - ? WHERE session_id = ?", (days * 86400, session_id)
        )


def test_pruning_says_first_what_would_go_and_then_forgets_it(own: Path) -> None:
    url = f"sqlite:{own}"
    age(own, FIRST, 31)
    asked = run("sessions", "prune", "--older-than", "30d", "--dry-run", "--journal", url)
    assert (asked.code, asked.err) == (0, "would forget 1 sessions and trim 0\n")
    assert asked.out.startswith("forget  sess_aaaaaaaa1      31 d ")  # No longer than it can be typed.
    refused = run("sessions", "prune", "--older-than", "30d", "--journal", url)
    assert refused.code == 2
    assert "--yes" in refused.err
    assert len(run("sessions", "list", "--format", "json", "--journal", url).json) == 2

    done = run("sessions", "prune", "--older-than", "30d", "--yes", "--journal", url)
    assert done.code == 0
    assert done.err.startswith("forgot 1 sessions and trimmed 0: ")
    left = run("sessions", "list", "--format", "json", "--journal", url).json
    assert [row["session_id"] for row in left] == [SECOND]
    again = run("sessions", "prune", "--older-than", "30d", "--yes", "--journal", url)
    assert (again.code, again.out, again.err) == (0, "", "there is nothing to forget\n")


def test_pruning_by_size_takes_the_oldest_turns_and_never_the_newest(own: Path) -> None:
    url = f"sqlite:{own}"
    asked = run("sessions", "prune", "--max-bytes", "10", "--dry-run", "--journal", url)
    assert asked.err == "would forget 0 sessions and trim 2\n"
    assert [line.split()[0] for line in asked.out.splitlines()] == ["trim", "trim"]
    assert run("sessions", "prune", "--max-bytes", "10", "--yes", "--journal", url).code == 0
    shown = run("sessions", "show", SECOND, "--journal", url).out
    assert "you:\nhello" not in shown
    assert "you:\n/fails" in shown
    # What is left is larger than 10 bytes still, but there is nothing in it that may go.
    again = run("sessions", "prune", "--max-bytes", "10", "--dry-run", "--journal", url)
    assert (again.code, again.out, again.err) == (0, "", "there is nothing to forget\n")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "say what may go: --older-than AGE, --max-bytes SIZE, or both"),
        (("--older-than", "soon"), "write a number with s, min, h or d"),
        (("--max-bytes", "lots"), "write a number with K, M or G"),
    ],
)
def test_pruning_wants_to_know_what(own: Path, arguments: tuple[str, ...], expected: str) -> None:
    result = run("sessions", "prune", *arguments, "--yes", "--journal", f"sqlite:{own}")
    assert result.code == 2
    assert expected in result.err


def test_a_person_is_asked_before_pruning(own: Path) -> None:
    words = ("sessions", "prune", "--older-than", "0s", "--journal", f"sqlite:{own}")
    with Pty(*words) as terminal:
        terminal.expect("Forget 2 sessions and trim 0? [y/N]")
        terminal.type("n")
        assert terminal.wait() == 130
    with Pty(*words) as terminal:
        terminal.expect("[y/N]")
        terminal.type("y")
        assert terminal.wait() == 0
    assert run("sessions", "list", "--journal", f"sqlite:{own}").out == ""


async def test_a_session_in_use_is_not_deleted(own: Path) -> None:
    journal = SqliteJournal(own)
    await journal.open()
    await journal.claim((await journal.list(None))[0].key, "somebody", 60.0)
    result = await asyncio.to_thread(run, "sessions", "delete", SECOND, "--yes", "--journal", f"sqlite:{own}")
    await journal.close()

    assert result.code == 1
    assert "close it there and try again" in result.err


def test_a_journal_that_fails_is_named_to_the_person_who_chose_it(tmp_path: Path) -> None:
    path = tmp_path / "diary.db"
    path.write_bytes(b"Dear diary, " * 1000)
    result = run("sessions", "list", "--journal", f"sqlite:{path}")
    assert result.code == 1
    assert "error: the journal failed (not a sound Trunkline journal: file is not a database): " in result.err
    assert f"(the journal is {path})" in result.err


# -- rename ----------------------------------------------------------------------------------------


def test_a_session_that_was_renamed_is_found_by_its_name_and_listed_with_it(own: Path) -> None:
    url = f"sqlite:{own}"
    done = run("sessions", "rename", FIRST[:14], "taxes", "--journal", url)
    assert (done.code, done.err) == (0, f"{FIRST} is called taxes\n")
    assert run("sessions", "show", "taxes", "--journal", url).code == 0
    assert "[taxes] Demo: permission" in run("sessions", "list", "--journal", url).out
    again = run("exec", "demo", "and then?", "--session", "taxes", "--format", "json", "--journal", url)
    assert again.json["session_id"] == FIRST

    taken = run("sessions", "rename", SECOND, "taxes", "--journal", url)
    assert taken.code == 2
    assert f"{FIRST} is called 'taxes' already" in taken.err
    for name in ("two words", "sess_1", "abcdef", ""):
        assert run("sessions", "rename", FIRST, name, "--journal", url).code == 2


# -- cancel ----------------------------------------------------------------------------------------


def test_a_turn_that_runs_in_another_process_is_cancelled_there(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'journal.db'}"
    words = command("exec", "demo", "/wait-for-cancel", "--format", "events", "--journal", url)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as program:
        assert program.stdout is not None
        while b"tool_update" not in (line := program.stdout.readline()):
            assert line
        listed = run("sessions", "list", "--format", "json", "--journal", url).json
        done = run("sessions", "cancel", listed[0]["session_id"], "--journal", url)
        assert done.code == 0
        assert done.err.startswith("cancelled the turn of sess_")
        assert program.wait(60) == 1
