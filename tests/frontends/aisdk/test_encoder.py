"""A turn as one assistant message: its start, its end, its questions, and what is shown beside it."""

from typing import Any, get_args

import pytest
from tests.frontends.aisdk.responses import as_entries, chunks_of, kinds, only

from trunkline import events as ev
from trunkline.content import TextBlock
from trunkline.cursor import Entry
from trunkline.frontends.aisdk.encoder import AisdkEncoder
from trunkline.frontends.aisdk.lane_encoder import LaneEncoder
from trunkline.frontends.aisdk.losses import LOSSES, OWN_DATA, TRANSIENT
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.questions import ClientCall, Form, Link, Permission, default_options

ASKED = ev.Asked(
    question_id="q1", question=Permission(call_id="c1", message="Write it?", options=default_options())
)
CALL = ev.ToolCall(call_id="c1", name="write")
YES = ev.Answered(question_id="q1", outcome="selected", option_id="allow_once", option_kind="allow_once")
NO = ev.Answered(question_id="q1", outcome="selected", option_id="reject_once", reason="not now")


def test_a_response_starts_with_the_turns_id_and_what_else_is_told() -> None:
    encoder = AisdkEncoder("t1", metadata={"agent": "demo"})

    assert encoder.begin(1.0) == [
        {"type": "start", "messageId": "t1", "messageMetadata": {"turnId": "t1", "agent": "demo"}}
    ]


def test_a_plain_turn_is_one_step_with_one_text() -> None:
    chunks = chunks_of(
        ev.TurnStarted(turn_id="t1"),
        ev.Text(message_id="m1", delta="Hello "),
        ev.Text(message_id="m1", delta="you."),
        ev.TurnFinished(usage=(ev.TokenUsage(model="m", input_tokens=3, output_tokens=4),)),
    )

    assert chunks == [
        {"type": "start-step"},
        {"type": "text-start", "id": "m1:0"},
        {"type": "text-delta", "id": "m1:0", "delta": "Hello "},
        {"type": "text-delta", "id": "m1:0", "delta": "you."},
        {"type": "text-end", "id": "m1:0"},
        {"type": "finish-step"},
        {
            "type": "finish",
            "finishReason": "stop",
            "messageMetadata": {
                "stopReason": "end_turn",
                "usage": {"inputTokens": 3, "outputTokens": 4, "totalTokens": 7},
                "usageByModel": [{"model": "m", "inputTokens": 3, "outputTokens": 4, "totalTokens": 7}],
            },
        },
    ]


@pytest.mark.parametrize(
    ("stop_reason", "finish_reason"),
    [("end_turn", "stop"), ("max_tokens", "length"), ("max_turn_requests", "other"), ("odd", "other"),
     ("refusal", "content-filter")],
)  # fmt: skip
def test_a_stop_reason_is_a_finish_reason_and_stays_in_the_metadata(
    stop_reason: Any, finish_reason: str
) -> None:
    (finish,) = chunks_of(ev.TurnFinished(stop_reason=stop_reason))

    assert finish["finishReason"] == finish_reason
    assert finish["messageMetadata"] == {"stopReason": stop_reason}


@pytest.mark.parametrize(("version", "reason"), [(5, "other"), (6, "other"), (7, "interrupted")])
def test_a_cancelled_turn_is_aborted_and_finishes(version: Any, reason: str) -> None:
    chunks = chunks_of(
        ev.Text(message_id="m1", delta="so"), ev.TurnFinished(stop_reason="cancelled"), version=version
    )

    assert kinds(chunks)[-3:] == ["text-end", "abort", "finish"]
    assert chunks[-1]["finishReason"] == reason
    assert chunks[-1]["messageMetadata"] == {"stopReason": "cancelled"}


def test_an_error_comes_after_everything_is_closed() -> None:
    chunks = chunks_of(
        ev.TurnStarted(turn_id="t1"),
        CALL,
        ev.Text(message_id="m1", delta="so"),
        ev.TurnFailed(code="broken", message="it broke"),
    )

    assert kinds(chunks)[-5:] == [
        "tool-input-available", "tool-output-error", "finish-step", "message-metadata", "error"
    ]  # fmt: skip
    assert chunks[-2]["messageMetadata"] == {"stopReason": "error", "error": {"code": "broken"}}
    assert chunks[-1]["errorText"] == "it broke"


@pytest.mark.parametrize(
    ("level", "text", "error"),
    [
        ("full", "/etc/secret is gone", {"code": "broken", "fault": "agent"}),
        (
            "message",
            "the agent failed (OSError); the log of the server says more about t1",
            {"code": "broken"},
        ),
        ("code", "the turn failed", {"code": "broken"}),
        ("none", "the turn failed", None),
    ],
)
def test_how_much_of_an_error_a_page_sees_is_an_option(level: Any, text: str, error: Any) -> None:
    failed = ev.TurnFailed(
        turn_id="t1",
        code="broken",
        message="/etc/secret is gone",
        meta={"trunkline": {"exception": "OSError"}},
    )
    chunks = chunks_of(failed, options=AisdkOptions(error_detail_level=level))

    assert chunks[-1] == {"type": "error", "errorText": text}
    assert chunks[-2]["messageMetadata"].get("error") == error


def test_a_response_that_is_cut_off_ends_once_with_an_error() -> None:
    encoder = AisdkEncoder("t1")
    encoder.feed(as_entries([ev.Text(message_id="m1", delta="so")])[0])

    assert kinds(encoder.close()) == ["text-end", "message-metadata", "error"]
    assert encoder.close() == []


# -- questions -------------------------------------------------------------------------------------


def test_a_permission_is_the_approval_of_its_call_and_ends_the_response_when_the_turn_waits() -> None:
    chunks = chunks_of(
        ev.TurnStarted(turn_id="t1"),
        CALL,
        ev.ToolUpdate(call_id="c1", input={"path": "a"}),
        ASKED,
        ev.TurnSuspended(question_ids=("q1",)),
    )

    assert kinds(chunks) == [
        "start-step", "tool-input-start", "tool-input-available", "tool-approval-request", "finish-step",
        "finish",
    ]  # fmt: skip
    assert chunks[2]["input"] == {"path": "a"}
    assert chunks[3]["approvalId"] == "q1"
    assert chunks[3]["reason"] == "Write it?"
    assert [option["kind"] for option in chunks[3]["approvalDescriptor"]["options"]] == [
        "allow_once", "allow_always", "reject_once", "reject_always"
    ]  # fmt: skip
    assert chunks[-1] == {
        "type": "finish",
        "finishReason": "tool-calls",
        "messageMetadata": {"turnId": "t1"},
    }


def test_version_6_asks_when_the_response_ends_because_no_stream_can_tell_it_the_answer() -> None:
    asked = chunks_of(CALL, ASKED, version=6)
    ended = chunks_of(CALL, ASKED, ev.TurnSuspended(question_ids=("q1",)), version=6)
    answered = chunks_of(
        CALL, ASKED, YES, ev.ToolUpdate(call_id="c1", status="completed", raw_output=1), version=6
    )

    assert kinds(asked) == ["tool-input-start", "tool-input-available"]
    assert kinds(ended) == ["tool-input-start", "tool-input-available", "tool-approval-request", "finish"]
    assert kinds(answered) == ["tool-input-start", "tool-input-available", "tool-output-available"]


def test_version_5_has_permissions_as_data_parts() -> None:
    chunks = chunks_of(CALL, ASKED, NO, version=5)

    opened, answered = only(chunks, "data-permission")
    assert opened["id"] == answered["id"] == "q1"
    assert opened["data"]["state"] == "open"
    assert opened["data"]["toolCallId"] == "c1"
    # What is decided on is whole, in the part of the call and beside the question.
    before = kinds(chunks)[: chunks.index(opened)]
    assert before[-1] == "tool-input-available"
    assert opened["data"]["input"] == only(chunks, "tool-input-available")[0]["input"]
    assert answered["data"]["state"] == "answered"
    assert answered["data"]["approved"] is False
    assert answered["data"]["optionId"] == "reject_once"
    assert answered["data"]["reason"] == "not now"


def test_an_answer_in_an_open_stream_is_told() -> None:
    chunks = chunks_of(CALL, ASKED, YES, ev.ToolUpdate(call_id="c1", status="completed", raw_output="done"))

    assert kinds(chunks)[-2:] == ["tool-approval-response", "tool-output-available"]
    assert chunks[-2] == {"type": "tool-approval-response", "approvalId": "q1", "approved": True}


def test_a_refusal_denies_the_call_also_where_its_agent_says_it_failed() -> None:
    chunks = chunks_of(CALL, ASKED, NO, ev.ToolUpdate(call_id="c1", status="failed", reason="refused"))

    assert chunks[-2:] == [
        {"type": "tool-approval-response", "approvalId": "q1", "approved": False, "reason": "not now"},
        {"type": "tool-output-denied", "toolCallId": "c1"},
    ]


def test_a_permission_for_a_call_that_nobody_knows_is_a_data_part() -> None:
    chunks = chunks_of(ASKED, YES)

    assert kinds(chunks) == ["data-permission", "data-permission"]
    assert chunks[-1]["data"]["approved"] is True


def test_a_second_permission_for_a_call_that_waits_is_a_data_part() -> None:
    second = ev.Asked(question_id="q2", question=Permission(call_id="c1"))
    chunks = chunks_of(CALL, ASKED, second)

    assert kinds(chunks)[-2:] == ["tool-approval-request", "data-permission"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            Form(message="Which?", fields={"type": "object"}),
            {"kind": "form", "message": "Which?", "schema": {"type": "object"}, "fields": {"type": "object"}},
        ),
        (
            Link(message="Go there", url="https://example.org", call_id="c1"),
            {"kind": "link", "message": "Go there", "url": "https://example.org", "toolCallId": "c1"},
        ),
    ],
)
def test_a_form_or_a_link_is_a_data_part_that_changes_when_it_is_answered(
    question: Any, expected: Any
) -> None:
    chunks = chunks_of(
        ev.Asked(question_id="q1", question=question, expires_at=2.5, group="g"),
        ev.Answered(question_id="q1", outcome="accepted", content={"secret": 1}),
        ev.TurnSuspended(question_ids=("q1",)),
    )

    opened, answered = only(chunks, "data-question")
    about = {"questionId": "q1", **expected, "group": "g", "expiresAt": 2500}
    assert opened == {"type": "data-question", "id": "q1", "data": {**about, "state": "open"}}
    assert answered["data"] == {**about, "state": "answered", "outcome": "accepted"}


def test_a_response_that_waits_for_a_form_finishes_for_another_reason_than_calls() -> None:
    chunks = chunks_of(
        ev.Asked(question_id="q1", question=Form(fields={})), ev.TurnSuspended(question_ids=("q1",))
    )

    assert chunks[-1]["finishReason"] == "other"


def test_a_client_tool_is_a_part_of_its_own_type_that_the_page_runs() -> None:
    chunks = chunks_of(
        ev.ToolCall(call_id="c1", name="pick"),
        ev.Asked(question_id="q1", question=ClientCall(call_id="c1", name="pick", input={"of": 2})),
        ev.TurnSuspended(question_ids=("q1",)),
        client_tools={"pick"},
    )

    started, available, finish = chunks
    for chunk in (started, available):
        assert "dynamic" not in chunk
        assert "providerExecuted" not in chunk
    assert available["input"] == {"of": 2}
    assert finish["finishReason"] == "tool-calls"


def test_a_client_tool_that_the_page_did_not_name_is_handed_over_when_it_is_asked() -> None:
    chunks = chunks_of(
        ev.ToolCall(call_id="c1", name="pick"),
        ev.Asked(question_id="q1", question=ClientCall(call_id="c1", name="pick")),
    )

    assert chunks[0]["providerExecuted"] is True
    assert chunks[1]["providerExecuted"] is False
    assert chunks[1]["dynamic"] is True


def test_a_message_that_joins_the_turn_is_a_part_where_the_version_has_one() -> None:
    prompt = ev.UserMessage(message_id="u1", content=(TextBlock(text="go"),))
    joined = ev.UserMessage(message_id="u2", content=(TextBlock(text="faster"),))
    said = ev.Text(message_id="m1", delta="a")

    chunks = chunks_of(prompt, said, joined, said)
    assert kinds(chunks)[2:5] == ["text-end", "steering-message", "text-start"]
    assert chunks[3] == {
        "type": "steering-message", "id": "u2", "parts": [{"type": "text", "text": "faster"}]
    }  # fmt: skip
    assert kinds(chunks_of(prompt, joined)) == ["steering-message"]
    assert "steering-message" not in kinds(chunks_of(prompt, said, joined, version=6))


# -- steps -----------------------------------------------------------------------------------------


def step(step_id: str, kind: Any = "model") -> ev.StepStarted:
    return ev.StepStarted(step_id=step_id, kind=kind)


def test_a_step_begins_where_a_model_is_called_again() -> None:
    chunks = chunks_of(
        ev.TurnStarted(turn_id="t1"),
        step("s1"),
        ev.Text(message_id="m1", delta="a"),
        ev.StepFinished(step_id="s1"),
        step("node", "node"),
        ev.StepFinished(step_id="node"),
        step("s2"),
        ev.Text(message_id="m2", delta="b"),
    )

    assert kinds(chunks) == [
        "start-step", "text-start", "text-delta", "text-end", "finish-step", "start-step", "text-start",
        "text-delta",
    ]  # fmt: skip


def test_steps_side_by_side_and_calls_without_input_make_no_boundary() -> None:
    said = ev.Text(message_id="m1", delta="a")
    side_by_side = chunks_of(ev.TurnStarted(turn_id="t1"), step("s1"), said, step("s2"), said)
    without_input = chunks_of(ev.TurnStarted(turn_id="t1"), CALL, step("s2"))

    assert kinds(side_by_side).count("start-step") == 1
    assert kinds(without_input).count("start-step") == 1


def test_no_steps_are_shown_where_the_option_says_so_and_named_ones_are_told() -> None:
    said = ev.Text(message_id="m1", delta="a")
    named = ev.StepStarted(step_id="s1", name="Copy")
    quiet = chunks_of(said, named, said, options=AisdkOptions(emit_steps="none"))
    told = chunks_of(said, named, ev.StepFinished(step_id="s1"))

    assert kinds(quiet) == ["text-start", "text-delta", "text-delta"]
    started, finished = only(told, "data-step")
    assert started["data"] == {"stepId": "s1", "name": "Copy", "state": "started"}
    assert started["transient"] is True
    assert finished["data"]["state"] == "finished"


def test_a_turn_that_goes_on_begins_a_step() -> None:
    asked = (ev.TurnStarted(turn_id="t1"), CALL, ASKED)
    replayed = chunks_of(*asked, YES, ev.TurnResumed(turn_id="t1"))
    encoder = AisdkEncoder("t1")
    for entry in as_entries([*asked, ev.TurnSuspended(question_ids=("q1",)), YES]):
        encoder.feed(entry)
    resumed = [*encoder.begin(), *encoder.announce(), *encoder.feed(as_entries([ev.TurnResumed()])[0])]

    assert kinds(replayed)[-3:] == ["tool-approval-response", "finish-step", "start-step"]
    assert kinds(resumed) == ["start", "start-step"]


def after_form(*events: Any) -> list[str]:
    """What a page is sent once a form is answered that was open after these events."""
    form = ev.Asked(question_id="q2", question=Form(fields={}))
    filled = ev.Answered(question_id="q2", outcome="accepted", content={})
    encoder = AisdkEncoder("t1", client_tools=["locate"])
    started = ev.TurnStarted(turn_id="t1")
    for entry in as_entries([started, *events, form, ev.TurnSuspended(question_ids=("q2",)), filled]):
        encoder.feed(entry)
    rest = [ev.TurnResumed(turn_id="t1"), ev.Text(message_id="m1", delta="Done."), ev.TurnFinished()]
    chunks = [*encoder.begin(), *encoder.announce(), *encoder.feed_all(as_entries(rest))]
    return [kind for kind in kinds(chunks) if not kind.startswith("text")]


def test_a_form_of_a_call_stays_in_its_step_so_that_pages_send_an_approval_that_follows() -> None:
    running = ev.ToolUpdate(call_id="c1", status="in_progress")
    done = ev.ToolUpdate(call_id="c1", status="completed")
    ended = ["tool-output-error", "finish"]

    assert after_form(CALL, running) == ["start", *ended]
    assert after_form(CALL, done) == ["start", "start-step", "finish-step", "finish"], "nothing can follow"
    assert after_form() == ["start", "start-step", "finish-step", "finish"]


def test_a_form_after_an_approval_or_an_output_begins_a_step_so_that_pages_do_not_send_it_again() -> None:
    resumed = ev.TurnResumed(turn_id="t1")
    tool = ev.ToolCall(call_id="c1", name="locate")
    handed = ev.Asked(question_id="q1", question=ClientCall(call_id="c1", name="locate", input={}))
    given = ev.Answered(question_id="q1", outcome="accepted", content={"output": "here"})

    for events in ((CALL, ASKED, YES), (tool, handed, given)):
        kept = after_form(*events)
        assert kept[:2] == ["start", "start-step"]
        assert after_form(*events, resumed)[:2] == ["start", "start-step"]


# -- beside the answer -----------------------------------------------------------------------------


def test_the_shared_state_is_shown_whole_and_changed_by_patches() -> None:
    patch = ({"op": "add", "path": "/b", "value": 2},)
    bad = ({"op": "remove", "path": "/none"},)
    chunks = chunks_of(ev.StatePatched(patch=patch), ev.StatePatched(patch=bad), state={"a": 1})

    assert chunks == [{"type": "data-state", "id": "state", "data": {"a": 1, "b": 2}}]
    assert chunks_of(ev.StateReplaced(state=None))[0]["data"] is None


def test_every_event_is_encoded_or_has_a_reason_why_not() -> None:
    handled: dict[type[Any], Any] = AisdkEncoder._handlers  # pyright: ignore[reportPrivateUsage]
    for kind in get_args(ev.AnyEvent):
        assert (kind in handled or LaneEncoder.knows(kind)) != (kind in LOSSES), kind


def test_our_data_parts_have_names_that_an_agents_own_cannot_take() -> None:
    assert {name.removeprefix("data-") for name in TRANSIENT.values()} <= OWN_DATA


def test_a_new_response_goes_on_with_text_in_a_part_of_its_own_and_announces_open_inputs() -> None:
    encoder = AisdkEncoder("t1")
    before = [
        ev.Text(message_id="m1", delta="a"),
        CALL,
        ev.ToolInput(call_id="c1", delta='{"a'),
        ev.ToolInput(call_id="c1", delta='":1'),
        ev.Text(message_id="m1", delta="b"),
    ]
    for entry in as_entries(before):
        encoder.feed(entry)
    chunks = [*encoder.begin(), *encoder.announce()]
    for entry in as_entries([ev.ToolInput(call_id="c1", delta="}"), ev.Text(message_id="m1", delta="c")]):
        chunks += encoder.feed(entry)

    assert kinds(chunks) == [
        "start", "tool-input-start", "tool-input-delta", "tool-input-delta", "text-start", "text-delta"
    ]  # fmt: skip
    assert chunks[2]["inputTextDelta"] == '{"a":1'
    assert chunks[-1]["id"] == "m1:2"


def test_heavy_output_is_held_back_and_comes_before_the_end() -> None:
    encoder = AisdkEncoder("t1", AisdkOptions(max_ui_payload_size=0))
    encoder.feed(Entry(1, 0, 1, 0.0, CALL))
    shown = 0
    for number in range(100):
        update = ev.ToolUpdate(call_id="c1", status="in_progress", output=str(number % 10) * 10_000)
        shown += len(
            only(encoder.feed(Entry(2 + number, 0, 1, 0.001 * number, update)), "tool-output-available")
        )
    later = encoder.feed(Entry(200, 0, 1, 60.0, ev.Text(message_id="m1", delta="a")))
    final = encoder.feed(
        Entry(
            201, 0, 1, 60.0, ev.ToolUpdate(call_id="c1", status="completed", content=(TextBlock(text="ok"),))
        )
    )

    assert 3 < shown < 20
    assert only(later, "tool-output-available")[0]["output"].endswith("9")
    assert final[-1]["output"] == "ok"
