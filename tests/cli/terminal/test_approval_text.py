"""What a person is asked to approve is shown whole, or visibly cut."""

from typing import Any

import pytest

from trunkline import events as ev
from trunkline.cli.terminal.approval_text import cut_lines, lines_of_change, lines_of_proposal
from trunkline.content import DiffBlock, ImageBlock, TextBlock
from trunkline.conversation import Call


def proposal(**fields: Any) -> str:
    return "\n".join(lines_of_proposal(Call(call_id="c", name="run", kind="execute", **fields), "Run it?"))


def test_a_short_call_is_two_lines() -> None:
    assert proposal(input={"a": 1}, title="Run it?") == 'tool: run (execute)\n{"a": 1}'


def test_nothing_hides_behind_blanks_or_invisible_letters() -> None:
    shown = proposal(input={"command": "ls" + 3000 * " " + "; rm -rf ~\u202e"})
    assert "command: ls⟨3000 blanks⟩; rm -rf ~\\u202e" in shown


def test_a_long_text_is_shown_line_by_line_under_its_name() -> None:
    shown = proposal(input={"path": "a.py", "text": "one\ntwo\n" + 300 * "x"}, title="Write a.py")
    assert shown.splitlines()[1:] == [
        "title: Write a.py", "path: a.py", "text:", "  | one", "  | two", "  | " + 300 * "x",
    ]  # fmt: skip


def test_all_that_is_known_of_a_call_is_shown() -> None:
    shown = proposal(
        arguments='{"half',
        locations=(ev.Location(path="b.txt"), ev.Location(path="c.txt")),
        content=(
            TextBlock(text="$ rm -rf b"),
            DiffBlock(path="c.txt", old="x\n", new="y\n"),
            ImageBlock(mime_type="image/png"),
        ),
    )
    for piece in ('arguments: {"half', "file: b.txt", "$ rm -rf b", "c.txt (changed)", "-x", "+y", "[image]"):
        assert piece in shown.splitlines()
    assert "file: c.txt" not in shown


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        (None, "a\n        b\n", ["(new)", "+a", "+        b"]),
        ("a\n", None, ["(deleted)", "-a"]),
        ("a\nb\n", "a\nc\n", ["(changed)", " a", "-b", "+c"]),
        ("-- x\n", "-- y\n", ["(changed)", "--- x", "+-- y"]),
        (
            "1\n2\n3\n4\n5\n6\n7\n8\n",
            "1\n2\nc\n4\n5\n6\n7\nh\n",
            ["(changed)", "⋯ line 2", " 2", "-3", "+c", " 4", "⋯ line 7", " 7", "-8", "+h"],
        ),
        ("a\r\n", "a\n", ["(changed)", "-a\\x0d", "+a"]),
        ("a", "a\n", ["(changed)", " a", "-\\ No newline at the end"]),
        ("same\n", "same\n", ["(unchanged)"]),
    ],
)
def test_a_change_shows_every_line_that_changes(old: str | None, new: str | None, lines: list[str]) -> None:
    first, *rest = lines_of_change(DiffBlock(path="f", old=old, new=new))
    assert [first.removeprefix("f "), *rest] == lines


def test_a_huge_change_is_not_compared_line_by_line() -> None:
    lines = lines_of_change(DiffBlock(path="f", old="a\n" * 15_000, new="b\n" * 15_000))
    assert (lines.count("-a"), lines.count("+b")) == (15_000, 15_000)


@pytest.mark.parametrize(
    ("lines", "hidden_lines", "hidden_characters"),
    [
        (["a", "b"], 0, 0),
        (["x" * 10] * 100, 40, 400),
        (["y" * 10_000], 0, 4000),
        (["y" * 10_000, "z"], 1, 4001),
        ([], 0, 0),
    ],
)
def test_what_is_hidden_is_counted(lines: list[str], hidden_lines: int, hidden_characters: int) -> None:
    cut = cut_lines(lines)
    assert (cut.hidden_lines, cut.hidden_characters) == (hidden_lines, hidden_characters)
    assert bool(cut.about) == bool(hidden_characters)
    if hidden_characters:
        more = f"{hidden_lines} more lines, " if hidden_lines else ""
        assert cut.about == f"… {more}{hidden_characters} characters are NOT shown"
