import pytest

from trunkline.events import Asked
from trunkline.questions import ClientCall, Form, Option, Permission, Question, default_options
from trunkline.testing import accept_all, refuse_all


def ask(question: Question) -> Asked:
    return Asked(question_id="q1", question=question)


def test_a_permission_is_answered_by_kind_whatever_the_ids_are() -> None:
    options = (
        Option(option_id="x", name="Never", kind="reject_always"),
        Option(option_id="y", name="Sure", kind="allow_always"),
    )
    question = Permission(call_id="c", options=options)

    assert accept_all(ask(question)).option_id == "y"
    assert refuse_all(ask(question)).option_id == "x"


def test_once_is_preferred_to_always() -> None:
    question = Permission(call_id="c", options=tuple(reversed(default_options())))

    assert accept_all(ask(question)).option_id == "allow_once"
    assert refuse_all(ask(question)).option_id == "reject_once"


def test_a_permission_without_a_fitting_option_is_declined() -> None:
    assert accept_all(ask(Permission(call_id="c"))).outcome == "declined"
    assert refuse_all(ask(Permission(call_id="c"))).outcome == "declined"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ({"type": "integer", "default": 3}, 3),
        ({"type": "string", "enum": ["b", "c"]}, "b"),
        ({"type": "boolean"}, True),
        ({"type": "array"}, []),
        ({}, "text"),
    ],
)
def test_a_form_is_filled_with_defaults_choices_and_samples(field: dict[str, object], value: object) -> None:
    answer = accept_all(ask(Form(fields={"type": "object", "properties": {"x": field}})))

    assert (answer.outcome, answer.content) == ("accepted", {"x": value})


def test_anything_else_is_accepted_or_declined() -> None:
    assert accept_all(ask(ClientCall(call_id="c"))).content == {"ok": True}
    assert refuse_all(ask(ClientCall(call_id="c"))).outcome == "declined"
