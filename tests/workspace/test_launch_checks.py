"""What a command must be before anybody starts it: words or a line, its folder, its variables, its limit."""

from pathlib import Path

import pytest

from trunkline.errors import NotAFile, OutsideRoots, WorkspaceError
from trunkline.workspace.launch_checks import Launch, LaunchChecks


def test_words_are_judged_as_words_and_a_line_as_a_line(tmp_path: Path) -> None:
    checks = LaunchChecks([tmp_path])
    words = checks.judge(["ls", "-l"], None, None, None, opened=0)
    line = checks.judge_line("ls -l | wc", None, None, None, opened=0)
    assert (words.argv, words.command) == (("ls", "-l"), ("ls", "-l"))
    assert (line.argv, line.command) == (("/bin/sh", "-c", "ls -l | wc"), "ls -l | wc")
    assert words.place.path == line.place.path == str(tmp_path)


@pytest.mark.parametrize("line", ["", "  ", "\n\t"])
def test_an_empty_line_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(WorkspaceError, match="the command is empty"):
        LaunchChecks([tmp_path]).judge_line(line, None, None, None, opened=0)


def test_a_line_is_never_taken_for_words(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="a command is a list of words, not the line"):
        LaunchChecks([tmp_path]).judge("ls -l", None, None, None, opened=0)


@pytest.mark.parametrize("line", [True, False])
def test_what_holds_for_words_holds_for_a_line(tmp_path: Path, line: bool) -> None:
    checks = LaunchChecks([tmp_path], max_terminals=1, output_byte_limit=100)

    def judge(
        text: str = "x", cwd: str | None = None, env: dict[str, str] | None = None, opened: int = 0
    ) -> Launch:
        if line:
            return checks.judge_line(text, cwd, env, 1000, opened=opened)
        return checks.judge([text], cwd, env, 1000, opened=opened)

    with pytest.raises(OutsideRoots):
        judge(cwd="/")
    with pytest.raises(WorkspaceError, match="which is the limit"):
        judge(opened=1)
    with pytest.raises(WorkspaceError, match="null byte"):
        judge("a\0b")
    with pytest.raises(WorkspaceError, match="illegal environment variable name"):
        judge(env={"A=B": ""})
    launch = judge(env={"A": "1", "TRUNKLINE_TOKEN": "x"})
    assert (launch.env, launch.output_byte_limit) == ({"A": "1"}, 100)


def test_a_folder_that_a_link_or_a_file_stands_for_is_refused(tmp_path: Path) -> None:
    checks = LaunchChecks([tmp_path])
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("/")
    for name in ("file", "link"):
        with pytest.raises(NotAFile):
            checks.check_folder(checks.roots.locate(name, folder=True))
    checks.check_folder(checks.roots.locate("missing", folder=True))
