import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import json_values

from trunkline.protocols.aisdk.partial_json import MISSING, parse_partial

CASES: list[tuple[str, Any]] = [
    ("", MISSING), ("  ", MISSING), ("nonsense", MISSING), ("-", MISSING), ("{", {}), ("[", []),
    ('{"a', {}), ('{"a"', {}), ('{"a":', {}), ('{"a": -', {}), ('{"a": 1.', {"a": 1}),
    ('{"a": 1e', {"a": 1}), ('{"a": 1,', {"a": 1}), ('{"a": t', {"a": True}),
    ('{"a": fals', {"a": False}),
    ('{"a": n', {"a": None}), ('{"a": "x', {"a": "x"}), ('{"a": "x\\', {"a": "x"}),
    ('{"a": "x\\u00', {"a": "x"}), ('{"a": "\\u00e9', {"a": "é"}), ("[1, [2", [1, [2]]),
    ('[1, {"b": [', [1, {"b": []}]), ("[1,2]", [1, 2]), ("{} x", MISSING), ("{x", MISSING),
    ('{"a" x', MISSING), ('{"a": 1 x', MISSING), ("[1 x", MISSING), ('"a\n', MISSING), ("-x", MISSING),
    ("[]", []), ('{"a": {}', {"a": {}}), ("[[]", [[]]), ("tru!", MISSING),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_what_there_is_of_a_text_is_read(text: str, expected: Any) -> None:
    assert parse_partial(text) == expected


@given(json_values, st.integers(0, 200))
def test_every_beginning_of_json_can_be_read_and_the_whole_is_the_value(value: Any, length: int) -> None:
    text = json.dumps(value)

    assert parse_partial(text) == value
    if text[:length] and isinstance(value, list | dict | str):
        assert parse_partial(text[:length]) is not MISSING


def test_a_text_that_is_nested_too_deeply_is_not_read() -> None:
    assert parse_partial("[" * 100_000) is MISSING
