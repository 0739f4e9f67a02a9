from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter

from trunkline.agents.langchain.graph.free_form_interrupts import DECLINED, form_for
from trunkline.commands import Answer
from trunkline.errors import AgentError
from trunkline.events import Asked
from trunkline.session.questions import check_answer


def fields_of(value: Any, schema: Any = None) -> dict[str, Any]:
    return form_for(value, schema).question().fields["properties"]


def schema_of(kind: Any) -> dict[str, Any]:
    return TypeAdapter(kind).json_schema()


# -- without a schema --------------------------------------------------------------------------------


def test_a_plain_question_is_one_text_and_its_answer_is_that_text() -> None:
    sheet = form_for("Which colour?")
    assert sheet.question().message == "Which colour?"
    assert sheet.question().fields == {
        "type": "object",
        "properties": {"answer": {"type": "string", "title": "Answer"}},
        "required": ["answer"],
    }
    assert sheet.read({"answer": "red"}) == "red"


def test_options_are_choices_and_the_answer_is_the_chosen_option() -> None:
    sheet = form_for({"question": "Deploy?", "options": ["yes", "no"]})
    assert sheet.question().message == "Deploy?"
    assert sheet.fields["answer"]["enum"] == ["yes", "no"]
    assert "oneOf" not in sheet.fields["answer"]
    assert sheet.read({"answer": "no"}) == "no"


@pytest.mark.parametrize(
    ("option", "word", "title"),
    [
        ({"value": "a", "label": "Alpha"}, "a", "Alpha"),
        ({"id": 7, "name": "Seven"}, "7", "Seven"),
        ({"label": "Only this"}, "Only this", "Only this"),
        (3, "3", "3"),
        (True, "true", "true"),
        ({"x": 1}, '{"x":1}', '{"x":1}'),
    ],
)
def test_an_option_may_be_anything_and_is_given_back_whole(option: Any, word: str, title: str) -> None:
    sheet = form_for({"message": "Choose", "choices": [option, "other"]})
    field = sheet.fields["answer"]
    assert field["enum"] == [word, "other"]
    if word != title:
        assert field["oneOf"][0] == {"const": word, "title": title}
    assert sheet.read({"answer": word}) == option
    assert sheet.question().answer_schema == {"enum": [option, "other"]}


def test_what_comes_with_a_question_is_shown_with_it() -> None:
    value = {"question": "Send this?", "draft": "Dear all", "to": ["a", "b"]}
    assert form_for(value).message == 'Send this?\ndraft: Dear all\nto: ["a","b"]'


def test_a_value_without_a_question_is_shown_as_it_is() -> None:
    class Review(BaseModel):
        task: str = "check"

    @dataclass
    class Work:
        task: str = "check"

    assert form_for({"task": "check"}).message == "task: check"
    assert form_for(Review()).message == "task: check"
    assert form_for(Work()).message == "task: check"
    assert form_for(["a", 1]).message == '["a",1]'
    assert form_for({"thing": object}).message == "thing: <class 'object'>"
    assert form_for(object).message == "<class 'object'>"


def test_a_declined_question_is_answered_in_words() -> None:
    assert form_for("Which colour?").declined() == DECLINED


# -- with a schema -----------------------------------------------------------------------------------


class Kind(BaseModel):
    name: str


class Trip(BaseModel):
    """Where to?"""

    city: str = Field(description="A city")
    nights: int = 2
    breakfast: bool = True
    seat: Literal["aisle", "window"] = "aisle"
    stars: Literal[3, 4, 5] = 4
    budget: float | None = None
    tags: list[str] = []
    kind: Kind | None = None


def test_a_model_becomes_a_flat_form() -> None:
    sheet = form_for("Where to?", schema_of(Trip))
    fields = sheet.fields
    assert sheet.question().fields["required"] == ["city"]
    assert {name: field["type"] for name, field in fields.items()} == {
        "city": "string",
        "nights": "integer",
        "breakfast": "boolean",
        "seat": "string",
        "stars": "string",
        "budget": "number",
        "tags": "array",
        "kind": "string",
    }
    assert fields["city"]["description"] == "A city"
    assert fields["seat"]["enum"] == ["aisle", "window"]
    assert (fields["stars"]["enum"], fields["stars"]["default"]) == (["3", "4", "5"], "4")
    assert fields["kind"]["description"] == "(as JSON)"


def test_the_filled_in_form_is_what_the_model_takes() -> None:
    sheet = form_for("Where to?", schema_of(Trip))
    content = {"city": "Rome", "stars": "5", "kind": '{"name":"sea"}', "tags": ["x"], "breakfast": False}
    trip = Trip.model_validate(sheet.read(content))
    assert (trip.city, trip.stars, trip.kind, trip.tags) == ("Rome", 5, Kind(name="sea"), ["x"])


def test_a_text_that_is_no_json_is_given_as_it_is() -> None:
    sheet = form_for("Where to?", schema_of(Trip))
    assert sheet.read({"city": "Rome", "kind": "sea"}) == {"city": "Rome", "kind": "sea"}
    assert sheet.read({"city": "Rome", "kind": {"name": "sea"}})["kind"] == {"name": "sea"}


@pytest.mark.parametrize(
    ("kind", "field", "content", "value"),
    [
        (str, {"type": "string"}, "x", "x"),
        (int, {"type": "integer"}, 3, 3),
        (float | None, {"type": "number"}, 1.5, 1.5),
        (bool, {"type": "boolean"}, True, True),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, "b", "b"),
        (Literal[1, None], {"type": "string", "enum": ["1", "null"]}, "null", None),
        (Literal["only"], {"type": "string", "enum": ["only"]}, "only", "only"),
        (list[str], {"type": "array", "items": {"type": "string"}}, ["a"], ["a"]),
        (dict[str, int], {"type": "string", "description": "(as JSON)"}, '{"a":1}', {"a": 1}),
        (int | str, {"type": "string", "description": "(as JSON)"}, "3", 3),
        (list[list[int]], {"type": "string", "description": "(as JSON)"}, "[[1]]", [[1]]),
    ],
)
def test_a_single_value_is_one_field(kind: Any, field: dict[str, Any], content: Any, value: Any) -> None:
    sheet = form_for("How many?", schema_of(kind))
    asked = sheet.fields["answer"]
    assert {key: asked[key] for key in field} == field
    assert sheet.read({"answer": content}) == value
    assert sheet.read(content) == value or isinstance(content, dict)


def test_a_schema_that_leads_to_itself_is_asked_for_as_json() -> None:
    tree = {"$defs": {"Tree": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}, "$ref": "#/$defs/Tree"}
    knot = {"$defs": {"K": {"anyOf": [{"$ref": "#/$defs/K"}, {"type": "null"}]}}, "$ref": "#/$defs/K"}
    for schema in (tree, knot, {"$ref": "#/$defs/Gone"}, {"properties": "none"}, {"type": "object"}):
        assert fields_of("?", schema)["answer"]["type"] == "string"


def test_a_schema_that_is_none_is_asked_for_as_text(caplog: pytest.LogCaptureFixture) -> None:
    sheet = form_for("Which?", {"type": "object", "properties": {"a": {"type": "string"}}, "required": 5})
    assert (list(sheet.fields), sheet.read({"answer": "x"})) == (["answer"], "x")
    assert "no JSON schema" in caplog.text


def test_a_description_stands_in_for_a_question_that_says_nothing() -> None:
    assert form_for("", schema_of(Trip)).message == "Where to?"


@pytest.mark.parametrize(("kind", "value"), [(bool, False), (str | None, None), (Trip | None, None)])
def test_a_schema_that_has_a_no_is_declined_with_it(kind: Any, value: Any) -> None:
    assert form_for("?", schema_of(kind)).declined() is value


def test_a_form_that_needs_nothing_is_declined_empty() -> None:
    assert form_for("?", {"type": "object", "properties": {"a": {"type": "string"}}}).declined() == {}


@pytest.mark.parametrize("kind", [str, int, Trip])
def test_a_schema_without_a_no_says_that_the_agent_cannot_go_on(kind: Any) -> None:
    with pytest.raises(AgentError, match="cannot go on without an answer"):
        form_for("?", schema_of(kind)).declined()


WORDS = (
    "type", "properties", "items", "enum", "const", "anyOf", "$ref", "$defs", "required", "default",
    "title",
)  # fmt: skip
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=3)
    | st.sampled_from(["object", "array", "string", "integer", "null", "#/$defs/a"])
)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*WORDS, "a", "question", "options"]), inner, max_size=4)
    ),
    max_leaves=12,
)
FILLED = {"boolean": True, "integer": 1, "number": 1, "array": list[str]()}


@given(JSON, JSON)
def test_whatever_an_interrupt_asks_becomes_a_form_whose_answer_is_taken(value: Any, schema: Any) -> None:
    sheet = form_for(value, schema)
    question = sheet.question("call")
    content = {
        name: field["enum"][0] if field.get("enum") else FILLED.get(field["type"], "x")
        for name, field in question.fields["properties"].items()
    }
    answer = Answer(question_id="q", outcome="accepted", content=content)
    sheet.read(check_answer(Asked(question_id="q", question=question), answer).content)


@given(st.lists(st.text() | st.lists(st.text(), max_size=2), min_size=1, max_size=5))
def test_every_option_can_be_chosen(options: list[Any]) -> None:
    sheet = form_for({"question": "Which?", "options": options})
    words = sheet.fields["answer"]["enum"]
    meant = [sheet.read({"answer": word}) for word in words]
    assert all(
        mine == theirs or words.count(word) > 1
        for mine, theirs, word in zip(meant, options, words, strict=True)
    )
