"""What clients send without an envelope becomes a message; everything else has to be one."""

from typing import Any

import msgspec
import pytest

from trunkline.errors import InvalidCommand
from trunkline.frontends.unified.client_messages import read_frame
from trunkline.protocols.unified.wire import to_dict

IMAGE = {"media_type": "image/png", "data": "AA=="}


def read(frame: Any) -> Any:
    message = read_frame(msgspec.json.encode(frame), id="new", at=5)
    return None if message is None else to_dict(message)


@pytest.mark.parametrize(
    ("frame", "kind", "content", "metadata"),
    [
        ({"type": "user_message", "content": "hi"}, "user_message", [{"type": "text", "text": "hi"}], {}),
        ({"type": "user_message", "content": "", "images": [IMAGE], "session_id": "s"}, "user_message",
         [{"type": "image", "source": {"type": "base64", **IMAGE}}], {"session_id": "s"}),
        ({"type": "user_message", "content": [{"type": "text", "text": "x"}]}, "user_message",
         [{"type": "text", "text": "x"}], {}),
        ({"type": "slash_command", "command": "/web x"}, "user_message", [], {"slash_command": "/web x"}),
        ({"type": "permission_response", "request_id": "q", "behavior": "allow", "content": {"a": 1}},
         "permission_response", [], {"request_id": "q", "behavior": "allow", "content": {"a": 1}}),
        ({"type": "interrupt"}, "interrupt", [], {}),
        ({"type": "set_model", "model": "m"}, "configuration_change", [],
         {"model": "m", "subtype": "set_model"}),
        ({"type": "set_permission_mode", "mode": "plan"}, "configuration_change", [],
         {"mode": "plan", "subtype": "set_permission_mode"}),
        ({"type": "control_request", "request_id": "r", "request": {"subtype": "initialize"}}, "unknown", [],
         {"request_id": "r", "request": {"subtype": "initialize"}, "subtype": "control_request"}),
    ],
)  # fmt: skip
def test_a_short_frame_is_the_message_that_it_stands_for(
    frame: Any, kind: str, content: Any, metadata: Any
) -> None:
    assert read(frame) == {
        "id": "new",
        "timestamp": 5,
        "type": kind,
        "role": "user",
        "content": content,
        "metadata": metadata,
    }


def test_a_short_frame_may_bring_its_own_id() -> None:
    assert read({"type": "interrupt", "id": "mine"})["id"] == "mine"


def test_a_keep_alive_asks_for_nothing() -> None:
    assert read({"type": "keep_alive"}) is None


def test_a_whole_message_is_read_as_it_is() -> None:
    message: dict[str, Any] = {"id": "i", "timestamp": 1, "type": "interrupt", "role": "user"}
    message |= {"content": [], "metadata": {}}
    assert read(message) == message


@pytest.mark.parametrize(
    "frame",
    [
        1,
        "text",
        [],
        {},
        {"type": "nothing"},
        {"type": []},
        {"type": "assistant"},
        {"type": "user_message"},
        {"type": "user_message", "content": "x", "images": 3},
        {"type": "user_message", "content": "x", "images": ["y"]},
        {"type": "user_message", "content": "x", "metadata": {}},
    ],
)
def test_everything_else_is_refused(frame: Any) -> None:
    with pytest.raises(InvalidCommand):
        read(frame)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(InvalidCommand, match="no JSON"):
        read_frame(b"{", id="i", at=1)
