"""Forms that come down to one choice."""

from typing import Any

import pytest

from trunkline import events as ev
from trunkline.frontends.acp.form_fields import choices_of
from trunkline.frontends.acp.forms_as_buttons import (
    Button,
    buttons_for,
    call_for_question,
    chosen_option,
    describe_choice,
    text_form,
)
from trunkline.questions import ClientCall, Form, Link, Option, Permission, default_options


def form(required: Any = None, **fields: Any) -> Form:
    schema: dict[str, Any] = {"type": "object", "properties": fields}
    return Form(message="Which?", fields=schema if required is None else {**schema, "required": required})


TEXT = {"type": "string"}
COLOUR = {"type": "string", "enum": ["red", "blue"]}


@pytest.mark.parametrize(
    ("question", "buttons"),
    [
        (
            form(["x"], x={"type": "boolean"}),
            [Button("true", "Yes", {"x": True}), Button("false", "No", {"x": False}, "reject_once")],
        ),
        (form(["x"], x={"oneOf": [{"const": 1, "title": "One"}]}), [Button("1", "One", {"x": 1})]),
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
        (Link(message="Go", url="https://example.com"), [Button("ok", "Done", None)]),
    ],
)
def test_a_yes_or_a_yes_and_a_no_are_buttons_of_different_kinds(question: Form, buttons: Any) -> None:
    assert buttons_for(question) == buttons
    assert len({button.kind for button in buttons}) == len(buttons)


@pytest.mark.parametrize(
    "question",
    [
        form(x=TEXT),
        form(x=COLOUR),
        form(["x"], x={"oneOf": [{"const": 1, "title": "One"}, {"const": "2"}]}),
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
def test_what_has_more_to_choose_from_has_no_buttons(question: Form) -> None:
    assert buttons_for(question) == []
    assert text_form(question) == question


def test_a_value_that_may_be_null_is_what_it_is_otherwise() -> None:
    assert [choice.value for choice in choices_of({"type": ["null", "boolean"]})] == [True, False]


def test_names_that_do_not_belong_to_the_values_are_left_out() -> None:
    assert [choice.name for choice in choices_of({"enum": [1, 2], "enumNames": ["One"]})] == ["1", "2"]


def test_a_card_is_titled_with_the_first_line_of_the_question() -> None:
    question = Form(message=" Which?\nOne of them.", fields={})
    card = call_for_question(ev.Asked(turn_id="t", lane="l", question_id="q", question=question))
    assert (card.call_id, card.title, card.turn_id, card.lane) == ("q.choice", "Which?…", "t", "l")


def option(option_id: str, kind: Any, **more: Any) -> Option:
    return Option(option_id=option_id, name=option_id.upper(), kind=kind, **more)


def test_a_permission_is_asked_in_text_only_if_two_options_have_one_kind() -> None:
    assert text_form(Permission(call_id="c", options=default_options())) is None
    words = option("w", "reject_once", wants_words=True)
    once = (option("a", "allow_once"), option("r", "reject_once"), words)
    assert text_form(Permission(call_id="c", options=once)) is None, "there is no form for its words"
    asked = text_form(Permission(message="May I?", call_id="c", options=(*once, option("b", "allow_once"))))
    assert asked is not None
    (field,) = asked.fields["properties"].values()
    assert [choice.value for choice in choices_of(field)] == ["a", "r", "b"]
    assert chosen_option({"choice": "b"}) == "b"
    assert chosen_option("nonsense") is None


def test_a_link_and_a_call_of_the_front_end_are_not_asked_in_text() -> None:
    assert text_form(Link(url="https://example.com")) is None
    assert text_form(ClientCall(call_id="c")) is None


def test_the_card_of_a_choice_says_what_its_buttons_mean() -> None:
    sure = form(["x"], x={"type": "boolean"})
    assert describe_choice(sure, buttons_for(sure)) == "Which?\n\nAccept: Yes. Reject: No."
    link = Link(message="Go", url="https://example.com")
    assert describe_choice(link, buttons_for(link)) == (
        "Go\n\nhttps://example.com\n\nAccept: Done. Reject: decline."
    )
