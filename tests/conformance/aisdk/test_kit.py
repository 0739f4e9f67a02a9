"""What useChat would send, and the chunks of what comes back."""

import json
from typing import Any

import httpx

from trunkline.conformance.aisdk.kit import AisdkKit


def test_a_message_is_sent_with_the_whole_chat_before_it() -> None:
    sent: list[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=b"data: [DONE]\n\n")

    kit = AisdkKit("http://test/", {}, 5.0, httpx.MockTransport(answer))
    first = {"id": "c-u0", "role": "user", "parts": [{"type": "text", "text": "one"}]}
    kit.say("c", "two", earlier=[first])
    kit.close()
    (body,) = sent
    assert (body["id"], body["trigger"]) == ("c", "submit-message")
    assert body["messages"] == [
        first,
        {"id": "c-u1", "role": "user", "parts": [{"type": "text", "text": "two"}]},
    ]
