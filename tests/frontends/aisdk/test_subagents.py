"""Subagents: each is a data part with its whole message, inside the one that started it."""

from typing import Any

from tests.frontends.aisdk.responses import chunks_of, kinds, only

from trunkline import events as ev
from trunkline.content import TerminalBlock
from trunkline.questions import ClientCall, Permission

OUTER = ev.SubagentStarted(lane="a", name="researcher", parent_call_id="c1", description="Finds out")
INNER = ev.SubagentStarted(lane="b", name="checker", parent_lane="a")
CALL = ev.ToolCall(lane="a", call_id="c2", name="write", kind="edit")
ASKED = ev.Asked(lane="a", question_id="q1", question=Permission(call_id="c2"))


def parts_of(chunk: Any) -> list[Any]:
    return chunk["data"]["message"]["parts"]


def test_a_subagent_is_a_message_that_grows() -> None:
    chunks = chunks_of(
        OUTER,
        ev.Text(lane="a", message_id="a.1", delta="I look. "),
        ev.Text(lane="a", message_id="a.1", delta="It is 330."),
        ev.SubagentFinished(lane="a", result="330"),
    )

    assert kinds(chunks) == ["data-subagent"] * 4
    assert {chunk["id"] for chunk in chunks} == {"a"}
    first, last = chunks[0]["data"], chunks[-1]["data"]
    assert first == {
        "name": "researcher",
        "state": "running",
        "description": "Finds out",
        "toolCallId": "c1",
        "message": {"id": "a", "role": "assistant", "parts": []},
    }
    assert last["state"] == "completed"
    assert last["result"] == "330"
    assert last["message"]["parts"] == [{"type": "text", "text": "I look. It is 330.", "state": "done"}]
    assert parts_of(chunks[1]) == [{"type": "text", "text": "I look. ", "state": "streaming"}]


def test_a_subagent_of_a_subagent_is_a_part_of_its_message() -> None:
    chunks = chunks_of(
        OUTER,
        INNER,
        ev.Text(lane="b", message_id="b.1", delta="Right."),
        ev.SubagentFinished(lane="b", outcome="failed", message="no book"),
    )

    (nested,) = parts_of(chunks[-1])
    assert chunks[-1]["id"] == "a"
    assert nested["type"] == "data-subagent"
    assert nested["id"] == "b"
    assert nested["data"]["state"] == "failed"
    assert nested["data"]["errorText"] == "no book"
    assert nested["data"]["message"]["parts"][0]["text"] == "Right."


def test_what_passes_is_told_to_the_page_itself() -> None:
    chunks = chunks_of(OUTER, ev.Notice(lane="a", title="hm"))

    assert kinds(chunks) == ["data-subagent", "data-notice"]


def test_a_lane_that_nobody_announced_is_a_subagent_all_the_same() -> None:
    (chunk,) = chunks_of(ev.Text(lane="x", message_id="m", delta="hi"))

    assert chunk["data"]["name"] == "x"
    assert parts_of(chunk)[0]["text"] == "hi"


def test_a_call_that_a_page_is_asked_about_is_a_part_of_the_agents_message_in_a_step_of_its_own() -> None:
    chunks = chunks_of(
        ev.TurnStarted(turn_id="t1"),
        ev.ToolCall(call_id="c1", name="task"),
        ev.ToolUpdate(call_id="c1", status="in_progress"),
        OUTER,
        CALL,
        ASKED,
        ev.Answered(question_id="q1", outcome="accepted"),
        ev.ToolUpdate(lane="a", call_id="c2", status="completed", raw_output=1),
    )

    shown = [kind for kind in kinds(chunks) if kind != "data-subagent"]
    assert shown[3:] == [
        "finish-step", "start-step", "tool-input-available", "tool-approval-request",
        "tool-approval-response", "tool-output-available",
    ]  # fmt: skip
    (available,) = [one for one in only(chunks, "tool-input-available") if one["toolCallId"] == "c2"]
    assert available["providerMetadata"]["trunkline"] == {"kind": "edit", "subagent": "a"}
    assert only(chunks, "tool-approval-request")[0]["approvalDescriptor"]["subagent"] == "a"
    assert only(chunks, "tool-output-available")[-1]["output"] == 1
    assert parts_of(chunks[-1])[0]["state"] == "output-available"


def test_a_client_tool_of_a_subagent_is_handed_to_the_page() -> None:
    chunks = chunks_of(
        OUTER, CALL, ev.Asked(lane="a", question_id="q1", question=ClientCall(call_id="c2", input={"a": 1}))
    )

    (available,) = only(chunks, "tool-input-available")
    assert available["input"] == {"a": 1}
    assert available["providerExecuted"] is False


def test_a_question_about_a_call_that_is_over_is_a_data_part() -> None:
    done = ev.ToolUpdate(lane="a", call_id="c2", status="completed")

    assert kinds(chunks_of(OUTER, CALL, done, ASKED))[-1] == "data-permission"


def test_a_terminal_of_a_subagent_is_shown_in_its_message() -> None:
    shown = ev.ToolUpdate(lane="a", call_id="c2", content=(TerminalBlock(terminal_id="x1"),))
    chunks = chunks_of(OUTER, CALL, shown, ev.TerminalOutput(terminal_id="x1", data="line\n"))

    assert parts_of(chunks[-1])[-1]["data"]["output"] == "line\n"


def test_what_still_runs_when_a_response_is_cut_off_has_failed() -> None:
    chunks = chunks_of(OUTER, CALL, ev.TurnFailed(code="broken", message="it broke"))

    (last,) = [chunk for chunk in chunks[-3:] if chunk["type"] == "data-subagent"]
    assert last["data"]["state"] == "failed"
    assert parts_of(last)[0]["state"] == "output-error"
