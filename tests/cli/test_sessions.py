"""``trunkline sessions``: what the journal holds, without loading an agent."""

import asyncio
import json
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.child_programs import Pty, Result, command, run
from trunkline.cli.sessions import age_of
from trunkline.commands import Answer
from trunkline.events import Asked, decode_event
from trunkline.folding import fold
from trunkline.journal.sqlite import SqliteJournal
from trunkline.session.hub import Hub
from trunkline.testing import ScriptedAgent, accept_all

pytestmark = pytest.mark.slow
Run = Callable[..., Result]
FIRST, SECOND = "sess_aaaaaaaa11111111", "sess_aaaaaaaa22222222"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal with two sessions, made once."""
    path = tmp_path_factory.mktemp("kept") / "journal.db"
    asyncio.run(fill(path))
    return path


async def fill(path: Path) -> None:
    journal = SqliteJournal(path)
    await journal.open()
    async with asyncio.timeout(30), Hub(ScriptedAgent(), journal, target="demo") as hub:
        for session_id, prompts in ((FIRST, ["/permission", "/subagents"]), (SECOND, ["hello", "/fails"])):
            session = await hub.create(session_id)
            for prompt in prompts:
                async for event in session.stream(prompt):
                    if isinstance(event, Asked):
                        answer: Answer = accept_all(event)
                        await session.answer(answer)
    await journal.close()


@pytest.fixture
def sessions(kept: Path) -> Run:
    """Run ``trunkline sessions`` on the journal."""

    def run_(*arguments: str) -> Result:
        return run("sessions", *arguments, TRUNKLINE_JOURNAL=f"sqlite:{kept}")

    return run_


# -- list ------------------------------------------------------------------------------------------


def test_sessions_are_listed_newest_first(sessions: Run) -> None:
    lines = sessions("list").out.splitlines()

    assert [line.split()[0] for line in lines] == [SECOND, FIRST]
    assert lines[0].endswith("hello")
    assert " demo " in lines[1]


@pytest.mark.parametrize(("seconds", "age"), [(-5, "0 s"), (59, "59 s"), (7300, "2 h"), (90000, "1 d")])
def test_an_age_is_told_in_one_unit(seconds: int, age: str) -> None:
    assert age_of(time.time() - seconds - 0.5) == age


def test_a_list_in_json_says_everything_known(sessions: Run) -> None:
    newest, oldest = sessions("list", "--format", "json").json

    assert (newest["session_id"], newest["title"], newest["target"]) == (SECOND, "hello", "demo")
    assert oldest["title"] == "Demo: permission"
    assert set(newest) >= {"created_at", "updated_at", "cwd", "events", "last_seq", "bytes", "owner"}
    assert newest["events"] == newest["last_seq"] > 5
    assert newest["owner"] is None


def test_a_list_may_be_cut(sessions: Run) -> None:
    assert len(sessions("list", "--limit", "1", "--format", "json").json) == 1


def test_an_empty_journal_says_how_to_begin() -> None:
    assert run("sessions", "list", "--journal", "memory:").err.endswith('trunkline exec demo "hello"\n')
    assert run("sessions", "list", "--journal", "memory:", "--format", "json").json == []


# -- show ------------------------------------------------------------------------------------------


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
    assert "near to it" in short.err


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


def test_an_export_holds_every_record(sessions: Run) -> None:
    lines = sessions("export", FIRST).lines
    document = sessions("export", FIRST, "--format", "json").json

    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert all({"seq", "at", "fence"} < set(line) for line in lines)
    assert {key for line in lines for key in line} >= {"event"}
    assert document["records"] == lines
    assert document["session"]["last_seq"] == len(lines)


def test_an_export_may_be_a_document_in_a_file(sessions: Run, tmp_path: Path) -> None:
    target = tmp_path / "talk.md"
    target.write_text("old")

    assert sessions("export", FIRST, "--format", "markdown", "--output", str(target)).code == 0
    text = target.read_text(encoding="utf-8")
    assert text.startswith("# Demo: permission\n")
    assert "## Researcher\n" in text
    assert '```\n{"query": "tower"}\n```' in text
    assert [path.name for path in tmp_path.iterdir()] == ["talk.md"]


def test_an_export_that_cannot_be_written_leaves_nothing(sessions: Run, tmp_path: Path) -> None:
    result = sessions("export", FIRST, "--output", str(tmp_path / "missing" / "talk.jsonl"))
    assert result.code == 1
    assert "cannot be written: No such file or directory" in result.err

    assert sessions("export", "sess_unknown_one", "--output", str(tmp_path / "talk.jsonl")).code == 2
    assert list(tmp_path.iterdir()) == []


# -- delete ----------------------------------------------------------------------------------------


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
    assert asked.out.startswith(f"forget  {FIRST}      31 d ")
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
