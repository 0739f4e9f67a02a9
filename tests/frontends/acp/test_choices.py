"""Forms that come down to one choice."""

from __future__ import annotations

from typing import Any

import pytest

from trunkline import events as ev
from trunkline.frontends.acp.choices import Button, buttons_for, card_for, choices_of
from trunkline.questions import Form


def form(required: Any = None, **fields: Any) -> Form:
    schema: dict[str, Any] = {"type": "object", "properties": fields}
    return Form(message="Which?", fields=schema if required is None else {**schema, "required": required})


TEXT = {"type": "string"}
COLOUR = {"type": "string", "enum": ["red", "blue"]}


@pytest.mark.parametrize(
    ("question", "buttons"),
    [
        (form(x=COLOUR), [Button("red", "red", {"x": "red"}), Button("blue", "blue", {"x": "blue"})]),
        (
            form(["x"], x={"type": "boolean"}),
            [Button("true", "Yes", {"x": True}), Button("false", "No", {"x": False})],
        ),
        (
            form(["x"], x={"oneOf": [{"const": 1, "title": "One"}, {"const": "2"}]}),
            [Button("1", "One", {"x": 1}), Button("2", "2", {"x": "2"})],
        ),
        (form(["x"], x={"anyOf": [{"const": None}]}), [Button("null", "null", {"x": None})]),
        (form(["x"], x={"const": 7}), [Button("7", "7", {"x": 7})]),
        (form(["x"], x={"enum": [1], "enumNames": ["One"]}), [Button("1", "One", {"x": 1})]),
        (form(["x"], note=TEXT, x={"const": 1}), [Button("1", "1", {"x": 1})]),
        (
            form(["x"], x={"const": 1}, n={"type": "integer", "default": 3}),
            [Button("1", "1", {"x": 1, "n": 3})],
        ),
        (form(), [Button("ok", "OK", {})]),
        (Form(fields={}), [Button("ok", "OK", {})]),
        (Form(fields={"properties": "nonsense", "required": 7}), [Button("ok", "OK", {})]),
    ],
)
def test_one_choice_has_a_button_for_each_value_of_its_own_type(question: Form, buttons: Any) -> None:
    assert buttons_for(question) == buttons


@pytest.mark.parametrize(
    "question",
    [
        form(x=TEXT),
        form(["x", "y"], x=COLOUR, y=COLOUR),
        form(x=COLOUR, y=COLOUR),
        form(["x"], x=TEXT, y=COLOUR),
        form(x={"enum": list(range(10))}),
        form(x={"enum": [1, "1"]}),
        form(x={"anyOf": [{"const": 1}, {"type": "string"}]}),
        form(x={"type": "array", "items": COLOUR}),
        form(x="nonsense"),
    ],
)
def test_what_wants_more_than_one_choice_has_no_buttons(question: Form) -> None:
    assert buttons_for(question) == []


def test_a_value_that_may_be_null_is_what_it_is_otherwise() -> None:
    assert [choice.value for choice in choices_of({"type": ["null", "boolean"]})] == [True, False]


def test_names_that_do_not_belong_to_the_values_are_left_out() -> None:
    assert [choice.name for choice in choices_of({"enum": [1, 2], "enumNames": ["One"]})] == ["1", "2"]


def test_a_card_is_titled_with_the_first_line_of_the_question() -> None:
    question = Form(message=" Which?\nOne of them.", fields={})
    card = card_for(ev.Asked(turn_id="t", lane="l", question_id="q", question=question))
    assert (card.call_id, card.title, card.turn_id, card.lane) == ("q.choice", "Which?…", "t", "l")
