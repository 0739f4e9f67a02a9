"""A filled-in form is checked against its schema before it counts."""

from typing import Any

import pytest

from trunkline.errors import InvalidCommand
from trunkline.questions import Form
from trunkline.session.form_answers import check_form_answer

TITLED = [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]


def check(field: dict[str, Any], value: Any) -> None:
    check_form_answer(Form(fields={"type": "object", "properties": {"f": field}}), {"f": value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ({"type": "string"}, ""),
        ({"type": "string", "minLength": 1, "maxLength": 3}, "abc"),
        ({"type": "string", "enum": ["a"]}, "a"),
        ({"type": "string", "oneOf": TITLED}, "b"),
        ({"type": "string", "oneOf": [{"type": "string"}]}, "anything"),
        ({"type": "string", "format": "email"}, "a@b.example"),
        ({"type": "string", "format": "uri"}, "https://a.example/x"),
        ({"type": "string", "format": "date"}, "2026-02-28"),
        ({"type": "string", "format": "date-time"}, "2026-02-28T10:00:00Z"),
        ({"type": "string", "format": "of-the-future"}, "x"),
        ({"type": "string", "pattern": "(a+)+$"}, "a" * 40 + "b"),
        ({"type": "string", "minLength": "many"}, ""),
        ({"type": "integer", "minimum": 1, "maximum": 9}, 9),
        ({"type": "number", "minimum": 0.5}, 1),
        ({"type": "boolean"}, False),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1}, ["a"]),
        ({"type": "array", "items": {"anyOf": TITLED}}, ["b", "a"]),
        ({"type": "array", "items": "broken"}, ["x"]),
        ({"type": "_slider"}, 0.25),
        ({}, None),
    ],
)
def test_what_fits_is_taken(field: dict[str, Any], value: Any) -> None:
    check(field, value)


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ({"type": "string"}, 7, "be of type string, not 7"),
        ({"type": "integer"}, True, "be of type integer"),
        ({"type": "integer"}, 1.5, "be of type integer"),
        ({"type": "boolean"}, 1, "be of type boolean"),
        ({"type": "string", "minLength": 2}, "a", "have at least 2 characters"),
        ({"type": "string", "maxLength": 2}, "abc", "have at most 2 characters"),
        ({"type": "string", "enum": ["a"]}, "b", "be one of"),
        ({"type": "string", "oneOf": TITLED}, "c", "be one of"),
        ({"type": "string", "format": "email"}, "nobody", "be a email"),
        ({"type": "string", "format": "uri"}, "nowhere", "be a uri"),
        ({"type": "string", "format": "uri"}, "http://[", "be a uri"),
        ({"type": "string", "format": "date"}, "2026-02-30", "be a date"),
        ({"type": "string", "format": "date"}, "20260228", "be a date"),
        ({"type": "string", "format": "date-time"}, "2026-02-28", "be a date-time"),
        ({"type": "integer", "minimum": 1}, 0, "be at least 1"),
        ({"type": "number", "maximum": 1}, 1.5, "be at most 1"),
        ({"type": "array", "minItems": 1}, [], "have at least 1 entries"),
        ({"type": "array", "maxItems": 1}, ["a", "b"], "have at most 1 entries"),
        ({"type": "array", "items": {"enum": ["a"]}}, ["a", "z"], "have entries of"),
        ({"type": "array", "items": {"anyOf": TITLED}}, ["z"], "have entries of"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(field: dict[str, Any], value: Any, reason: str) -> None:
    with pytest.raises(InvalidCommand, match=f"the form's field 'f' must {reason}"):
        check(field, value)


def test_fields_that_are_missing_or_unknown_are_refused() -> None:
    form = Form(fields={"properties": {"a": {}, "b": {}}, "required": ["a"]})
    with pytest.raises(InvalidCommand, match="field 'a' is missing"):
        check_form_answer(form, {"b": 1})
    with pytest.raises(InvalidCommand, match="no field 'c'; its fields are a, b"):
        check_form_answer(form, {"a": 1, "c": 1})
    with pytest.raises(InvalidCommand, match="as an object"):
        check_form_answer(form, ["a"])


def test_a_form_whose_agent_checks_itself_is_left_to_it() -> None:
    form = Form(fields={"properties": {"answer": {"type": "integer"}}}, single_answer=True)
    check_form_answer(form, {"answer": "seven"})
