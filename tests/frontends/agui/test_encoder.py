"""What each event becomes, in the order in which a client may hear it."""

from typing import Any, get_args

import pytest
from tests.strategies import event_kinds

from trunkline import content as c
from trunkline import events as ev
from trunkline.conformance.agui.event_verifier import breaches, plain
from trunkline.conformance.agui.reference_client import JsonObject
from trunkline.cursor import Entry
from trunkline.frontends.agui.encoder import AguiEncoder
from trunkline.frontends.agui.losses import LOSSES
from trunkline.frontends.agui.options import AguiOptions
from trunkline.outline import CLIENT_MESSAGE_ID
from trunkline.questions import ClientCall, Form, Permission, default_options

FINISHED = ev.TurnFinished()
PERMISSION = Permission(call_id="c1", options=default_options())


def encoder_of(modern: bool = True, state: Any = None, **options: Any) -> AguiEncoder:
    return AguiEncoder("t1", "r1", AguiOptions(**options), modern=modern, state=state)


def feed(encoder: AguiEncoder, *events: Any) -> list[JsonObject]:
    output = [out for event in events for out in encoder.feed(Entry(1, 0, 1, 2.5, event))]
    return plain(output)


def encode(*events: Any, modern: bool = True, **options: Any) -> list[JsonObject]:
    """Give the run that these events are, without its start; it breaks no rule."""
    encoder = encoder_of(modern, **options)
    output = [*plain(encoder.begin(2.0)), *feed(encoder, *events), *plain(encoder.close())]
    assert breaches(output) == []
    return [{key: value for key, value in event.items() if key != "timestamp"} for event in output[1:]]


def kinds(events: list[JsonObject]) -> list[str]:
    return [event["type"] for event in events]


def text(message_id: str = "m1", delta: str = "x", **fields: Any) -> ev.Text:
    return ev.Text(message_id=message_id, delta=delta, **fields)


def call(call_id: str = "c1", **fields: Any) -> ev.ToolCall:
    return ev.ToolCall(call_id=call_id, name="search", **fields)


def update(call_id: str = "c1", **fields: Any) -> ev.ToolUpdate:
    return ev.ToolUpdate(call_id=call_id, **fields)


# -- everything ------------------------------------------------------------------------------------


def test_every_event_has_a_form_or_a_place_in_the_table_of_losses() -> None:
    handled = set(AguiEncoder._handlers) | {ev.Text}  # pyright: ignore[reportPrivateUsage]
    silent = {ev.Answered, ev.TerminalOutput}

    assert handled | set(LOSSES) == set(event_kinds())
    assert handled & set(LOSSES) == silent
    assert len(get_args(ev.AnyEvent)) == len(event_kinds())


def test_events_have_the_time_of_their_records() -> None:
    encoder = encoder_of()

    assert plain(encoder.begin(2.0))[0]["timestamp"] == 2000
    assert {event["timestamp"] for event in feed(encoder, text(), FINISHED)} == {2500}
    assert "timestamp" not in plain(encoder_of().begin())[0]


def test_a_run_without_a_word_has_a_start_and_an_end() -> None:
    assert encode(ev.TurnStarted(), FINISHED) == [
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1", "outcome": {"type": "success"}}
    ]


def test_a_run_that_is_cut_off_is_closed_and_says_so_once() -> None:
    encoder = encoder_of()
    encoder.begin()
    feed(encoder, text())

    assert kinds(plain(encoder.close())) == ["TEXT_MESSAGE_END", "RUN_ERROR"]
    assert encoder.close() == []


# -- words -----------------------------------------------------------------------------------------


def test_a_text_is_opened_by_its_first_word_and_closed_at_the_end() -> None:
    output = encode(text(delta="a"), text(delta=""), text(delta="b"), FINISHED)

    assert kinds(output) == [
        "TEXT_MESSAGE_START",
        *["TEXT_MESSAGE_CONTENT"] * 3,
        "TEXT_MESSAGE_END",
        "RUN_FINISHED",
    ]
    assert kinds(encode(text(delta=""), FINISHED)) == ["RUN_FINISHED"]


def test_answers_that_come_side_by_side_stay_open_side_by_side() -> None:
    output = encode(text("m1"), text("m2"), text("m1"), text("m2"), FINISHED)

    assert kinds(output).count("TEXT_MESSAGE_START") == 2
    assert kinds(output)[-3:-1] == ["TEXT_MESSAGE_END"] * 2


def test_a_message_whose_call_is_under_way_is_closed_when_the_next_one_begins() -> None:
    output = encode(text("m1"), call(message_id="m1"), update(status="completed"), text("m2"), FINISHED)

    assert kinds(output).index("TEXT_MESSAGE_END") < kinds(output).index("TEXT_MESSAGE_START", 1)


def test_a_message_goes_on_after_its_call() -> None:
    output = encode(text("m1"), call(message_id="m1"), update(status="completed"), text("m1"), FINISHED)

    assert kinds(output).count("TEXT_MESSAGE_START") == 1


def test_the_texts_of_a_step_are_complete_when_it_is() -> None:
    step = ev.StepStarted(step_id="s1", name="think")
    output = encode(step, text("m1"), ev.StepFinished(step_id="s1"), text("m2"), FINISHED)

    assert kinds(output).index("TEXT_MESSAGE_END") < kinds(output).index("TEXT_MESSAGE_START", 3)


@pytest.mark.parametrize("shown", [True, False])
def test_a_message_that_its_step_wrote_ends_with_the_step(shown: bool) -> None:
    output = encode(
        ev.StepStarted(step_id="s1", name="model", kind="model"),
        ev.Thought(message_id="m1", delta="hm"),
        text("m1"),
        call(message_id="m1"),
        ev.Thought(message_id="m1", delta="so"),
        ev.StepFinished(step_id="s1", message_id="m1"),
        update(status="completed"),
        text("m2"),
        FINISHED,
        emit_steps="model" if shown else "none",
    )

    end = kinds(output).index("TEXT_MESSAGE_END")
    assert kinds(output)[end - 2 : end] == ["REASONING_MESSAGE_END", "REASONING_END"]
    assert kinds(output)[end + 1] == ("STEP_FINISHED" if shown else "TOOL_CALL_END")
    assert kinds(output).count("TEXT_MESSAGE_END") == 2


def test_the_meta_of_a_piece_of_text_is_its_metadata() -> None:
    output = encode(text(meta={"k": 1}), text(meta={"k": 2}), FINISHED)
    older = encode(text(meta={"k": 1}), FINISHED, modern=False)

    assert [event.get("metadata") for event in output[1:3]] == [{"k": 1}, {"k": 2}]
    assert "metadata" not in older[1]


def test_reasoning_is_a_span_with_a_message_and_a_seal() -> None:
    output = encode(
        ev.Thought(message_id="m1", delta="hm"),
        ev.Thought(message_id="m1", signature="s1"),
        ev.Thought(message_id="m1", delta="so"),
        text("m1"),
        FINISHED,
    )

    assert [(event["type"], event.get("messageId") or event.get("entityId")) for event in output[:10]] == [
        ("REASONING_START", "m1:reasoning:1"),
        ("REASONING_MESSAGE_START", "m1:reasoning:1"),
        ("REASONING_MESSAGE_CONTENT", "m1:reasoning:1"),
        ("REASONING_ENCRYPTED_VALUE", "m1:reasoning:1"),
        ("REASONING_MESSAGE_END", "m1:reasoning:1"),
        ("REASONING_END", "m1:reasoning:1"),
        ("REASONING_START", "m1:reasoning:2"),
        ("REASONING_MESSAGE_START", "m1:reasoning:2"),
        ("REASONING_MESSAGE_CONTENT", "m1:reasoning:2"),
        ("REASONING_MESSAGE_END", "m1:reasoning:2"),
    ]


def test_reasoning_that_a_provider_hides_has_its_seal_without_a_word() -> None:
    output = encode(ev.Thought(message_id="m1", signature="hidden"), FINISHED)

    assert kinds(output)[:5] == [
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_ENCRYPTED_VALUE",
        "REASONING_MESSAGE_END",
        "REASONING_END",
    ]


@pytest.mark.parametrize("activities", [True, False])
def test_media_and_sources_are_activities_or_named_values(activities: bool) -> None:
    picture = c.ImageBlock(mime_type="image/png", url="https://x")
    output = encode(
        ev.Media(message_id="m1", content=picture),
        ev.Media(message_id="m1", content=c.TerminalBlock(terminal_id="x")),
        ev.Source(message_id="m1", source_id="1", url="https://x"),
        FINISHED,
        emit_activities=activities,
    )

    if activities:
        assert [event.get("activityType") for event in output[:3]] == ["MEDIA", "MEDIA", "SOURCE"]
        assert [event.get("messageId") for event in output[:3]] == ["m1:media:1", "m1:media:2", "m1:1"]
    else:
        assert [event.get("name") for event in output[:3]] == [
            "trunkline.media", "trunkline.media", "trunkline.source",
        ]  # fmt: skip
        assert output[0]["value"]["part"]["type"] == "image"
        assert output[1]["value"]["part"] == {"type": "terminal", "terminal_id": "x"}


# -- calls -----------------------------------------------------------------------------------------


def test_a_call_streams_its_arguments_and_ends_when_it_is_under_way() -> None:
    output = encode(
        text("m1"),
        call(message_id="m1", kind="search", title="Search"),
        ev.ToolInput(call_id="c1", delta='{"a":'),
        ev.ToolInput(call_id="c1", delta=" 1}"),
        update(status="in_progress", input={"a": 1}),
        update(status="completed", raw_output="found", result_message_id="r9"),
        FINISHED,
    )

    assert kinds(output)[2:7] == [
        "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT",
    ]  # fmt: skip
    assert output[2]["parentMessageId"] == "m1"
    assert output[2]["metadata"] == {"trunkline": {"kind": "search", "title": "Search"}}
    assert (output[6]["messageId"], output[6]["content"]) == ("r9", "found")


@pytest.mark.parametrize(
    ("modern", "metadata"), [(True, {"kind": "search", "title": "Find a"}), (False, None)]
)
def test_a_title_that_comes_with_the_arguments_is_sent_with_their_end(modern: bool, metadata: Any) -> None:
    result_renamed = update(title="Find a", kind="search", input={"what": "a"})
    end = encode(call(title="Find"), result_renamed, update(status="completed"), FINISHED, modern=modern)[2]

    assert end["type"] == "TOOL_CALL_END"
    assert end.get("metadata") == (metadata and {"trunkline": metadata})


def test_arguments_that_were_never_streamed_are_sent_whole() -> None:
    output = encode(call(), update(input={"a": 1}), update(status="completed"), FINISHED)

    assert [event.get("delta") for event in output if event["type"] == "TOOL_CALL_ARGS"] == ['{"a":1}']
    output = encode(call(), update(input="raw", status="completed"), FINISHED)
    assert [event.get("delta") for event in output if event["type"] == "TOOL_CALL_ARGS"] == ["raw"]


@pytest.mark.parametrize(
    ("events", "needs_snapshot"),
    [
        ((ev.ToolInput(call_id="c1", delta='{"a": 1}'), update(input={"a": 1}, status="in_progress")), False),
        ((update(input={"a": 1}), update(input={"a": 1})), False),
        ((update(input={"a": 1}), update(input={"a": 2}, status="in_progress")), True),
        ((ev.ToolInput(call_id="c1", delta='{"a": 1}'), update(input={"a": 2})), True),
        ((update(input={"a": 1}), ev.ToolInput(call_id="c1", delta="more")), True),
    ],
)
def test_arguments_that_change_after_they_were_sent_need_a_snapshot(
    events: Any, needs_snapshot: bool
) -> None:
    encoder = encoder_of()
    feed(encoder, call(), *events)

    assert encoder.needs_snapshot is needs_snapshot


@pytest.mark.parametrize(
    ("later", "needs_snapshot"),
    [
        ({"raw_output": "another"}, True),
        ({"status": "failed", "reason": "no"}, True),
        ({"status": "completed", "raw_output": "done"}, False),
        ({"title": "Searched"}, False),
    ],
)
def test_a_result_that_changes_after_it_was_sent_needs_a_snapshot(later: Any, needs_snapshot: bool) -> None:
    encoder = encoder_of()
    feed(encoder, call(), update(status="completed", raw_output="done"), update(**later))

    assert encoder.needs_snapshot is needs_snapshot


def test_a_call_is_announced_and_answered_once() -> None:
    output = encode(call(), call(), update(status="completed"), update(status="completed"), FINISHED)

    assert kinds(output) == ["TOOL_CALL_START", "TOOL_CALL_END", "TOOL_CALL_RESULT", "RUN_FINISHED"]


def test_a_call_that_was_not_announced_in_this_turn_has_its_result() -> None:
    assert kinds(encode(ev.ToolInput(call_id="c1", delta="x"), update(status="completed"), FINISHED)) == [
        "TOOL_CALL_RESULT",
        "RUN_FINISHED",
    ]


def test_results_can_be_left_out_and_are_cut_where_they_are_long() -> None:
    events = (call(), update(status="completed", raw_output="x" * 99), FINISHED)

    assert "TOOL_CALL_RESULT" not in kinds(encode(*events, emit_tool_results=False))
    cut = encode(*events, max_ui_payload_size=10)[2]
    assert cut["content"] == "x" * 10 + "\n[cut here: 99 bytes in all]"
    assert cut["metadata"]["trunkline"]["bytes"] == 99


def test_what_a_call_prints_is_an_activity_where_those_are_wanted() -> None:
    events = (call(), update(output="a"), update(output="b"), update(status="completed"), FINISHED)

    output = encode(*events, emit_activities=True)
    assert [event["content"]["output"] for event in output if event["type"] == "ACTIVITY_SNAPSHOT"] == [
        "a",
        "ab",
    ]
    assert "ACTIVITY_SNAPSHOT" not in kinds(encode(*events))
    assert encode(*events)[2]["content"] == "ab"


@pytest.mark.parametrize("status", ["denied", "failed"])
def test_a_result_that_is_known_before_its_message_waits_for_the_name_of_it(status: Any) -> None:
    encoder = encoder_of()
    output = feed(
        encoder,
        text("m1"),
        call(message_id="m1"),
        call("c2", message_id="m1"),
        update(status=status, reason="no"),
        update("c2", status="completed"),
        update(result_message_id="r1"),
        text("m2"),
        FINISHED,
    )

    results = [event["messageId"] for event in output if event["type"] == "TOOL_CALL_RESULT"]
    assert results == ["c2:result", "r1"]
    assert not encoder.result_renamed


@pytest.mark.parametrize(
    "event",
    [
        text("m1"),
        text("m2"),
        ev.Thought(message_id="m2", delta="hm"),
        call("c2"),
        ev.TurnFinished(stop_reason="cancelled"),
        ev.TurnFailed(code="x", message="y"),
    ],
)
def test_a_result_whose_message_never_comes_is_sent_before_anything_else_is(event: Any) -> None:
    output = encode(text("m1"), call(message_id="m1"), update(status="denied", reason="no"), event)

    (at,) = [number for number, one in enumerate(output) if one["type"] == "TOOL_CALL_RESULT"]
    assert output[at]["messageId"] == "c1:result"
    assert kinds(output)[at - 1] == "TOOL_CALL_END"


def test_the_result_of_a_subagent_is_sent_before_that_ends_and_no_other_lane_hurries_it() -> None:
    output = encode(
        started("l1"),
        call(lane="l1"),
        update(lane="l1", status="denied"),
        text("m1"),
        ev.SubagentFinished(lane="l1"),
        FINISHED,
    )

    places = [
        kinds(output).index(kind) for kind in ("TEXT_MESSAGE_START", "TOOL_CALL_RESULT", "SUBAGENT_FINISHED")
    ]
    assert places == sorted(places)


def test_a_name_that_comes_after_its_result_needs_the_client_to_begin_anew() -> None:
    encoder = encoder_of()
    feed(encoder, call(), update(status="completed"), update(result_message_id="c1:result"))
    assert not encoder.result_renamed
    feed(encoder, update(result_message_id="r1"))

    assert encoder.result_renamed


def test_a_terminals_output_is_the_result_of_its_call() -> None:
    output = encode(
        call(),
        ev.TerminalOutput(terminal_id="x", data="a"),
        ev.TerminalOutput(terminal_id="x", data="b", exited=True),
        update(status="completed", content=(c.TerminalBlock(terminal_id="x"),)),
        FINISHED,
    )

    assert output[2]["content"] == "ab"


# -- asking ----------------------------------------------------------------------------------------


def asked(question: Any, question_id: str = "q1", **fields: Any) -> ev.Asked:
    return ev.Asked(question_id=question_id, question=question, **fields)


def test_a_suspended_turn_is_an_interrupt_for_each_question() -> None:
    *_, end = encode(
        call(), asked(PERMISSION), asked(Form(fields={}), "q2"), ev.TurnSuspended(question_ids=("q1", "q2"))
    )

    assert end["outcome"]["type"] == "interrupt"
    assert [one["id"] for one in end["outcome"]["interrupts"]] == ["q1", "q2"]


@pytest.mark.parametrize(
    ("modern", "outcome"), [(True, {"type": "success", "pendingToolCallIds": ["c1", "c2"]}), (False, None)]
)
def test_tools_of_the_front_end_are_pending_in_the_order_of_their_calls(modern: bool, outcome: Any) -> None:
    output = encode(
        call("c1"),
        call("c2"),
        asked(ClientCall(call_id="c1", input={"a": 1})),
        asked(ClientCall(call_id="c2"), "q2"),
        ev.TurnSuspended(question_ids=("q1", "q2")),
        modern=modern,
    )

    assert output[-1].get("outcome") == outcome
    assert [event["delta"] for event in output if event["type"] == "TOOL_CALL_ARGS"] == ['{"a":1}']


def test_a_question_that_is_settled_is_no_interrupt() -> None:
    *_, end = encode(
        asked(PERMISSION),
        asked(Form(fields={}), "q2"),
        ev.Answered(question_id="q1", outcome="declined"),
        ev.Answered(question_id="unheard", outcome="declined"),
        ev.TurnSuspended(question_ids=("q1", "q2")),
    )

    assert [one["id"] for one in end["outcome"]["interrupts"]] == ["q2"]


@pytest.mark.parametrize(
    ("meta", "results"), [({CLIENT_MESSAGE_ID: "mine"}, 0), (None, 1)], ids=["brought", "not brought"]
)
def test_a_result_that_the_client_sent_is_not_sent_back(meta: Any, results: int) -> None:
    output = encode(
        call(),
        asked(ClientCall(call_id="c1")),
        ev.Answered(question_id="q1", outcome="accepted", content="x", meta=meta),
        update(status="completed", raw_output="x"),
        FINISHED,
    )

    assert kinds(output).count("TOOL_CALL_RESULT") == results


def test_a_client_call_that_was_not_announced_is_no_trouble() -> None:
    assert encode(asked(ClientCall(call_id="c9")), FINISHED)[-1]["outcome"] == {"type": "success"}


# -- subagents -------------------------------------------------------------------------------------


def started(lane: str, **fields: Any) -> ev.SubagentStarted:
    return ev.SubagentStarted(lane=lane, name=lane.upper(), **fields)


def test_a_subagent_begins_speaks_and_ends_in_its_own_name() -> None:
    output = encode(
        started("l1", parent_call_id="c1", description="helps"),
        text("m1", lane="l1"),
        ev.SubagentFinished(lane="l1", result=330),
        FINISHED,
    )

    assert output[0] == {
        "type": "SUBAGENT_STARTED",
        "subagentRunId": "l1",
        "name": "L1",
        "description": "helps",
        "parentToolCallId": "c1",
    }
    assert all(event["subagentRunId"] == "l1" for event in output[:-1])
    assert output[-2]["outcome"] == {"type": "success"}
    assert output[-2]["result"] == 330


@pytest.mark.parametrize(("outcome", "message"), [("failed", "it broke"), ("cancelled", None)])
def test_a_subagent_that_failed_says_why(outcome: Any, message: str | None) -> None:
    output = encode(started("l1"), ev.SubagentFinished(lane="l1", outcome=outcome, message=message), FINISHED)

    assert output[1]["type"] == "SUBAGENT_ERROR"
    assert output[1]["message"] == (message or f"the subagent {outcome}")
    assert output[1]["code"] == outcome.upper()


def test_an_older_client_gets_no_subagents() -> None:
    output = encode(
        started("l1"),
        text(lane="l1"),
        call(lane="l1"),
        ev.SubagentFinished(lane="l1"),
        FINISHED,
        modern=False,
    )

    assert kinds(output) == ["RUN_FINISHED"]


def test_an_older_client_gets_what_a_subagent_asks_and_changes() -> None:
    output = encode(
        started("l1"),
        ev.StateReplaced(lane="l1", state={"a": 1}),
        ev.StatePatched(lane="l1", patch=({"op": "add", "path": "/b", "value": 2},)),
        call(lane="l1"),
        asked(Form(fields={}), "q0", lane="l1"),
        ev.Answered(question_id="q0", outcome="declined", lane="l1"),
        asked(PERMISSION, lane="l1"),
        ev.TurnSuspended(question_ids=("q0", "q1")),
        modern=False,
    )

    assert kinds(output) == ["STATE_SNAPSHOT", "STATE_DELTA", "RUN_FINISHED"]
    assert [one["id"] for one in output[-1]["outcome"]["interrupts"]] == ["q1"]
    assert "subagentRunId" not in output[-1]["outcome"]["interrupts"][0]


def test_a_subagent_that_waits_is_suspended_for_its_questions_and_goes_on_below_its_parent() -> None:
    turn = [
        started("l1"),
        started("l2", parent_lane="l1"),
        started("l3"),
        text("m2", lane="l2"),
        asked(Form(fields={}), lane="l2"),
        ev.TurnSuspended(question_ids=("q1",)),
    ]
    first = encode(*turn)
    ends = {e["subagentRunId"]: e["outcome"] for e in first if e["type"] == "SUBAGENT_FINISHED"}
    assert ends == {
        "l1": {"type": "suspended", "interruptIds": ["q1"]},
        "l2": {"type": "suspended", "interruptIds": ["q1"]},
        "l3": {"type": "suspended"},
    }
    encoder = encoder_of()
    feed(encoder, *turn)
    second = plain(encoder.begin(3.0)) + feed(
        encoder,
        text("m2", lane="l2"),
        ev.SubagentFinished(lane="l2"),
        ev.SubagentFinished(lane="l1"),
        ev.SubagentFinished(lane="l3"),
        FINISHED,
    )

    assert breaches(second) == []
    starts = [event for event in second if event["type"] == "SUBAGENT_STARTED"]
    assert [(one["subagentRunId"], one.get("parentSubagentRunId")) for one in starts] == [
        ("l1", None),
        ("l2", "l1"),
        ("l3", None),
    ]


def test_a_subagent_below_one_that_ended_names_it_only_in_the_same_run() -> None:
    ended = (started("l1"), ev.SubagentFinished(lane="l1"))
    below = (started("l2", parent_lane="l1"), ev.SubagentFinished(lane="l2"))
    encoder = encoder_of()
    feed(encoder, *ended, asked(Form(fields={})), ev.TurnSuspended(question_ids=("q1",)))

    (first,) = [e for e in encode(*ended, *below, FINISHED) if e.get("name") == "L2"]
    (second,) = [e for e in feed(encoder, *below) if e.get("name") == "L2"]
    assert first["parentSubagentRunId"] == "l1"
    assert "parentSubagentRunId" not in second


def test_a_subagent_that_ended_is_not_ended_again() -> None:
    output = encode(started("l1"), ev.SubagentFinished(lane="l1"), ev.SubagentFinished(lane="l1"), FINISHED)

    assert kinds(output) == ["SUBAGENT_STARTED", "SUBAGENT_FINISHED", "RUN_FINISHED"]


def test_a_subagent_that_was_not_announced_is_announced() -> None:
    assert encode(text(lane="l9"), FINISHED)[0]["name"] == "l9"


# -- the end ---------------------------------------------------------------------------------------


def test_everything_is_closed_in_order_before_the_end() -> None:
    output = encode(
        ev.StepStarted(step_id="s1"),
        ev.Thought(message_id="m1", delta="hm"),
        text("m2"),
        call(message_id="m3"),
        started("l1"),
        ev.StepStarted(step_id="s2", lane="l1"),
        text("m4", lane="l1"),
        ev.TurnFailed(code="timeout", message="too slow"),
    )

    assert kinds(output)[-9:] == [
        "TEXT_MESSAGE_END",
        "STEP_FINISHED",
        "SUBAGENT_ERROR",
        "REASONING_MESSAGE_END",
        "REASONING_END",
        "TEXT_MESSAGE_END",
        "TOOL_CALL_END",
        "STEP_FINISHED",
        "RUN_ERROR",
    ]
    assert (output[-1]["code"], output[-1]["message"]) == ("TIMEOUT", "too slow")


@pytest.mark.parametrize(
    ("reason", "modern", "outcome", "result"),
    [
        ("end_turn", True, {"type": "success"}, None),
        ("max_tokens", True, {"type": "success"}, {"stopReason": "max_tokens"}),
        ("cancelled", True, {"type": "cancelled"}, None),
        ("cancelled", False, None, {"stopReason": "cancelled"}),
        ("refusal", False, {"type": "success"}, {"stopReason": "refusal"}),
    ],
)
def test_a_run_ends_as_its_turn_did(reason: Any, modern: bool, outcome: Any, result: Any) -> None:
    (end,) = encode(ev.TurnFinished(stop_reason=reason), modern=modern)

    assert (end.get("outcome"), end.get("result")) == (outcome, result)


def test_usage_is_sent_for_each_model() -> None:
    spent = (
        ev.TokenUsage(provider="a", model="x", input_tokens=1, output_tokens=2, reasoning_tokens=3),
        ev.TokenUsage(model="y", cached_input_tokens=4, cache_write_tokens=5),
    )
    (end,) = encode(ev.TurnFinished(usage=spent))
    (failed,) = encode(ev.TurnFailed(code="x", message="y", usage=spent))
    (older,) = encode(ev.TurnFinished(usage=spent), modern=False)

    assert end["usage"] == failed["usage"]
    assert end["usage"][0] == {
        "provider": "a",
        "model": "x",
        "inputTokens": 1,
        "outputTokens": 2,
        "totalTokens": 3,
        "reasoningTokens": 3,
    }
    assert end["usage"][1]["cachedInputTokens"] == 4
    assert end["usage"][1]["cacheWriteInputTokens"] == 5
    assert "usage" not in older


# -- work ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shown", "names"), [("model", ["own", "m"]), ("node", ["own", "n"]), ("none", [])])
def test_steps_of_a_framework_are_shown_as_they_are_wanted(shown: Any, names: list[str]) -> None:
    output = encode(
        ev.StepStarted(step_id="s1", name="own"),
        ev.StepStarted(step_id="s2", name="n", kind="node"),
        ev.StepStarted(step_id="s3", name="m", kind="model"),
        FINISHED,
        emit_steps=shown,
    )

    assert [event["stepName"] for event in output if event["type"] == "STEP_STARTED"] == names
    assert [event["stepName"] for event in output if event["type"] == "STEP_FINISHED"] == names


@pytest.mark.parametrize("lane", [None, "l1"])
def test_two_steps_of_one_name_are_kept_apart(lane: str | None) -> None:
    output = encode(
        ev.SubagentStarted(lane="l1"),
        ev.StepStarted(step_id="s1", name="think"),
        ev.StepStarted(step_id="s2", name="think", lane=lane),
        ev.StepFinished(step_id="s1"),
        ev.StepFinished(step_id="s2", lane=lane),
        ev.StepFinished(step_id="s2", lane=lane),
        ev.StepFinished(step_id="s3", lane="nowhere"),
        FINISHED,
    )

    assert [event["stepName"] for event in output if "stepName" in event] == [
        "think",
        "think (2)",
        "think",
        "think (2)",
    ]


def test_a_plan_is_an_activity_or_a_named_value() -> None:
    plan = ev.Plan(turn_id="t1", entries=(ev.PlanEntry(content="read"),))
    entry = {"content": "read", "status": "pending", "priority": "medium"}

    (shown, _) = encode(plan, FINISHED, emit_activities=True)
    assert (shown["messageId"], shown["activityType"]) == ("t1:plan", "PLAN")
    assert shown["content"] == {"entries": [entry]}
    (named, _) = encode(plan, FINISHED)
    assert (named["name"], named["value"]) == ("trunkline.plan", {"entries": [entry]})


def test_activities_are_shown_and_changed_where_they_are_wanted() -> None:
    change = {"op": "replace", "path": "/done", "value": 1}
    events = (
        ev.Activity(activity_id="v1", activity_type="progress", content={"done": 0}),
        ev.Activity(activity_id="v1", activity_type="progress", patch=(change,)),
        ev.Activity(activity_id="v2", activity_type="progress"),
        FINISHED,
    )

    assert kinds(encode(*events)) == ["RUN_FINISHED"]
    output = encode(*events, emit_activities=True)
    assert kinds(output)[:3] == ["ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "ACTIVITY_SNAPSHOT"]
    assert output[2]["content"] == {}


def test_a_raw_event_is_sent_raw_only_where_it_is_wanted() -> None:
    raw = ev.Raw(source="acp", payload={"a": 1})

    assert kinds(encode(raw, FINISHED)) == ["RUN_FINISHED"]
    assert kinds(encode(ev.Raw(source=ev.APPLICATION, payload=1), FINISHED)) == ["RAW", "RUN_FINISHED"]
    assert encode(raw, FINISHED, emit_raw=True)[0] == {"type": "RAW", "event": {"a": 1}, "source": "acp"}


@pytest.mark.parametrize(
    ("event", "name"),
    [
        (ev.Custom(name="my.thing", value=None), "my.thing"),
        (ev.Notice(title="T"), "trunkline.notice"),
        (ev.Compaction(compaction_id="k", status="completed"), "trunkline.compaction"),
        (ev.ContextUsage(used=1, size=2), "trunkline.usage"),
        (ev.ConfigChanged(), "trunkline.config"),
        (ev.CommandsChanged(), "trunkline.commands"),
        (ev.InfoChanged(title="T"), "trunkline.info"),
    ],
)
def test_what_has_no_event_of_its_own_has_a_name(event: Any, name: str) -> None:
    output = encode(event, FINISHED)[0]

    assert (output["type"], output["name"]) == ("CUSTOM", name)
    assert "value" in output


@pytest.mark.parametrize(
    "event",
    [
        ev.TurnStarted(),
        ev.TurnResumed(),
        ev.UserMessage(message_id="u1"),
        ev.PromptQueued(prompt_id="p"),
        ev.PromptDropped(prompt_id="p"),
        ev.Rewound(),
        ev.RunOpened(run_id="r", front_end="agui", from_seq=1),
        ev.RunClosed(run_id="r", to_seq=1),
    ],
)
def test_what_a_client_knows_or_cannot_know_is_not_sent(event: Any) -> None:
    assert kinds(encode(event, FINISHED)) == ["RUN_FINISHED"]
