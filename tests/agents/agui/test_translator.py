from typing import Any

import pytest

from trunkline import events as ev
from trunkline.agents.agui.translator import AguiTranslator
from trunkline.conversation import ThoughtPart
from trunkline.errors import AgentProtocolError
from trunkline.folding import fold


def translated(
    *events: dict[str, Any], known: frozenset[str] = frozenset(), **options: Any
) -> list[ev.AnyEvent]:
    translator = AguiTranslator([{"id": name, "role": "assistant"} for name in known], **options)
    return [output for event in events for output in translator.feed(event)] + translator.close()


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
    assert translated(*text("m1", "Hel", "", "lo")) == [
        ev.Text(message_id="m1", delta="Hel"),
        ev.Text(message_id="m1", delta="lo"),
    ]


def test_reasoning_of_a_server_of_before_1_0_gets_a_name_in_its_run() -> None:
    thinks = [
        {"type": "THINKING_START"},
        {"type": "THINKING_TEXT_MESSAGE_START"},
        {"type": "THINKING_TEXT_MESSAGE_CONTENT", "delta": "Hm"},
        {"type": "THINKING_TEXT_MESSAGE_CONTENT", "delta": "m."},
        {"type": "THINKING_TEXT_MESSAGE_END"},
        {"type": "THINKING_END"},
    ]
    started = {"type": "RUN_STARTED", "threadId": "t", "runId": "r1"}
    folded = fold(translated(started, *thinks, *text("m1", "So."), *thinks))

    assert [message.message_id for message in folded.messages] == ["r1:thinking:1", "m1", "r1:thinking:2"]
    assert folded.messages[0].parts == [ThoughtPart(part_id="r1:thinking:1:0", text="Hmm.")]
    assert folded.raws == []


def test_a_server_of_ours_tells_the_title_of_a_call_with_its_arguments() -> None:
    about = {"metadata": {"trunkline": {"kind": "search", "title": "Find a"}}}
    start = {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "find"}
    (call,) = fold(translated(start, {"type": "TOOL_CALL_END", "toolCallId": "c1", **about})).calls.values()

    assert (call.title, call.kind) == ("Find a", "search")


@pytest.mark.parametrize("role", ["user", "system", "developer"])
def test_messages_that_are_not_the_agents_are_passed_over(role: str) -> None:
    assert translated(*text("m1", "secret", role=role)) == []
    assert (
        translated({"type": "TEXT_MESSAGE_CHUNK", "messageId": "m1", "role": role, "delta": "secret"}) == []
    )


def test_a_message_of_an_earlier_turn_is_not_said_again() -> None:
    assert translated(*text("m1", "again"), known=frozenset({"m1"})) == []


def test_chunks_go_on_with_the_one_before() -> None:
    assert translated(
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
        translated({"type": "TEXT_MESSAGE_CHUNK", "delta": "b"})


def test_a_call_with_arguments_and_result_folds_to_what_happened() -> None:
    folded = fold(
        [
            ev.TurnStarted(turn_id="t"),
            *translated(
                {**start(), "parentMessageId": "m1"},
                {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": '{"a"'},
                {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": ": 1}"},
                end(),
                {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1", "content": "found"},
                {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1", "content": "twice"},
            ),
        ]
    )
    call = folded.calls["c1"]
    assert (call.name, call.input, call.status, call.raw_output) == ("look", {"a": 1}, "completed", "found")
    assert call.result_message_id == "x1"


def test_arguments_that_are_no_json_stay_text() -> None:
    output = translated(start(), {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "oops"}, end())
    assert output[-1] == ev.ToolUpdate(call_id="c1")


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
    output = translated(*text("m1", "streamed"), {"type": "MESSAGES_SNAPSHOT", "messages": messages})
    assert [event.delta for event in output if isinstance(event, ev.Text)] == ["streamed", "late"]
    assert [event.delta for event in output if isinstance(event, ev.Thought)] == ["hm"]
    assert isinstance(output[-1], ev.ToolUpdate)
    assert (output[-1].status, output[-1].reason) == ("failed", "gone")


def test_subagents_keep_their_lanes_and_a_suspended_one_stays_open() -> None:
    started = {"type": "SUBAGENT_STARTED", "subagentRunId": "s1", "name": "scout", "parentToolCallId": "c1"}
    output = translated(
        started,
        {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m1", "delta": "a", "subagentRunId": "s1"},
        {"type": "SUBAGENT_FINISHED", "subagentRunId": "s1", "outcome": {"type": "suspended"}},
        started,
        {"type": "SUBAGENT_ERROR", "subagentRunId": "s1", "message": "lost"},
    )
    assert output == [
        ev.SubagentStarted(lane="s1", name="scout", parent_call_id="c1"),
        ev.Text(lane="s1", message_id="m1", delta="a"),
        ev.SubagentFinished(lane="s1", outcome="failed", message="lost"),
    ]


def test_state_steps_activities_and_the_rest_are_carried_over() -> None:
    assert translated(
        {"type": "STATE_SNAPSHOT", "snapshot": {"a": 1}},
        {"type": "STATE_DELTA", "delta": [{"op": "remove", "path": "/a"}]},
        {"type": "STEP_STARTED", "stepName": "look"},
        {"type": "STEP_FINISHED", "stepName": "look"},
        {"type": "ACTIVITY_SNAPSHOT", "messageId": "a1", "activityType": "COPY", "content": {"done": 1}},
        {"type": "ACTIVITY_DELTA", "messageId": "a1", "activityType": "COPY", "patch": []},
        {"type": "CUSTOM", "name": "mine", "value": None},
        {"type": "CUSTOM", "name": "trunkline.commands", "value": {}},
        {"type": "RAW", "event": {"x": 1}, "source": "lab"},
        sealed("message", "r1"),
        sealed("tool-call", "c1"),
        {"type": "BRAND_NEW", "x": 1},
        raw=True,
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
    translator.feed(start())
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


def test_what_a_server_of_ours_adds_is_what_it_was() -> None:
    part = {"type": "image", "source": {"type": "url", "value": "https://x/a.png", "mimeType": "image/png"}}
    source = {"source_id": "s1", "message_id": "m1", "url": "https://x"}
    output = translated(
        {"type": "CUSTOM", "name": "trunkline.plan", "value": {"entries": [{"content": "look"}]}},
        {"type": "CUSTOM", "name": "trunkline.notice", "value": {"title": "Careful"}},
        {"type": "CUSTOM", "name": "trunkline.source", "value": source},
        {"type": "CUSTOM", "name": "trunkline.media", "value": {"messageId": "m1", "part": part}},
    )
    assert [type(event) for event in output] == [ev.Plan, ev.Notice, ev.Source, ev.Media]


def test_reasoning_of_an_earlier_turn_is_not_said_again() -> None:
    again = {"type": "REASONING_MESSAGE_CONTENT", "messageId": "r1", "delta": "hm"}
    assert translated(again, known=frozenset({"r1"})) == []


def test_raw_events_are_left_out_unless_they_are_wanted() -> None:
    assert translated({"type": "RAW", "event": {"x": 1}}) == []


def start(call_id: str = "c1", name: str = "look") -> dict[str, Any]:
    return {"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": name}


def end(call_id: str = "c1") -> dict[str, Any]:
    return {"type": "TOOL_CALL_END", "toolCallId": call_id}


def result(message_id: str, content: Any, call_id: str = "c1", **fields: Any) -> dict[str, Any]:
    output = {"type": "TOOL_CALL_RESULT", "messageId": message_id, "toolCallId": call_id}
    return {**output, "content": content, **fields}


def assistant(arguments: str) -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": arguments}}
    return {"id": "m1", "role": "assistant", "content": "", "toolCalls": [call]}


def test_arguments_that_the_stream_left_out_come_from_the_state_or_from_the_snapshot() -> None:
    message = {"type": "ai", "content": "", "tool_calls": [{"id": "c1", "name": "look", "args": {"a": 1}}]}
    output = ev.ToolUpdate(call_id="c1", input={"a": 1})
    state = {"type": "STATE_SNAPSHOT", "snapshot": {"messages": [message], "visits": 1}}
    snapshot = {"type": "MESSAGES_SNAPSHOT", "messages": [assistant('{"a": 1}')]}
    assert translated(start(), end(), state, snapshot)[1:] == [output, ev.StateReplaced(state={"visits": 1})]
    assert translated(start(), end(), snapshot, state)[1:] == [output, ev.StateReplaced(state={"visits": 1})]


def test_a_call_without_arguments_has_an_empty_input_once_it_matters() -> None:
    empty = ev.ToolUpdate(call_id="c1", input={})
    assert translated(start(), end()) == [ev.ToolCall(call_id="c1", name="look", native_id="c1")]
    assert translated(start(), end(), {"type": "RUN_FINISHED"})[1:] == [empty]
    assert translated(start(), end(), result("x1", "done"))[1] == empty


def test_a_call_that_is_said_again_after_an_interrupt_is_one_call() -> None:
    arguments = {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": '{"a": 1}'}
    whole = [start(), arguments, end()]
    assert translated(*whole, {"type": "RUN_STARTED"}, *whole) == translated(*whole)


def test_a_result_takes_the_id_that_the_server_keeps_it_under() -> None:
    kept = {"id": "x9", "role": "tool", "toolCallId": "c1", "content": "done"}
    snapshot = {"type": "MESSAGES_SNAPSHOT", "messages": [kept]}
    output = translated(start(), result("c1", "done"), snapshot, snapshot)
    assert output[3:] == [ev.ToolUpdate(call_id="c1", result_message_id="x9")]


def test_a_result_that_is_nothing_or_only_the_reason_has_no_content() -> None:
    failed = {"trunkline": {"status": "failed", "error": "gone"}}
    *_, nothing = translated(start(), result("x1", ""))
    *_, reason = translated(start(), result("x1", "gone", metadata=failed))
    assert nothing == ev.ToolUpdate(call_id="c1", status="completed", result_message_id="x1")
    assert reason == ev.ToolUpdate(call_id="c1", status="failed", reason="gone", result_message_id="x1")


def test_a_result_without_a_call_is_sent_as_it_came() -> None:
    (output,) = translated(result("x1", "done", "c7"))
    assert isinstance(output, ev.ToolUpdate)
    assert (output.call_id, output.raw_output) == ("c7", "done")


def test_patches_begin_with_an_empty_state_and_leave_the_conversation_out() -> None:
    add: dict[str, Any] = {"op": "add", "path": "/visits", "value": 1}
    again: dict[str, Any] = {"op": "add", "path": "/messages/0", "value": {}}
    state = {"type": "STATE_SNAPSHOT", "snapshot": {"messages": [{"type": "human", "content": "hi"}]}}
    delta = {"type": "STATE_DELTA", "delta": [add, again]}
    assert translated({"type": "STATE_DELTA", "delta": [add]}) == [
        ev.StateReplaced(state={}),
        ev.StatePatched(patch=(add,)),
    ]
    assert translated(delta, stateful=True) == [ev.StatePatched(patch=(add, again))]
    assert translated(state, delta) == [ev.StateReplaced(state={}), ev.StatePatched(patch=(add,))]


def test_messages_that_are_no_conversation_stay_in_the_state() -> None:
    for state in ({"messages": ["hi"]}, {"messages": [{"type": "letter"}]}, {"messages": 7}, ["messages"], 7):
        assert translated({"type": "STATE_SNAPSHOT", "snapshot": state}) == [ev.StateReplaced(state=state)]


def test_an_interrupt_that_is_only_a_custom_event_ends_the_run_as_one() -> None:
    output = {"type": "CUSTOM", "name": "on_interrupt", "value": "Why?", "rawEvent": {"id": "i1"}}
    translator = AguiTranslator()
    assert translator.feed(output) == []
    translator.feed({"type": "RUN_FINISHED"})
    assert translator.ending is not None
    assert translator.ending.as_custom
    assert [(item["id"], item["message"]) for item in translator.ending.interrupts] == [("i1", "Why?")]
    translator.feed({"type": "RUN_STARTED"})
    translator.feed(output)
    outcome = {"type": "interrupt", "interrupts": [{"id": "i1", "reason": "x"}]}
    translator.feed({"type": "RUN_FINISHED", "outcome": outcome})
    assert translator.ending.interrupts == ({"id": "i1", "reason": "x"},)
    assert not translator.ending.as_custom


def test_what_was_said_before_a_restart_is_not_said_again() -> None:
    before = AguiTranslator()
    earlier = [
        outputs
        for event in (
            *text("m0", "Well."),
            {"type": "SUBAGENT_STARTED", "subagentRunId": "s1", "name": "scout"},
            start("c1"),
            {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{}"},
            end("c1"),
            start("c2"),
            result("x2", "done", "c2"),
        )
        for outputs in before.feed(event)
    ]
    after = AguiTranslator()
    after.recall(fold([ev.TurnStarted(turn_id="t"), *earlier]))
    messages = [
        {"id": "m0", "role": "assistant", "content": "Well."},
        assistant("{}"),
        {"id": "x2", "role": "tool", "toolCallId": "c2", "content": "done"},
    ]
    again = (
        {"type": "SUBAGENT_STARTED", "subagentRunId": "s1", "name": "scout"},
        {"type": "MESSAGES_SNAPSHOT", "messages": messages},
        start("c1"),
        result("x1", "done", "c1"),
    )
    output = [outputs for event in again for outputs in after.feed(event)]
    assert [(type(one), one.call_id) for one in output if isinstance(one, ev.ToolUpdate)] == [
        (ev.ToolUpdate, "c1")
    ]
    assert len(output) == 1
