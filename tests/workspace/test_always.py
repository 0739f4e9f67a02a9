"""What an "always" covers: a tool and kind, and of commands no more than a person could mean."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.questions import Coverage
from trunkline.workspace.always import command_in, coverage_of


def covers(command: Any) -> Coverage:
    found = coverage_of("run", "execute", command=command)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("git status --short", ("git", "status")),
        (["git", "status"], ("git", "status")),
        ("npm install left-pad", ("npm", "install")),
        ("ls", ("ls",)),
        ("ls -la src", ("ls",)),
        ("grep -r x .", ("grep",)),
    ],
)
def test_a_command_is_covered_by_program_and_subcommand(command: Any, words: tuple[str, ...]) -> None:
    assert covers(command).words == words
    assert covers(command).digest is None


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf build",
        "git",
        "git -C /elsewhere push",
        "git -c core.pager=x log",
        "git config alias.x y",
        "git fetch --upload-pack=evil",
        "git grep -Oevil x",
        "git diff --output=.git/hooks/pre-commit",
        "git clone -c core.fsmonitor=evil x",
        "go test -exec evil ./...",
        "go build -toolexec=evil",
        "npm run build",
        "uv run x",
        "docker exec web ls",
        "python -c pass",
        "bash -c ls",
        ["bash", "-c", "git status"],
        "sudo ls",
        "PATH=/tmp ls",
        "./ls",
        "/tmp/git status",
        "find . -delete",
        "ls; id",
        "ls | sh",
        "git status && git push",
        "git status $(id)",
        "git status 'open",
        "",
        [],
    ],
)
def test_any_other_command_is_covered_by_exactly_its_line(command: Any) -> None:
    assert covers(command).words == ()
    assert covers(command).digest is not None
    assert covers(command) == covers(command)
    assert covers(command) != covers([*command, "x"] if isinstance(command, list) else f"{command} x")


def test_a_line_and_words_that_only_look_the_same_are_two_things() -> None:
    assert covers("rm a b") != covers(["rm", "a b"])


@pytest.mark.parametrize("args", [{"command": "git push"}, {"cmd": ["git", "push"]}])
def test_the_command_is_found_among_the_arguments(args: dict[str, Any]) -> None:
    found = coverage_of("shell", "other", args)
    assert found is not None
    assert found.words == ("git", "push")


@pytest.mark.parametrize("args", [None, "ls", {}, {"command": 3}, {"command": ["ls", 3]}, {"cmd": None}])
def test_what_is_no_command_is_none(args: Any) -> None:
    assert command_in(args) is None


def test_what_a_text_editor_is_told_is_no_command() -> None:
    """https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/text-editor-tool has the words."""
    for word in ("view", "create", "str_replace", "insert", "undo_edit"):
        assert command_in({"command": word, "path": "/w/a.txt"}) is None
        assert command_in({"command": word}) == word
    assert command_in({"command": "rm", "path": "/w/a.txt"}) == "rm"
    assert command_in({"command": "create; rm x", "path": "/w/a.txt"}) == "create; rm x"


def test_a_tool_that_executes_is_covered_for_exactly_its_arguments() -> None:
    one, same, other = (coverage_of("python", "execute", {"code": code}) for code in ("1", "1", "2"))
    assert one == same != other
    assert coverage_of("write_file", "edit", {"path": "a"}) == coverage_of(
        "write_file", "edit", {"path": "b"}
    )


def test_tools_and_kinds_are_kept_apart_and_none_is_not_kept() -> None:
    keys = {coverage_of(tool, kind).key for tool in "ab" for kind in ("edit", "read")}  # type: ignore[union-attr]
    assert len(keys) == 4
    assert coverage_of("", "edit") is None


def test_a_person_reads_what_is_covered() -> None:
    assert str(coverage_of("write_file", "edit")) == "write_file"
    assert str(covers("git status -s")) == "`git status` with any arguments"
    assert str(covers("rm x")) == "run with exactly this input"


@given(st.text() | st.lists(st.text()))
def test_any_command_is_covered_by_itself_alone_or_by_its_first_words(command: Any) -> None:
    found = covers(command)
    assert (not found.words) != (found.digest is None)
    if found.words and not isinstance(command, str):
        assert tuple(command[: len(found.words)]) == found.words


@pytest.mark.parametrize(
    ("input", "command"),
    [
        ({"command": "rm", "args": ["-rf", "/"]}, ("rm", "-rf", "/")),
        ({"cmd": "bash", "arguments": ["-c", "a; b"]}, ("bash", "-c", "a; b")),
        ({"command": ["git"], "args": ["push"]}, ("git", "push")),
        ({"command": "git push", "args": ["--force"]}, "git push --force"),
        ({"command": "git", "args": "push --force"}, "git push --force"),
        ({"command": "git", "args": []}, "git"),
    ],
)
def test_words_that_are_given_apart_belong_to_their_program(input: Any, command: Any) -> None:
    assert command_in(input) == command


def test_an_always_for_a_subcommand_is_for_the_sessions_folder() -> None:
    here = coverage_of("run", "execute", command=["git", "status"])
    assert here == coverage_of("run", "execute", command=["git", "status", "-s"])
    there = coverage_of("run", "execute", command=["git", "status"], cwd="/there")
    assert there is not None
    assert there not in (here, coverage_of("run", "execute", command=["git", "status"], cwd="/elsewhere"))
    assert there == coverage_of("run", "execute", {"command": ["git", "status"], "cwd": "/there"})


@pytest.mark.parametrize(
    "other",
    [
        {"command": "make", "args": ["-C", "/elsewhere"]},
        {"command": "make", "cwd": "/elsewhere"},
        {"command": "make", "stdin": "all: ; rm -rf ~"},
    ],
)
def test_an_always_for_one_command_is_for_its_words_its_folder_and_what_it_reads(other: Any) -> None:
    plain = coverage_of("run", "execute", {"command": "make"})
    assert plain is not None
    assert plain == coverage_of("run", "execute", {"command": "make", "description": "build it"})
    assert plain != coverage_of("run", "execute", other)
