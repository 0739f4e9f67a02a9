"""``trunkline sessions show`` and ``export``: one session, without loading its agent."""

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


@pytest.mark.parametrize(("flag", "format_"), [("--html", "html"), ("--md", "markdown"), ("--json", "json")])
def test_a_format_of_an_export_has_a_short_name(sessions: Run, flag: str, format_: str) -> None:
    short, long = sessions("export", FIRST, flag), sessions("export", FIRST, "--format", format_)
    assert short.code == 0
    assert short.out == long.out != sessions("export", FIRST).out


def test_an_export_may_be_a_document_in_a_file(sessions: Run, tmp_path: Path) -> None:
    target = tmp_path / "talk.md"

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


@pytest.mark.parametrize(
    ("name", "begins"), [("talk.md", "# Demo"), ("talk.json", '{"session"'), ("talk.jsonl", '{"seq"')]
)
def test_the_end_of_the_name_chooses_the_format(
    sessions: Run, tmp_path: Path, name: str, begins: str
) -> None:
    assert sessions("export", FIRST, "--output", str(tmp_path / name)).code == 0
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)


def test_a_file_that_is_there_is_replaced_only_by_force(sessions: Run, tmp_path: Path) -> None:
    target = tmp_path / "talk.md"
    target.write_text("mine")
    refused = sessions("export", FIRST, "--output", str(target))
    assert refused.code == 2
    assert "is there already" in refused.err
    assert target.read_text() == "mine"
    assert sessions("export", FIRST, "--output", str(target), "--force").code == 0
    assert target.read_text(encoding="utf-8").startswith("# Demo")
    assert "--force is for a file" in sessions("export", FIRST, "--force").err
