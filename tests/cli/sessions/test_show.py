"""``trunkline sessions show``: without loading the agent of the session."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.child_programs import command, run
from tests.cli.sessions.kept_sessions import FIRST, SECOND, Run
from trunkline.events import decode_event
from trunkline.folding import fold

pytestmark = pytest.mark.slow


def test_a_session_is_shown_as_a_conversation(sessions: Run) -> None:
    shown = sessions("show", FIRST).out

    assert shown.startswith(f"Demo: permission\n{FIRST}  demo\n")
    assert "\nyou:\n/permission\n" in shown
    assert "✓ Write hello.txt (completed)" in shown
    assert "\nresearcher:\nI look at the map." in shown
    assert "> 330 is what the book says." in shown


def test_a_failure_is_shown_with_its_cause(sessions: Run) -> None:
    assert "failed: the demo failed on purpose" in sessions("show", SECOND).out


def test_a_session_is_shown_as_events_or_as_what_they_mean(sessions: Run) -> None:
    events = [decode_event(line) for line in sessions("show", FIRST, "--format", "events").out.splitlines()]
    report = sessions("show", FIRST, "--format", "json").json

    assert report["session"]["session_id"] == FIRST
    meant = json.loads(json.dumps([m.text for m in fold(events).messages]))
    assert [_text(message) for message in report["conversation"]["messages"]] == meant


def _text(message: dict[str, list[dict[str, str]]]) -> str:
    return "".join(
        part.get("text", "")
        for part in message.get("content", message.get("parts", []))
        if part["type"] == "text"
    )


def test_a_prefix_is_enough_when_it_is_long_and_only_one_has_it(sessions: Run) -> None:
    assert sessions("show", "sess_aaaaaaaa1").code == 0
    ambiguous = sessions("show", "sess_aaaa")
    assert ambiguous.code == 2
    assert FIRST in ambiguous.err
    assert SECOND in ambiguous.err
    short = sessions("show", "sess_aa")
    assert short.code == 2
    assert "write more of its id, at least four digits: " in short.err


@pytest.mark.parametrize("arguments", [("list",), ("show", FIRST), ("search", "word")])
def test_a_journal_that_is_not_there_is_named_and_not_made(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    address = f"sqlite:{tmp_path / 'typo.db'}"
    told = run("sessions", *arguments, "--journal", address)
    assert (told.code, told.out) == (2, "")
    assert f"there is no journal {address}" in told.err
    assert not list(tmp_path.iterdir())


def test_a_journal_that_fails_is_named_to_the_person_who_chose_it(tmp_path: Path) -> None:
    path = tmp_path / "diary.db"
    path.write_bytes(b"Dear diary, " * 1000)
    result = run("sessions", "list", "--journal", f"sqlite:{path}")
    assert result.code == 1
    assert "error: the journal failed (not a sound Trunkline journal: file is not a database): " in result.err
    assert f"(the journal is {path})" in result.err


def test_an_unknown_session_is_refused_with_what_is_near(sessions: Run) -> None:
    result = sessions("show", "sess_aaaaaaaa11111112")

    assert result.code == 2
    assert f"near to it: {FIRST}" in result.err
    far = sessions("show", "zzzzzzzzzz")
    assert far.code == 2
    assert "near" not in far.err
    assert "`trunkline sessions list` shows all" in far.err


def test_a_reader_that_hangs_up_is_no_error(kept: Path) -> None:
    words = command("sessions", "show", FIRST, "--format", "events", "--journal", f"sqlite:{kept}")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdout.close()
        assert program.stderr.read() == b""
        assert program.wait(30) == 141


# -- export ----------------------------------------------------------------------------------------
