"""What the official client makes of a stream; what it would warn of is a fault."""

from typing import Any

import pytest

from trunkline.conformance.agui.reference_client import ReferenceClient, StreamFault


def test_messages_calls_and_results_are_folded() -> None:
    client = ReferenceClient()
    client.say("hi")
    client.take(
        [
            {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "add"},
            {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{}"},
            {"type": "TEXT_MESSAGE_START", "messageId": "m"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "two"},
            {"type": "TOOL_CALL_RESULT", "messageId": "t", "toolCallId": "c", "content": "2"},
        ]
    )
    assert [(one["role"], one["id"]) for one in client.messages] == [
        ("user", "u0"),
        ("assistant", "c"),
        ("tool", "t"),
        ("assistant", "m"),
    ]
    assert client.messages[1]["toolCalls"][0]["function"] == {"name": "add", "arguments": "{}"}


def test_the_state_is_patched() -> None:
    client = ReferenceClient(state={"n": 1})
    client.take([{"type": "STATE_DELTA", "delta": [{"op": "replace", "path": "/n", "value": 2}]}])
    assert client.state == {"n": 2}


@pytest.mark.parametrize(
    "event",
    [
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "nobody", "delta": "x"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "nobody", "delta": "x"},
        {"type": "TOOL_CALL_RESULT", "messageId": "t", "toolCallId": "nobody", "content": ""},
        {"type": "ACTIVITY_DELTA", "messageId": "nobody", "patch": []},
        {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "a", "role": "user"}, {"id": "a", "role": "user"}]},
    ],
)
def test_what_does_not_fit_is_a_fault(event: dict[str, Any]) -> None:
    with pytest.raises(StreamFault):
        ReferenceClient().take([event])


def test_every_interrupt_is_answered_in_a_resume() -> None:
    client = ReferenceClient()
    interrupts = [{"id": "q.1"}, {"id": "q.2"}]
    client.take([{"type": "RUN_FINISHED", "outcome": {"type": "interrupt", "interrupts": interrupts}}])
    assert client.resume(**{"1": {"approved": True}, "2": "cancelled"}) == [
        {"interruptId": "q.1", "status": "resolved", "payload": {"approved": True}},
        {"interruptId": "q.2", "status": "cancelled"},
    ]
