"""Edits of JSON with comments: the value is the wanted one, and nothing else changes."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.cli.init import jsonc
from trunkline.cli.init.jsonc import Edit
from trunkline.cli.init.jsonc_nodes import JsoncError

KEYS = st.sampled_from(["a", "b", "agent_servers", "My Agent", 'q"uote', "ünï", "", "c.d"])
SCALARS = st.none() | st.booleans() | st.integers(-9999, 9999) | st.text(max_size=6) | st.just('"} // {')
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
COMMENTS = ["// one { \n", '/* "two": } */', "/*\n * three\n */", "//\n", "// four\r\n"]
BLANKS = ["", " ", "\n", "\n  ", "\r\n\t", "  "]


@st.composite
def documents(draw: st.DrawFn, values: st.SearchStrategy[Any] = OBJECTS) -> tuple[str, Any]:
    """A text, in any layout, and what it means."""
    trivia = st.lists(st.sampled_from([*BLANKS, *COMMENTS]), max_size=3).map("".join)
    trailing = draw(st.booleans())

    def write(value: Any) -> str:
        if isinstance(value, dict):
            parts = [
                f"{draw(trivia)}{json.dumps(key, ensure_ascii=draw(st.booleans()))}{draw(trivia)}:"
                f"{draw(trivia)}{write(below)}{draw(trivia)}"
                for key, below in value.items()  # pyright: ignore[reportUnknownVariableType]
            ]
            return "{" + _joined(parts) + draw(trivia) + "}"
        if isinstance(value, list):
            items = [f"{draw(trivia)}{write(one)}{draw(trivia)}" for one in value]  # pyright: ignore[reportUnknownVariableType]
            return "[" + _joined(items) + draw(trivia) + "]"
        return json.dumps(value)

    def _joined(parts: list[str]) -> str:
        return ",".join(parts) + ("," if parts and trailing else "")

    value = draw(values)
    mark = "\ufeff" if draw(st.booleans()) else ""
    return f"{mark}{draw(trivia)}{write(value)}{draw(trivia)}", value


def with_key(value: Any, path: list[str], new: Any) -> Any:
    """Say what a value means with a key set."""
    below = dict(value)
    below[path[0]] = new if len(path) == 1 else with_key(below.get(path[0], {}), path[1:], new)
    return below


@given(documents(VALUES))
def test_any_layout_means_its_value(document: tuple[str, Any]) -> None:
    assert jsonc.parse(document[0]) == document[1]


@given(documents(), st.text(min_size=8, max_size=9), VALUES)
def test_a_new_key_is_only_inserted(document: tuple[str, Any], key: str, new: Any) -> None:
    text, value = document
    edits = jsonc.set_key(text, [key], new)
    assert all(edit.start == edit.end for edit in edits)
    assert jsonc.parse(jsonc.apply(text, edits)) == {**value, key: new}


@given(documents(), KEYS, KEYS, VALUES)
def test_a_key_under_another_is_set_or_refused(
    document: tuple[str, Any], outer: str, inner: str, new: Any
) -> None:
    text, value = document
    if not isinstance(value.get(outer, {}), dict):
        with pytest.raises(JsoncError, match="is not an object"):
            jsonc.set_key(text, [outer, inner], new)
        return
    edits = jsonc.set_key(text, [outer, inner], new)
    assert jsonc.parse(jsonc.apply(text, edits)) == with_key(value, [outer, inner], new)
    replaced = [edit for edit in edits if edit.end > edit.start]
    old = jsonc.find(text, [outer, inner])
    assert [text[edit.start : edit.end] for edit in replaced] == ([] if old is None else [old])


@given(documents(), KEYS)
def test_a_removed_key_is_gone_and_the_rest_means_the_same(document: tuple[str, Any], key: str) -> None:
    text, value = document
    changed = jsonc.apply(text, jsonc.remove_key(text, [key]))
    assert jsonc.parse(changed) == {name: below for name, below in value.items() if name != key}
    if key not in value:
        assert changed == text


@given(documents(), VALUES)
def test_what_is_set_and_removed_leaves_the_same_meaning(document: tuple[str, Any], new: Any) -> None:
    text, value = document
    changed = jsonc.apply(text, jsonc.set_key(text, ["a new key"], new))
    assert jsonc.parse(jsonc.apply(changed, jsonc.remove_key(changed, ["a new key"]))) == value


@given(OBJECTS, KEYS, VALUES, st.sampled_from([None, 2, "\t"]))
def test_plain_json_stays_plain_json(value: Any, key: str, new: Any, indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent)
    changed = jsonc.apply(text, jsonc.set_key(text, [key], new))
    assert json.loads(changed) == {**value, key: new}
    assert json.loads(jsonc.apply(changed, jsonc.remove_key(changed, [key]))) == {
        name: below for name, below in value.items() if name != key
    }


@given(documents(), st.data())
def test_a_piece_of_a_text_is_read_or_refused_and_never_breaks(
    document: tuple[str, Any], data: st.DataObject
) -> None:
    text = document[0]
    cut = text[: data.draw(st.integers(0, len(text)))]
    with suppress(JsoncError):
        jsonc.parse(cut)


def test_a_member_goes_behind_the_last_one_and_its_comment() -> None:
    text = '{\n\t"a": 1, // one\n\t// the end\n}\n'
    edits = jsonc.set_key(text, ["b"], {"c": ["d"]})
    assert (
        jsonc.apply(text, edits) == '{\n\t"a": 1, // one\n\t"b": {\n\t\t"c": ["d"]\n\t},\n\t// the end\n}\n'
    )


def test_a_missing_comma_is_put_before_the_comment() -> None:
    text = '{\r\n    "a": 1 // one\r\n}'
    changed = jsonc.apply(text, jsonc.set_key(text, ["b"], 2))
    assert changed == '{\r\n    "a": 1, // one\r\n    "b": 2\r\n}'


def test_an_empty_text_becomes_an_object() -> None:
    assert jsonc.apply("", jsonc.set_key("", ["a", "b"], 1)) == '{\n  "a": {\n    "b": 1\n  }\n}\n'
    text = "// nothing yet"
    assert jsonc.apply(text, jsonc.set_key(text, ["a"], 1)) == '// nothing yet\n{\n  "a": 1\n}\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "k": 1\n}'),
        ("{\n}", '{\n  "k": 1\n}'),
        ("{ /* c */ }", '{ /* c */\n  "k": 1\n }'),
        ("{ // c\n}", '{ // c\n  "k": 1\n}'),
        ('{"a": 1}', '{"a": 1, "k": 1}'),
        ('{"a": 1,}', '{"a": 1, "k": 1,}'),
        ('  {\n    "a": 1\n  }', '  {\n    "a": 1,\n    "k": 1\n  }'),
    ],
)
def test_the_layout_is_kept(before: str, after: str) -> None:
    assert jsonc.apply(before, jsonc.set_key(before, ["k"], 1)) == after


def test_the_last_of_two_keys_counts() -> None:
    text = '{"a": {"x": 1}, "a": {}}'
    assert jsonc.find(text, ["a"]) == "{}"
    assert jsonc.parse(jsonc.apply(text, jsonc.set_key(text, ["a", "y"], 2))) == {"a": {"y": 2}}


def test_a_value_is_put_back_as_it_stood() -> None:
    text = '{"a": {"b": 1}}'
    assert jsonc.replace_value(text, ["a", "c"], "2") == []
    assert jsonc.replace_value(text, ["a", "b"], "[ 2 ]") == [Edit(12, 13, "[ 2 ]")]


def test_an_object_with_a_comment_is_not_empty() -> None:
    assert jsonc.is_empty('{"a": { }}', ["a"])
    assert not jsonc.is_empty('{"a": {/* kept */}}', ["a"])
    assert not jsonc.is_empty('{"a": []}', ["a"])
    assert not jsonc.is_empty("{}", ["a"])
