"""Secrets are taken out, whatever they are in."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.cli.diagnosis.redaction import MARK, Redactor, is_secret_name


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdefghijklmnop1234",
        "ghp_abcdefghijklmnopqrstuvwxyz0123",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefgh",
        "AIzaSyA-1234567890abcdefghijkl",
    ],
)
def test_what_looks_like_a_key_goes(secret: str) -> None:
    assert Redactor().text(f"use {secret} please") == f"use {MARK} please"


def test_values_that_are_named_like_secrets_go_and_numbers_of_tokens_stay() -> None:
    value = {
        "api_key": "x",
        "Authorization": "y",
        "inputTokens": 12,
        "password": None,
        "nested": [{"token": 5}],
    }
    assert Redactor().value(value) == {
        "api_key": MARK,
        "Authorization": MARK,
        "inputTokens": 12,
        "password": None,
        "nested": [{"token": MARK}],
    }
    assert not is_secret_name("monkey")
    assert is_secret_name("OPENAI_API_KEY")


def test_assignments_headers_and_passwords_in_addresses_go() -> None:
    text = Redactor().text('password = "hunter22" Bearer abc.def http://me:pw@host/ token: abcdef123')
    assert not any(secret in text for secret in ("hunter22", "abc.def", "me:pw", "abcdef123"))


def test_texts_are_left_out_on_demand() -> None:
    assert Redactor(texts=True).value({"text": "hello", "type": "text"}) == {
        "text": "[5 characters]",
        "type": "text",
    }


@pytest.mark.parametrize(
    "record",
    [
        {"type": "tool_update", "call_id": "c1", "input": {"PLANT": 1, "path": "PLANT", "argv": ["PLANT"]}},
        {
            "type": "tool_update",
            "content": [{"type": "diff", "path": "PLANT", "old": "PLANT", "new": "PLANT"}],
        },
        {"type": "tool_update", "locations": [{"path": "PLANT", "line": 3}], "reason": "ValueError: PLANT"},
        {"type": "user_message", "content": [{"type": "link", "uri": "file:///PLANT", "name": "PLANT"}]},
        {"type": "decided", "paths": ["PLANT"], "command": "PLANT", "tool": "run"},
        {"type": "state_replaced", "state": {"PLANT": 1}},
        {"type": "answered", "content": {"PLANT": 1}},
        {"type": "asked", "question": {"type": "form", "message": "PLANT", "fields": {"PLANT": {}}}},
        {"type": "custom", "name": "mine", "value": ["PLANT"]},
    ],
)
def test_without_texts_nothing_that_an_agent_or_a_person_chose_is_left(record: dict[str, Any]) -> None:
    found = json.dumps(Redactor(texts=True).value({"seq": 1, "event": record}))
    assert "PLANT" not in found
    assert record["type"] in found


def test_the_type_of_an_error_is_kept() -> None:
    redacted = Redactor(texts=True).value({"reason": "it failed: ValueError: no"})
    assert redacted == {"reason": "[25 characters, ValueError]"}


@given(
    st.text(st.characters(codec="utf-8"), min_size=6).filter(lambda one: MARK not in one and one not in MARK),
    st.recursive(
        st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    ),
)
def test_a_known_secret_is_in_no_string_of_any_value(secret: str, value: object) -> None:
    kept = Redactor([secret]).value({"here": f"a {secret} b", secret: value, "more": value})
    strings = json.dumps(kept, ensure_ascii=False)
    assert json.dumps(secret, ensure_ascii=False)[1:-1] not in strings.replace(MARK, "")
