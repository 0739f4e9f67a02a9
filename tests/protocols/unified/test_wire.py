"""UnifiedMessage: exactly BeamCode's envelope, and what is none."""

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.errors import InvalidCommand
from trunkline.protocols.unified import wire

MESSAGE: dict[str, Any] = {
    "id": "0b0c3a52-1f0e-4a3c-9a55-2b1c5a9d7e10",
    "timestamp": 1771113600000,
    "type": "user_message",
    "role": "user",
    "content": [],
    "metadata": {},
}
CONTENT: list[dict[str, Any]] = [
    {"type": "text", "text": "hi"},
    {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}},
    {"type": "tool_result", "tool_use_id": "c1", "content": "text"},
    {"type": "tool_result", "tool_use_id": "c1", "content": "text", "is_error": True},
    {"type": "code", "language": "python", "code": "1"},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
    {"type": "thinking", "thinking": "hm"},
    {"type": "thinking", "thinking": "hm", "budget_tokens": 10},
    {"type": "refusal", "refusal": "no"},
]
FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"id": ""}, "id"),
    ({"id": 1}, "id"),
    ({"timestamp": "1"}, "timestamp"),
    ({"timestamp": True}, "timestamp"),
    ({"timestamp": math.inf}, "timestamp"),
    ({"timestamp": math.nan}, "timestamp"),
    ({"type": "keep_alive"}, "type"),
    ({"type": None}, "type"),
    ({"role": "agent"}, "role"),
    ({"content": {}}, "content"),
    ({"content": None}, "content"),
    ({"metadata": []}, "metadata"),
    ({"metadata": None}, "metadata"),
    ({"parentId": None}, "parentId"),
    ({"parentId": 3}, "parentId"),
]


def test_there_are_twenty_types_four_roles_seven_contents_and_ten_error_codes() -> None:
    assert len(wire.MESSAGE_TYPES) == 20
    assert wire.ROLES == ("user", "assistant", "system", "tool")
    assert len(wire.ERROR_CODES) == 10
    assert {one["type"] for one in CONTENT} == {
        "text", "tool_use", "tool_result", "code", "image", "thinking", "refusal",
    }  # fmt: skip


@pytest.mark.parametrize("kind", wire.MESSAGE_TYPES)
@pytest.mark.parametrize("role", wire.ROLES)
def test_each_type_in_each_role_is_a_message(kind: str, role: str) -> None:
    given_message = {**MESSAGE, "type": kind, "role": role}
    assert wire.is_unified_message(given_message)
    assert wire.to_dict(wire.as_message(given_message)) == given_message


@pytest.mark.parametrize(("change", "named"), FAULTS)
def test_what_is_no_message_is_refused_and_the_field_is_named(change: dict[str, Any], named: str) -> None:
    assert not wire.is_unified_message({**MESSAGE, **change})
    with pytest.raises(InvalidCommand, match=named):
        wire.as_message({**MESSAGE, **change})


@pytest.mark.parametrize("missing", list(MESSAGE))
def test_every_field_but_the_parent_is_required(missing: str) -> None:
    assert not wire.is_unified_message({name: value for name, value in MESSAGE.items() if name != missing})


@pytest.mark.parametrize("value", [None, 1, "text", [], [MESSAGE]])
def test_only_an_object_is_a_message(value: object) -> None:
    assert not wire.is_unified_message(value)


@pytest.mark.parametrize("block", CONTENT, ids=str)
def test_each_content_is_read_and_written_as_it_is(block: dict[str, Any]) -> None:
    message = {**MESSAGE, "content": [block], "parentId": "p"}
    read = wire.as_message(message)
    assert wire.to_dict(read) == message
    assert wire.to_dict(wire.read_message(wire.encode(read))) == message


@pytest.mark.parametrize("block", [1, None, {"type": "audio"}, {"type": "text"}, {"text": "x"}])
def test_content_that_is_none_of_the_seven_is_refused_with_its_place(block: object) -> None:
    content: list[object] = [{"type": "text", "text": "x"}, block]
    assert wire.is_unified_message({**MESSAGE, "content": content}), "the validator does not look inside"
    with pytest.raises(InvalidCommand, match=r"content\[1\]"):
        wire.as_message({**MESSAGE, "content": content})


@pytest.mark.parametrize("frame", [b"", b"{", b"\xff", "nonsense"])
def test_a_frame_that_is_no_json_is_refused(frame: bytes | str) -> None:
    with pytest.raises(InvalidCommand, match="no JSON"):
        wire.read_message(frame)


@pytest.mark.parametrize("timestamp", [0, -1, 1.5, 10**400])
def test_any_finite_number_is_a_timestamp(timestamp: float) -> None:
    assert wire.is_unified_message({**MESSAGE, "timestamp": timestamp})


@given(st.lists(st.text()))
def test_an_id_has_the_shape_of_a_uuid4_and_depends_on_its_parts_alone(parts: list[str]) -> None:
    made = wire.derived_id(*parts)
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", made)
    assert made == wire.derived_id(*parts)
    assert made != wire.derived_id(*parts, "more")
