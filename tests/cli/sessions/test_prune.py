"""``trunkline sessions prune``."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.child_programs import Pty, run
from tests.cli.sessions.kept_sessions import FIRST, SECOND

pytestmark = pytest.mark.slow


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
