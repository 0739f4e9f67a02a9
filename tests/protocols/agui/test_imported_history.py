from typing import Any

from trunkline.conformance.agui.event_verifier import plain
from trunkline.folding import fold
from trunkline.protocols.agui.imported_history import history_events
from trunkline.protocols.agui.messages import snapshot_of
from trunkline.protocols.agui.wire import Message as Sent


def test_a_history_is_taken_over_with_answered_calls_and_without_what_is_not_the_clients_to_give() -> None:
    made = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"a": 1}'}}
    unanswered = {"id": "c2", "function": {"name": "search", "arguments": "{}"}}
    history = fold(
        history_events(
            [
                Sent(id="s", role="system", content="obey"),
                Sent(id="u1", role="user", content="hello"),
                Sent(id="m1", role="assistant", content="hi", tool_calls=[made, unanswered]),
                Sent(id="r1", role="tool", tool_call_id="c1", content="found"),
                Sent(id="m2", role="assistant", content="x", subagent_run_id="l1"),
                Sent(id="g", role="reasoning", content="hm"),
            ]
        )
    )

    assert [(message.message_id, message.text) for message in history.messages] == [
        ("u1", "hello"),
        ("m1", "hi"),
    ]
    (taken,) = history.calls.values()
    assert (taken.call_id, taken.name, taken.input, taken.status) == ("c1", "search", {"a": 1}, "completed")
    assert (taken.raw_output, taken.result_message_id) == ("found", "r1")


def test_a_history_folds_to_the_messages_it_was() -> None:
    sent: list[dict[str, Any]] = [
        {"id": "u1", "role": "user", "content": "hello"},
        {
            "id": "m1",
            "role": "assistant",
            "content": "hi",
            "toolCalls": [
                {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"a": 1}'}},
                {"id": "c2", "type": "function", "function": {"name": "go", "arguments": "{broken"}},
            ],
        },
        {"id": "r1", "role": "tool", "toolCallId": "c1", "content": "found"},
        {"id": "r2", "role": "tool", "toolCallId": "c2", "content": "oh", "error": "it broke"},
    ]
    read = [
        Sent(
            id=message["id"],
            role=message["role"],
            content=message.get("content"),
            tool_calls=message.get("toolCalls"),
            tool_call_id=message.get("toolCallId"),
            error=message.get("error"),
        )
        for message in sent
    ]

    assert plain(snapshot_of(fold(history_events(read)))) == sent
