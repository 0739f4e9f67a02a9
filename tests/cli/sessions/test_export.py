"""``trunkline sessions export``: without loading the agent of the session."""

from pathlib import Path

import pytest

from tests.cli.sessions.kept_sessions import FIRST, Run

pytestmark = pytest.mark.slow


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
