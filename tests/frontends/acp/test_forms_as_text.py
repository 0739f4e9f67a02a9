"""Forms in words: what is asked, and what a person's message means."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.conformance.acp.schema import find_fault
from trunkline.content import ImageBlock, LinkBlock, ResourceBlock, TextBlock
from trunkline.frontends.acp.form_schema import form_schema, read_form_content
from trunkline.frontends.acp.forms_as_text import (
    AnswerMismatch,
    answer_as_text,
    ask_as_text,
    message_text,
    read_answer,
)
from trunkline.questions import Form


def form(required: Any = (), message: str = "Please order.", **fields: Any) -> Form:
    return Form(message=message, fields={"type": "object", "properties": fields, "required": list(required)})


TEXT = {"type": "string"}
ORDER = form(
    ["name", "colour"],
    name={"type": "string", "title": "Your name"},
    colour={"type": "string", "enum": ["red", "blue"]},
    copies={"type": "integer", "default": 1, "title": "Copies"},
    gift={"type": "boolean"},
    extras={"type": "array", "items": {"type": "string", "enum": ["box", "card"]}},
)
MANY = {"type": "integer", "oneOf": [{"const": n * 10, "title": f"Room {n}"} for n in range(12)]}


def test_one_field_is_asked_by_its_message_alone() -> None:
    assert ask_as_text(form(message="What is your name?", answer={"type": "string", "title": "Answer"})) == (
        "What is your name?\n\nYour next message is the answer. To decline, write `decline`."
    )


def test_one_field_says_what_it_is_about_and_of_which_kind() -> None:
    asked = ask_as_text(form(message="How many?", x={"type": "integer", "description": "Up to ten."}))
    assert asked == (
        "How many?\nUp to ten.\n\n"
        "Your next message is the answer: a whole number. To decline, write `decline`."
    )
    assert ask_as_text(form(message="", x=TEXT)).startswith("The agent asks for an answer.\n")


def test_the_title_of_one_field_is_said_where_it_says_more_than_a_name() -> None:
    asked = ask_as_text(form(message="| rows |", account={"type": "string", "title": "A name for it"}))
    assert asked.startswith("| rows |\n\nA name for it\n\nYour next message")


def test_many_choices_are_numbered() -> None:
    lines = ask_as_text(form(message="Where?", x=MANY)).splitlines()
    assert lines[:4] == ["Where?", "", "1. Room 0", "2. Room 1"]
    assert lines[-1] == "Your next message is the answer. To decline, write `decline`."


def test_a_call_is_named_with_its_arguments_if_it_has_any() -> None:
    asked = form(message="Which?", x=MANY)
    assert ask_as_text(asked, {"title": "Write a.txt"}).startswith("Write a.txt\n\nWhich?\n")
    assert ask_as_text(asked, {"title": "Write", "rawInput": {"path": "a.txt"}}).startswith(
        'Write\n\n```json\n{\n  "path": "a.txt"\n}\n```\n\nWhich?\n'
    )


def test_several_fields_are_listed_with_what_they_take() -> None:
    assert ask_as_text(ORDER) == (
        "Please order.\n\n"
        "- `name` Your name (text)\n"
        "- `colour` (one of: red | blue)\n"
        "- `copies` (a whole number, default 1)\n"
        "- `gift` (yes or no, optional)\n"
        "- `extras` (some of: box | card; separated by commas, optional)\n\n"
        "Your next message is the answer: one line for each field, as in `name: ...`, or a JSON object. "
        "To decline, write `decline`."
    )


def test_the_docs_show_what_is_asked(root: Path) -> None:
    asked = form(["city"], "Where to?", city={"type": "string"}, days={"type": "integer", "default": 3})
    assert f"```text\n{ask_as_text(asked)}\n```" in (root / "docs/editors.md").read_text(encoding="utf-8")
    assert read_answer(asked, "Rome") == {"city": "Rome", "days": 3}


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        (TEXT, "Ada\nLovelace", "Ada\nLovelace"),
        (TEXT, '{"not": "parsed"}', '{"not": "parsed"}'),
        ({}, "x: y", "x: y"),
        ({"type": "integer"}, "-7", -7),
        ({"type": ["integer", "null"]}, "7", 7),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "number"}, "2", 2),
        ({"type": "boolean"}, "YES", True),
        ({"type": "boolean"}, "sure", True),
        ({"type": "boolean"}, "off", False),
        ({"type": "boolean"}, "false", False),
        ({"type": "boolean"}, "2", False),
        (MANY, "room 3", 30),
        (MANY, "30", 30),
        (MANY, "12", 110),
        ({"type": "string", "enum": ["2", "1"]}, "1", "1"),
        ({"type": "string", "enum": ["cancel", "go"]}, "Cancel", "cancel"),
        ({"type": "array", "items": TEXT}, "a, b", ["a", "b"]),
        ({"type": "array", "items": {"type": "integer"}}, "1,2", [1, 2]),
        ({"type": "array"}, '["a", 1]', ["a", 1]),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": "integer", "minimum": 1, "maximum": 3}, "3", 3),
        ({"type": "string", "minLength": 1, "maxLength": 3}, "abc", "abc"),
    ],
)
def test_a_message_is_the_value_of_the_only_field(field: Any, text: str, value: Any) -> None:
    read = read_answer(form(x=field), text)
    assert read == {"x": value}
    assert read is not None
    assert type(read["x"]) is type(value)


@pytest.mark.parametrize(
    ("field", "text", "why"),
    [
        (TEXT, "", "There is nothing in the answer"),
        ({"type": "integer"}, "many", "The answer must be a whole number"),
        ({"type": "integer"}, "9" * 30, "The answer must be a whole number"),
        ({"type": "integer"}, "9" * 5000, "The answer must be a whole number"),
        ({"type": "number"}, "nan", "The answer must be a number"),
        ({"type": "boolean"}, "perhaps", "The answer must be yes or no"),
        ({"type": "string", "enum": ["a", "b"]}, "c", "The answer must be one of: a | b"),
        ({"type": "string", "enum": ["a", "b"]}, "3", "The answer must be one of: a | b"),
        ({"type": "object"}, "{", "The answer must be a JSON object"),
        ({"type": "array", "items": {"type": "integer"}}, "1, x", "The answer must be a whole number"),
        ({"type": "array"}, "[1", "The answer must be several, separated by commas"),
        ({"type": "integer", "minimum": 1}, "0", "The answer must be at least 1"),
        ({"type": "number", "maximum": 1}, "1.5", "The answer must be at most 1"),
        ({"type": "string", "minLength": 2}, "a", "The answer must have at least 2 characters"),
        ({"type": "string", "maxLength": 2}, "abc", "The answer must have at most 2 characters"),
    ],
)
def test_a_message_that_does_not_fit_raises_the_reason(field: Any, text: str, why: str) -> None:
    with pytest.raises(AnswerMismatch) as caught:
        read_answer(form(x=field), text)
    assert str(caught.value) == why


@pytest.mark.parametrize(
    "text",
    [
        "decline",
        "/decline",
        "Cancel",
        "/cancel",
        "Decline.",
        " cancel!",
        "No, thanks.",
        "no thank you",
        "Never mind…",
    ],
)
def test_a_word_on_its_own_declines(text: str) -> None:
    assert read_answer(form(x=TEXT), text) is None
    assert read_answer(ORDER, text) is None
    assert read_answer(form(x=TEXT), f"{text} it") == {"x": f"{text} it"}


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("name: Ada\ncolour: RED", {"name": "Ada", "colour": "red", "copies": 1}),
        (
            "- **Your name**: Ada: the first\n\nof all\n`Colour`: blue\ncopies: 2\ngift: y\nextras: box,card",
            {
                "name": "Ada: the first\n\nof all", "colour": "blue", "copies": 2, "gift": True,
                "extras": ["box", "card"],
            },
        ),
        ("Hello!\nname: Ada\ncolour: red\ngift:", {"name": "Ada", "colour": "red", "copies": 1}),
        ('{"name": "Ada", "colour": "Blue", "copies": 3, "gift": false}',
         {"name": "Ada", "colour": "blue", "copies": 3, "gift": False}),
    ],
)  # fmt: skip
def test_several_fields_are_read_from_lines_or_json(text: str, content: Any) -> None:
    assert read_answer(ORDER, text) == content


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Ada", "The answer names no field: write one line for each, as in `name: ...`"),
        ("name: Ada", "The answer lacks `colour`"),
        ("gift: no", "The answer lacks `name`, `colour`"),
        ("name: Ada\ncolour: green", "`colour` must be one of: red | blue"),
        ('{"name": "Ada", "size": 1}', "There is no field `size`; the fields are `name`, `colour`, "),
        ('{"name": ', "The answer is no JSON object ("),
    ],
)
def test_an_error_names_the_wrong_field_of_several(text: str, why: str) -> None:
    with pytest.raises(AnswerMismatch) as caught:
        read_answer(ORDER, text)
    assert str(caught.value).startswith(why)


def test_the_only_field_that_is_required_needs_no_name() -> None:
    asked = form(["why"], why=TEXT, urgent={"type": "boolean"})
    assert read_answer(asked, "It is late: go home") == {"why": "It is late: go home"}


def test_what_a_message_mentions_is_named_by_its_address() -> None:
    link = LinkBlock(uri="file:///a.py", name="a.py")
    resource = ResourceBlock(uri="file:///b.py", text="b")
    assert message_text((TextBlock(text=" look at "), link, TextBlock(text=" and "), resource)) == (
        "look at file:///a.py and file:///b.py"
    )
    with pytest.raises(AnswerMismatch, match="can only be text"):
        message_text((ImageBlock(mime_type="image/png", data=""),))


@pytest.mark.parametrize(
    ("asked", "content", "text"),
    [
        (form(x=TEXT), {"x": "Ada"}, "Ada"),
        (form(x=MANY), {"x": 30}, "Room 3"),
        (ORDER, {"name": "Ada", "gift": True, "extras": ["box"]}, "name: Ada\ngift: Yes\nextras: box"),
        (form(x={"type": "integer", "enum": [1]}), {"x": True}, "true"),
        (ORDER, {"unknown": {"a": 1}}, 'unknown: {"a":1}'),
        (ORDER, None, ""),
    ],
)
def test_an_answer_is_written_as_a_person_would(asked: Form, content: Any, text: str) -> None:
    assert answer_as_text(asked, content) == text


LINE = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1).filter(
    lambda text: not text.startswith("{")
)


@given(
    st.fixed_dictionaries(
        {
            "name": LINE,
            "colour": st.sampled_from(["red", "blue"]),
            "copies": st.integers(-(2**63), 2**63 - 1),
        },
        optional={"gift": st.booleans(), "extras": st.lists(st.sampled_from(["box", "card"]), min_size=1)},
    )
)
def test_what_was_written_is_read_again(content: dict[str, Any]) -> None:
    assert read_answer(ORDER, answer_as_text(ORDER, content)) == content


TAGS = {"type": "array", "items": {"type": "string"}, "title": "Tags", "default": ["a", "b"]}
LOOSE = form(
    tags=TAGS, sizes={"type": "array", "items": {"type": "integer"}}, more={"type": "object"}, x=TEXT
)


def test_an_empty_default_is_not_shown() -> None:
    asked = ask_as_text(form(["tags", "y"], tags={**TAGS, "default": []}, y={**TEXT, "default": ""}, x=TEXT))
    assert asked.splitlines()[2:4] == [
        "- `tags` (several, separated by commas, optional)",
        "- `y` (text, optional)",
    ]


def test_what_the_forms_of_acp_have_no_field_for_is_a_text() -> None:
    shown = form_schema(LOOSE)
    assert shown["properties"] == {
        "tags": {
            "type": "string", "title": "Tags", "default": "a, b",
            "description": "(several, separated by commas)",
        },
        "sizes": {"type": "string", "description": "(several, separated by commas)"},
        "more": {"type": "string", "description": "(a JSON object)"},
        "x": TEXT,
    }  # fmt: skip
    params = {"mode": "form", "message": "?", "sessionId": "s", "requestedSchema": shown}
    assert find_fault({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": params}) is None
    assert form_schema(ORDER) is ORDER.fields


def test_such_a_text_is_read_as_what_it_stands_for() -> None:
    filled = {"tags": "c, d", "sizes": "1, 2", "more": '{"k": 1}', "x": "y, z"}
    assert read_form_content(LOOSE, filled) == {
        "tags": ["c", "d"],
        "sizes": [1, 2],
        "more": {"k": 1},
        "x": "y, z",
    }
    assert read_form_content(LOOSE, {"tags": " ", "sizes": "1, x", "new": "n"}) == {
        "tags": [],
        "sizes": "1, x",
        "new": "n",
    }
    assert read_form_content(LOOSE, {"tags": ["as it is"]}) == {"tags": ["as it is"]}
