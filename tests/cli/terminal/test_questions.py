import io
import os
from typing import Any

import pytest
from rich.console import Console

from trunkline.cli.terminal.line_input import PlainInput
from trunkline.cli.terminal.questions import KeyboardQuestions
from trunkline.cli.terminal.screen import Screen
from trunkline.cli.terminal.stdin_lines import StdinLines
from trunkline.commands import Answer
from trunkline.content import DiffBlock
from trunkline.conversation import Call
from trunkline.events import Asked
from trunkline.questions import Form, Option, Permission, Question, default_options


async def ask(question: Question, *typed: str, call: Call | None = None) -> tuple[Answer, str]:
    """Ask somebody who types these lines and then leaves."""
    shown = io.StringIO()
    reader, writer = os.pipe()
    os.close(writer)
    try:
        stdin = StdinLines(reader)
        stdin.type(*typed)
        screen = Screen(Console(file=shown, width=100))
        questions = KeyboardQuestions(PlainInput(stdin, screen), screen)
        return await questions.answer(Asked(question_id="q", question=question), call), shown.getvalue()
    finally:
        os.close(reader)


async def test_options_of_one_kind_are_told_apart_by_number() -> None:
    options = (
        Option(option_id="x", name="This file", kind="allow_once"),
        Option(option_id="y", name="This folder", kind="allow_once"),
        Option(option_id="z", name="No", kind="reject_once"),
    )
    answer, shown = await ask(Permission(message="Write?", call_id="c", options=options), "2")

    assert answer.option_id == "y"
    assert "a/2/r > " in shown


MAY = Permission(message="Run it?", call_id="c", options=default_options())


async def test_the_whole_command_is_shown_before_the_answer() -> None:
    call = Call(call_id="c", name="run", input={"command": "ls" + 3000 * " " + "; rm -rf ~"})
    answer, shown = await ask(MAY, "r", call=call)
    assert answer.option_id == "reject_once"
    assert shown.index("; rm -rf ~") < shown.index("a/A/r/R > ")
    assert "3000 blanks" in shown


async def test_the_change_is_shown_before_the_answer() -> None:
    content = (DiffBlock(path="a.txt", old="keep\nold\n", new="keep\nnew\n"),)
    _, shown = await ask(MAY, "r", call=Call(call_id="c", name="write", content=content))
    for line in ("a.txt (changed)", "-old", "+new"):
        assert shown.index(line) < shown.index("a/A/r/R > ")


async def test_what_is_too_long_is_cut_with_a_count_and_shown_on_demand() -> None:
    text = "".join(f"line {number}\n" for number in range(500)) + "the end"
    call = Call(call_id="c", name="write", input={"text": text})
    answer, shown = await ask(MAY, "s", "a", call=call)
    before, after = shown.split("a/A/r/R/s > ", 1)
    assert "characters are NOT shown: s shows all" in before.replace("\n", " ")
    assert "the end" not in before
    assert "the end" in after
    assert answer.option_id == "allow_once"


async def test_a_key_that_is_none_is_told_the_keys() -> None:
    answer, shown = await ask(MAY, "?", "r")
    assert "type one of a, A, r, R, then Enter" in shown
    assert answer.option_id == "reject_once"


async def test_changed_arguments_are_shown_before_they_are_approved() -> None:
    question = Permission(message="Write?", call_id="c", options=default_options(), allows_edit=True)
    content = (DiffBlock(path="/f/a.txt", old=None, new="one"),)
    call = Call(call_id="c", name="write", input={"path": "a.txt", "text": "one"}, content=content)
    answer, shown = await ask(question, "e", "[1]", '{"path": "b.txt", "text": "two"}', "a", call=call)
    before, after = shown.split("arguments > ", 1)
    assert "a/A/r/R/e > " in before
    assert '{"path": "a.txt", "text": "one"}' in before.partition("a/A/r/R/e > ")[2]
    assert "arguments are an object" in after
    for line in ('{"path": "b.txt", "text": "two"}', "/f/b.txt (new)", "+two"):
        assert after.index(line) < after.index("a/A/r/R/e > ")
    assert (answer.option_id, answer.input) == ("allow_once", {"path": "b.txt", "text": "two"})


@pytest.mark.parametrize(
    ("field", "typed", "value"),
    [
        ({"type": "number"}, ("x", "1.5"), 1.5),
        ({"type": "integer"}, ("1.5", "2"), 2),
        ({"type": "boolean"}, ("no",), False),
        ({"type": "array"}, ("[1", "[1]"), [1]),
        ({"type": "object"}, ('{"a": 1}',), {"a": 1}),
        ({"type": "string", "default": "d"}, ("",), "d"),
        ({}, ("anything",), "anything"),
        ({"type": "string", "maxLength": 3}, ("dollars", "USD"), "USD"),
        (
            {"type": "string", "oneOf": [{"const": "dmy", "title": "day first"}, {"const": "mdy"}]},
            ("3", "never", "day first"),
            "dmy",
        ),
        ({"type": "string", "oneOf": [{"const": "dmy"}], "default": "dmy"}, ("",), "dmy"),
        ({"type": "string", "oneOf": [{"pattern": "x"}]}, ("x",), "x"),
    ],
)
async def test_a_field_is_asked_for_until_it_fits(field: Any, typed: tuple[str, ...], value: object) -> None:
    answer, _ = await ask(Form(fields={"properties": {"x": field}, "required": ["x"]}), *typed)
    assert (answer.outcome, answer.content) == ("accepted", {"x": value})


async def test_an_optional_field_may_stay_empty_and_a_required_one_may_not() -> None:
    fields = {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["b"]}
    answer, shown = await ask(Form(fields=fields), "", "", "", "at last")
    assert answer.content == {"b": "at last"}
    assert shown.count("this one is needed: type a value, or - to decline") == 2


@pytest.mark.parametrize("typed", ["mdy", "month first"])
async def test_choices_with_words_of_their_own_are_listed_and_taken_by_either(typed: str) -> None:
    choices = [{"const": "dmy", "title": "day first"}, {"const": "mdy", "title": "month first"}]
    fields = {"properties": {"order": {"type": "string", "title": "Which?", "oneOf": choices}}}
    answer, shown = await ask(Form(fields=fields), "neither", typed)
    assert answer.content == {"order": "mdy"}
    assert "month first" in shown
    assert "choose one of dmy, mdy" in shown


async def test_the_choices_of_a_form_cannot_write_to_the_terminal() -> None:
    clipboard = "\x1b]52;c;cm0gLXJm\x07"
    fields = {
        "type": "object",
        "properties": {
            "pick": {"type": "string", "enum": [clipboard]},
            "many": {"type": f"integer{clipboard}"},
        },
    }
    _, shown = await ask(Form(message="Which?", fields=fields), "none of these", "-")
    assert "choose one of" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown
