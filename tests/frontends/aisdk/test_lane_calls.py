"""The life of a tool call: input, printed output, approval, result."""

from typing import Any

import pytest
from tests.frontends.aisdk.responses import as_entries, chunks_of, kinds, only

from trunkline import events as ev
from trunkline.content import DiffBlock, TerminalBlock, TextBlock
from trunkline.frontends.aisdk.encoder import AisdkEncoder
from trunkline.questions import ClientCall, Permission

CALL = ev.ToolCall(call_id="c1", name="write", title="Write it", kind="edit")
ASKED = ev.Asked(question_id="q1", question=Permission(call_id="c1"))
YES = ev.Answered(question_id="q1", outcome="accepted")
NO = ev.Answered(question_id="q1", outcome="declined")


def update(**fields: Any) -> ev.ToolUpdate:
    return ev.ToolUpdate(call_id="c1", **fields)


def test_a_call_streams_its_input_and_gives_its_output() -> None:
    chunks = chunks_of(
        ev.Text(message_id="m1", delta="a"),
        CALL,
        CALL,
        ev.ToolInput(call_id="c1", delta='{"a":'),
        ev.ToolInput(call_id="c1", delta="1}"),
        update(status="in_progress"),
        update(output="one\n"),
        update(output="two\n"),
        update(status="completed", raw_output={"ok": True}),
    )

    assert kinds(chunks) == [
        "text-start", "text-delta", "text-end", "tool-input-start", "tool-input-delta", "tool-input-delta",
        "tool-input-available", "tool-output-available", "tool-output-available", "tool-output-available",
    ]  # fmt: skip
    assert chunks[3] == {
        "type": "tool-input-start",
        "toolCallId": "c1",
        "toolName": "write",
        "title": "Write it",
        "providerMetadata": {"trunkline": {"kind": "edit"}},
        "dynamic": True,
        "providerExecuted": True,
    }
    assert chunks[6]["input"] == {"a": 1}
    assert [chunk.get("preliminary") for chunk in chunks[7:]] == [True, True, None]
    assert [chunk["output"] for chunk in chunks[7:]] == ["one\n", "one\ntwo\n", {"ok": True}]


def test_the_growing_text_of_a_running_call_is_an_output_that_is_not_final() -> None:
    chunks = chunks_of(
        CALL,
        update(content=(TextBlock(text="Write it?"),)),
        update(status="in_progress"),
        update(status="in_progress", content=(TextBlock(text="one\n"),)),
        update(content=(TextBlock(text="one\ntwo\n"),)),
        update(status="completed", content=(TextBlock(text="one\ntwo\n"),)),
    )

    outputs = [(chunk["output"], chunk.get("preliminary")) for chunk in chunks[2:]]
    assert outputs == [("one\n", True), ("one\ntwo\n", True), ("one\ntwo\n", None)]


def test_the_text_of_a_running_call_does_not_hide_what_is_asked_about_it() -> None:
    chunks = chunks_of(
        CALL,
        update(status="in_progress", content=(TextBlock(text="rm -r build"),)),
        ASKED,
        update(content=(TextBlock(text="rm -r build dist"),)),
        YES,
        update(status="completed", raw_output="gone"),
    )

    assert kinds(chunks)[2:] == [
        "tool-output-available", "tool-input-available", "tool-approval-request",
        "tool-approval-response", "tool-output-available",
    ]  # fmt: skip


def test_an_output_is_there_also_when_a_call_gave_none() -> None:
    chunks = chunks_of(CALL, update(status="completed"))

    assert chunks[1]["input"] == {}
    assert chunks[2]["output"] is None


def test_the_input_waits_until_the_call_runs_and_is_sent_again_where_it_changes() -> None:
    chunks = chunks_of(
        CALL,
        update(input={}),
        update(input={"a": 1}, title="Other"),
        update(status="in_progress"),
        update(output="x"),
        update(input={"a": 2}),
        update(status="completed", raw_output=1, input={"a": 3}),
    )

    assert [chunk["input"] for chunk in only(chunks, "tool-input-available")] == [
        {"a": 1}, {"a": 2}, {"a": 3}
    ]  # fmt: skip
    assert [chunk["title"] for chunk in only(chunks, "tool-input-available")] == ["Other"] * 3
    assert kinds(chunks)[3:5] == ["tool-input-available", "tool-output-available"]
    assert kinds(chunks)[-2:] == ["tool-input-available", "tool-output-available"]


def test_the_input_is_never_sent_again_after_a_step_began() -> None:
    chunks = chunks_of(
        ev.TurnStarted(turn_id="t1"),
        CALL,
        update(status="in_progress"),
        ev.StepStarted(step_id="s2", kind="model"),
        update(input={"late": 1}),
        ev.ToolInput(call_id="c1", delta="late"),
        ev.Asked(question_id="q2", question=ClientCall(call_id="c1")),
        update(status="completed"),
    )

    assert len(only(chunks, "tool-input-available")) == 1
    assert kinds(chunks)[-2:] == ["start-step", "tool-output-available"]


@pytest.mark.parametrize(
    ("version", "fields", "expected"),
    [
        (7, {"status": "failed", "reason": "no disk"}, ["tool-output-error"]),
        (7, {"status": "cancelled"}, ["tool-output-error"]),
        (7, {"status": "denied"}, ["tool-approval-request", "tool-approval-response", "tool-output-denied"]),
        (6, {"status": "denied"}, ["tool-output-error"]),
        (5, {"status": "denied"}, ["tool-output-error"]),
    ],
)
def test_a_call_without_a_question_ends_as_each_version_can_say(
    version: Any, fields: Any, expected: list[str]
) -> None:
    chunks = chunks_of(CALL, update(**fields), version=version)

    assert kinds(chunks)[2:] == expected
    for chunk in only(chunks, "tool-output-error"):
        assert chunk["errorText"] == fields.get("reason", fields["status"])
    for chunk in only(chunks, "tool-approval-request"):
        assert chunk["isAutomatic"] is True


def test_nothing_hides_a_question_that_is_open() -> None:
    chunks = chunks_of(
        CALL,
        update(status="in_progress", output="a"),
        ASKED,
        update(status="in_progress", input={"b": 1}, output="b"),
    )

    assert kinds(chunks) == [
        "tool-input-start", "tool-input-available", "tool-output-available", "tool-input-available",
        "tool-approval-request",
    ]  # fmt: skip


def test_an_edited_input_is_shown_with_the_approval_it_got() -> None:
    edited = chunks_of(CALL, ASKED, YES, update(input={"edited": 1}), update(status="completed"))
    in_6 = chunks_of(
        CALL, ASKED, ev.TurnSuspended(question_ids=("q1",)), YES, update(input={"edited": 1}),
        update(status="completed"), version=6,
    )  # fmt: skip

    assert kinds(edited)[3:] == [
        "tool-approval-response", "tool-input-available", "tool-approval-response", "tool-output-available"
    ]  # fmt: skip
    assert kinds(in_6)[3:] == ["finish", "tool-input-available", "tool-output-available"]


@pytest.mark.parametrize(
    ("status", "approved", "last"),
    [("completed", True, "tool-output-available"), ("failed", False, "tool-output-denied")],
)
def test_a_call_that_ends_while_its_question_is_open_settles_the_question(
    status: Any, approved: bool, last: str
) -> None:
    chunks = chunks_of(CALL, ASKED, update(status=status), YES)

    assert kinds(chunks)[-2:] == ["tool-approval-response", last]
    assert chunks[-2]["approved"] is approved
    assert "nobody answered" in chunks[-2]["reason"]


def test_version_6_shows_the_end_of_such_a_call_as_a_part_of_its_own() -> None:
    chunks = chunks_of(
        CALL, ASKED, ev.TurnSuspended(question_ids=("q1",)), update(status="completed"), version=6
    )

    assert kinds(chunks)[-3:] == ["start-step", "tool-input-available", "tool-output-available"]


def test_a_call_that_was_approved_and_is_denied_after_all_is_an_error() -> None:
    chunks = chunks_of(CALL, ASKED, YES, update(status="denied", reason="policy"))

    assert chunks[-1]["type"] == "tool-output-error"
    assert chunks[-1]["errorText"] == "policy"


def test_a_refused_call_that_ran_all_the_same_stays_denied() -> None:
    chunks = chunks_of(CALL, ASKED, NO, update(status="completed", raw_output=1))

    assert kinds(chunks)[-1] == "tool-output-denied"


def test_printed_output_is_taken_back_before_a_rule_denies_a_call() -> None:
    chunks = chunks_of(CALL, update(status="in_progress", output="x"), update(status="denied"))
    later = chunks_of(
        ev.TurnStarted(turn_id="t1"), CALL, update(status="in_progress", output="x"),
        ev.StepStarted(step_id="s2"), update(status="denied"),
    )  # fmt: skip

    assert kinds(chunks)[-4:] == [
        "tool-input-available", "tool-approval-request", "tool-approval-response", "tool-output-denied"
    ]  # fmt: skip
    assert kinds(later)[-1] == "tool-output-error"


def test_a_question_about_printed_output_of_an_earlier_step_is_a_data_part() -> None:
    chunks = chunks_of(
        ev.TurnStarted(turn_id="t1"), CALL, update(status="in_progress", output="x"),
        ev.StepStarted(step_id="s2"), ASKED,
    )  # fmt: skip

    assert kinds(chunks)[-1] == "data-permission"


def test_a_result_that_changes_after_the_end_is_sent_again_and_otherwise_is_not() -> None:
    chunks = chunks_of(
        CALL,
        update(status="completed", raw_output=1),
        update(result_message_id="r1"),
        update(raw_output=2),
        update(meta={"agent": {"note": "late"}}),
    )
    failed = chunks_of(CALL, update(status="failed"), update(raw_output=2))

    assert [chunk["output"] for chunk in only(chunks, "tool-output-available")] == [1, 2, 2]
    assert chunks[-1]["providerMetadata"] == {"agent": {"note": "late"}}
    assert kinds(failed)[-1] == "tool-output-error"


def test_changes_of_files_and_terminals_are_data_parts_of_the_call() -> None:
    diff = DiffBlock(path="/a", old=None, new="x")
    shown = update(status="in_progress", content=(TextBlock(text="t"), diff, TerminalBlock(terminal_id="x1")))
    chunks = chunks_of(
        CALL,
        shown,
        shown,
        ev.TerminalOutput(terminal_id="x1", data="line\n"),
        ev.TerminalOutput(terminal_id="x1", exited=True, exit_code=3),
        ev.TerminalOutput(terminal_id="unseen", data="?"),
        update(status="completed"),
    )

    assert only(chunks, "data-diff") == [
        {
            "type": "data-diff",
            "id": "c1:diff:1",
            "data": {"toolCallId": "c1", "path": "/a", "oldText": None, "newText": "x"},
        }
    ]
    terminals = only(chunks, "data-terminal")
    assert [one["data"]["output"] for one in terminals] == ["", "line\n", "line\n"]
    assert terminals[-1]["data"]["exitCode"] == 3
    assert chunks[-1]["output"] == "t"


def test_updates_of_calls_that_nobody_knows_say_nothing() -> None:
    assert chunks_of(update(status="completed"), ev.ToolInput(call_id="c1", delta="{}")) == []


def test_a_question_that_is_open_stays_so_when_a_response_is_cut_off() -> None:
    chunks = chunks_of(CALL, ASKED, ev.TurnFailed(code="broken", message="it broke"))

    assert kinds(chunks)[-3:] == ["tool-approval-request", "message-metadata", "error"]


def test_a_call_that_waits_for_approval_or_is_over_is_not_handed_to_the_page() -> None:
    handed = ev.Asked(question_id="q2", question=ClientCall(call_id="c1"))

    assert kinds(chunks_of(CALL, ASKED, handed))[-1] == "tool-approval-request"
    assert kinds(chunks_of(CALL, update(status="completed"), handed))[-1] == "tool-output-available"
    assert kinds(chunks_of(CALL, ASKED, YES, handed))[-2:] == [
        "tool-input-available", "tool-approval-response"
    ]  # fmt: skip


def test_a_new_response_announces_only_calls_whose_input_is_not_whole() -> None:
    encoder = AisdkEncoder("t1")
    other = ev.ToolCall(call_id="c2", name="read")
    for entry in as_entries([CALL, update(status="in_progress"), other]):
        encoder.feed(entry)

    assert [chunk["toolCallId"] for chunk in encoder.announce()] == ["c2"]


@pytest.mark.parametrize("page_said", [True, False])
def test_a_page_of_version_6_whose_answer_did_not_count_gets_what_fits_its_answer(page_said: bool) -> None:
    encoder = AisdkEncoder("t1", version=6, page_answers={"q1": page_said})
    suspended = ev.TurnSuspended(turn_id="t1", question_ids=("q1",))
    ended = update(status="denied", reason="not today") if page_said else update(status="completed")
    events = [CALL, ASKED, suspended, NO if page_said else YES, ev.TurnResumed(turn_id="t1"), ended]
    chunks = [chunk for entry in as_entries(events) for chunk in encoder.feed(entry)]
    after = kinds(chunks)[kinds(chunks).index("finish") + 1 :]
    if page_said:
        assert after == ["start-step", "tool-output-error"]
        assert chunks[-1]["errorText"] == "not today"
    else:
        again = ["start-step", "tool-input-available", "finish-step", "start-step", "tool-output-available"]
        assert after == ["tool-output-denied", *again]
