from __future__ import annotations

import io
import os
from typing import Any

import pytest
from rich.console import Console

from trunkline.cli.asking import Asker
from trunkline.cli.keyboard import Keyboard
from trunkline.cli.screen import Screen
from trunkline.commands import Answer
from trunkline.events import Asked
from trunkline.questions import Form, Option, Permission, Question


async def ask(question: Question, *typed: str) -> tuple[Answer, str]:
    """Ask somebody who types these lines and then leaves."""
    shown = io.StringIO()
    reader, writer = os.pipe()
    os.close(writer)
    try:
        keyboard = Keyboard(reader)
        keyboard.type(*typed)
        asker = Asker(keyboard, Screen(Console(file=shown, width=100)))
        return await asker.answer(Asked(question_id="q", question=question), None), shown.getvalue()
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
    ],
)
async def test_a_field_is_asked_for_until_it_fits(field: Any, typed: tuple[str, ...], value: object) -> None:
    answer, _ = await ask(Form(fields={"properties": {"x": field}, "required": ["x"]}), *typed)
    assert (answer.outcome, answer.content) == ("accepted", {"x": value})


async def test_an_optional_field_may_stay_empty_and_a_required_one_may_not() -> None:
    fields = {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["b"]}
    answer, _ = await ask(Form(fields=fields), "", "", "", "at last")
    assert answer.content == {"b": "at last"}
