from __future__ import annotations

from typing import Any

import pytest

from trunkline import events as ev
from trunkline.agents.agui.translator import AguiTranslator
from trunkline.errors import AgentProtocolError
from trunkline.folding import fold


def said(*events: dict[str, Any], known: frozenset[str] = frozenset()) -> list[ev.AnyEvent]:
    translator = AguiTranslator(known)
    return [said for event in events for said in translator.feed(event)] + translator.close()


def sealed(subtype: str, entity: str) -> dict[str, Any]:
    kind = "REASONING_ENCRYPTED_VALUE"
    return {"type": kind, "subtype": subtype, "entityId": entity, "encryptedValue": "sig"}


def text(message_id: str, *deltas: str, **fields: Any) -> list[dict[str, Any]]:
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": message_id, **fields},
        *({"type": "TEXT_MESSAGE_CONTENT", "messageId": message_id, "delta": delta} for delta in deltas),
        {"type": "TEXT_MESSAGE_END", "messageId": message_id},
    ]


def test_a_message_is_its_text() -> None:
    assert said(*text("m1", "Hel", "", "lo")) == [
        ev.Text(message_id="m1", delta="Hel"),
        ev.Text(message_id="m1", delta="lo"),
    ]


@pytest.mark.parametrize("role", ["user", "system", "developer"])
def test_messages_that_are_not_the_agents_are_passed_over(role: str) -> None:
    assert said(*text("m1", "secret", role=role)) == []


def test_a_message_of_an_earlier_turn_is_not_said_again() -> None:
    assert said(*text("m1", "again"), known=frozenset({"m1"})) == []


def test_chunks_go_on_with_the_one_before() -> None:
    assert said(
        {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m1", "delta": "a"},
        {"type": "TEXT_MESSAGE_CHUNK", "delta": "b"},
        {"type": "REASONING_MESSAGE_CHUNK", "messageId": "r1", "delta": "c"},
        {"type": "REASONING_MESSAGE_CHUNK", "delta": "d"},
        {"type": "TOOL_CALL_CHUNK", "toolCallId": "c1", "toolCallName": "look", "delta": "{"},
        {"type": "TOOL_CALL_CHUNK", "delta": "}"},
    ) == [
        ev.Text(message_id="m1", delta="a"),
        ev.Text(message_id="m1", delta="b"),
        ev.Thought(message_id="r1", delta="c"),
        ev.Thought(message_id="r1", delta="d"),
        ev.ToolCall(call_id="c1", name="look", native_id="c1"),
        ev.ToolInput(call_id="c1", delta="{"),
        ev.ToolInput(call_id="c1", delta="}"),
    ]


def test_a_chunk_without_a_beginning_names_the_servers_mistake() -> None:
    with pytest.raises(AgentProtocolError, match=r"broken TEXT_MESSAGE_CHUNK.*no messageId"):
        said({"type": "TEXT_MESSAGE_CHUNK", "delta": "b"})


def test_a_call_with_arguments_and_result_folds_to_what_happened() -> None:
    told = fold(
        [
            ev.TurnStarted(turn_id="t"),
            *said(
                {
                    "type": "TOOL_CALL_START",
                    "toolCallId": "c1",
                    "toolCallName": "look",
                    "parentMessageId": "m1",
                },
                {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": '{"a"'},
                {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": ": 1}"},
                {"type": "TOOL_CALL_END", "toolCallId": "c1"},
                {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1", "content": "found"},
                {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1", "content": "twice"},
            ),
        ]
    )
    call = told.calls["c1"]
    assert (call.name, call.input, call.status, call.raw_output) == ("look", {"a": 1}, "completed", "found")
    assert call.result_message_id == "x1"


def test_arguments_that_are_no_json_stay_text() -> None:
    told = said(
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "look"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "oops"},
        {"type": "TOOL_CALL_END", "toolCallId": "c1"},
    )
    assert told[-1] == ev.ToolUpdate(call_id="c1")


def test_a_snapshot_says_what_was_not_streamed_and_nothing_twice() -> None:
    messages = [
        {"id": "u1", "role": "user", "content": "hi"},
        {"id": "m1", "role": "assistant", "content": "streamed"},
        {"id": "r1", "role": "reasoning", "content": "hm"},
        {
            "id": "m2",
            "role": "assistant",
            "content": "late",
            "toolCalls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"id": "x1", "role": "tool", "toolCallId": "c1", "content": "", "error": "gone"},
        {"id": "x2", "role": "tool", "toolCallId": "unknown", "content": "?"},
    ]
    told = said(*text("m1", "streamed"), {"type": "MESSAGES_SNAPSHOT", "messages": messages})
    assert [event.delta for event in told if isinstance(event, ev.Text)] == ["streamed", "late"]
    assert [event.delta for event in told if isinstance(event, ev.Thought)] == ["hm"]
    assert isinstance(told[-1], ev.ToolUpdate)
    assert (told[-1].status, told[-1].reason) == ("failed", "gone")


def test_subagents_keep_their_lanes_and_a_suspended_one_stays_open() -> None:
    started = {"type": "SUBAGENT_STARTED", "subagentRunId": "s1", "name": "scout", "parentToolCallId": "c1"}
    told = said(
        started,
        {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m1", "delta": "a", "subagentRunId": "s1"},
        {"type": "SUBAGENT_FINISHED", "subagentRunId": "s1", "outcome": {"type": "suspended"}},
        started,
        {"type": "SUBAGENT_ERROR", "subagentRunId": "s1", "message": "lost"},
    )
    assert told == [
        ev.SubagentStarted(lane="s1", name="scout", parent_call_id="c1"),
        ev.Text(lane="s1", message_id="m1", delta="a"),
        ev.SubagentFinished(lane="s1", outcome="failed", message="lost"),
    ]


def test_state_steps_activities_and_the_rest_are_carried_over() -> None:
    assert said(
        {"type": "STATE_SNAPSHOT", "snapshot": {"a": 1}},
        {"type": "STATE_DELTA", "delta": [{"op": "remove", "path": "/a"}]},
        {"type": "STEP_STARTED", "stepName": "look"},
        {"type": "STEP_FINISHED", "stepName": "look"},
        {"type": "ACTIVITY_SNAPSHOT", "messageId": "a1", "activityType": "COPY", "content": {"done": 1}},
        {"type": "ACTIVITY_DELTA", "messageId": "a1", "activityType": "COPY", "patch": []},
        {"type": "CUSTOM", "name": "mine", "value": None},
        {"type": "CUSTOM", "name": "trunkline.commands", "value": {}},
        {"type": "RAW", "event": {"x": 1}, "source": "lab"},
        {
            "type": "REASONING_ENCRYPTED_VALUE",
            "subtype": "message",
            "entityId": "r1",
            "encryptedValue": "sig",
        },
        {
            "type": "REASONING_ENCRYPTED_VALUE",
            "subtype": "tool-call",
            "entityId": "c1",
            "encryptedValue": "sig",
        },
        {"type": "BRAND_NEW", "x": 1},
    ) == [
        ev.StateReplaced(state={"a": 1}),
        ev.StatePatched(patch=({"op": "remove", "path": "/a"},)),
        ev.StepStarted(step_id="look", name="look"),
        ev.StepFinished(step_id="look"),
        ev.Activity(activity_id="a1", activity_type="COPY", content={"done": 1}),
        ev.Activity(activity_id="a1", activity_type="COPY", patch=()),
        ev.Custom(name="mine"),
        ev.Raw(source="lab", payload={"x": 1}),
        ev.Thought(message_id="r1", signature="sig"),
        ev.Raw(source="agui", payload={"type": "BRAND_NEW", "x": 1}),
    ]


def test_how_a_run_ended_is_kept() -> None:
    translator = AguiTranslator()
    translator.feed({"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "look"})
    translator.feed(
        {
            "type": "RUN_FINISHED",
            "threadId": "t",
            "runId": "r",
            "result": {"stopReason": "max_tokens"},
            "usage": [{"provider": "p", "model": "m", "inputTokens": 3, "outputTokens": 4}],
        }
    )
    assert translator.ending is not None
    assert translator.ending.pending == ("c1",)
    assert translator.ending.stop_reason == "max_tokens"
    assert translator.ending.usage[0].input_tokens == 3
    assert translator.feed({"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "late"}) == []
    translator.feed({"type": "RUN_ERROR", "message": "no", "code": "TIMEOUT"})
    assert translator.ending.error == ev.TurnFailed(code="timeout", message="no")
    translator.feed({"type": "RUN_STARTED", "threadId": "t", "runId": "r2"})
    assert translator.ending is None
