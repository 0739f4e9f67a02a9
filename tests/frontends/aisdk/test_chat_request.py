"""Requests as useChat sends them, in its forms, and what is refused."""

import json
import re
from typing import Any

import pytest

from trunkline.errors import InvalidCommand
from trunkline.frontends.aisdk.chat_request import read_chat_request

USER = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "hi"}]}


def test_a_request_of_version_5_to_7_is_read() -> None:
    body = {
        "id": "chat1",
        "messages": [{**USER, "metadata": {"x": 1}}],
        "trigger": "submit-message",
        "messageId": "u1",
        "model": "big",
    }
    request = read_chat_request(json.dumps(body).encode())

    assert request.id == "chat1"
    assert request.messages[0].metadata == {"x": 1}
    assert request.message_id == "u1"
    assert request.forwarded == {"model": "big"}


def test_only_the_last_message_will_do_and_the_trigger_may_be_left_out() -> None:
    request = read_chat_request({"id": "chat1", "message": USER})

    assert [message.id for message in request.messages] == ["u1"]
    assert request.trigger == "submit-message"
    assert read_chat_request({"id": "c", "messages": None}).messages == ()


@pytest.mark.parametrize(
    "tools",
    [
        [{"name": "pick", "description": "Picks", "parameters": {"type": "object"}}],
        [{"name": "pick", "description": "Picks", "inputSchema": {"type": "object"}}],
        {"pick": {"description": "Picks", "parameters": {"type": "object"}}},
    ],
)
def test_the_pages_own_tools_come_in_several_forms(tools: Any) -> None:
    request = read_chat_request({"id": "c", "message": USER, "tools": tools})

    assert request.tools == ({"name": "pick", "description": "Picks", "parameters": {"type": "object"}},)
    assert request.client_tools == {"pick"}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "the request is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ([], "must be an object with id and messages"),
        ({"messages": [USER]}, "id must be a printable text"),
        ({"id": "a\nb", "messages": [USER]}, "id must be a printable text"),
        ({"id": "x" * 513, "messages": [USER]}, "id must be a printable text"),
        ({"id": "c", "messages": {}}, "messages must be a list"),
        ({"id": "c", "messages": [1]}, "messages[0] must be an object"),
        ({"id": "c", "messages": [{**USER, "parts": None}]}, "messages[0].parts must be a list of objects"),
        ({"id": "c", "messages": [{**USER, "parts": ["x"]}]}, "messages[0].parts must be a list of objects"),
        ({"id": "c", "messages": [{**USER, "role": "tool"}]}, "messages[0].role is 'tool'"),
        ({"id": "c", "messages": [{**USER, "id": 3}]}, "messages[0].id must be a printable text"),
        ({"id": "c", "messages": [USER], "trigger": "resume"}, "there is no trigger 'resume'"),
        ({"id": "c", "messages": [USER], "messageId": ""}, "messageId must be a printable text"),
        ({"id": "c", "messages": [USER], "answers": []}, "the field answers must be an object"),
        ({"id": "c", "messages": [USER], "tools": "pick"}, "tools must be a list"),
        ({"id": "c", "messages": [USER], "tools": [{"name": ""}]}, "tools must be a list"),
        ({"id": "c", "messages": [USER, USER, USER]}, "has 3 messages, and 2 are the most"),
    ],
)
def test_what_is_no_request_is_refused_with_the_place(body: Any, words: str) -> None:
    with pytest.raises(InvalidCommand, match=re.escape(words)):
        read_chat_request(body, most=2)
