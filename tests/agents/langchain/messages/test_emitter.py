"""The emitter, fed with messages and chunks: which events come out, and that each comes once."""

from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage
from tests.hubs import only

from trunkline import events as ev
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.agents.langchain.messages.model_run import ModelRun

LOOK: dict[str, Any] = {"id": "c1", "name": "read_file", "args": {"path": "/a.py"}}


class Recorder(Emitter):
    """An emitter that keeps its events."""

    def __init__(self, **options: Any) -> None:
        self.events: list[Any] = []
        super().__init__(self.events.append, "t1", **options)

    def texts(self) -> list[tuple[str, str]]:
        return [(event.message_id, event.delta) for event in only(self.events, ev.Text)]

    def statuses(self, call_id: str = "c1") -> list[str]:
        """The statuses of a call, in order."""
        updates = (event for event in only(self.events, ev.ToolUpdate) if event.call_id == call_id)
        return [event.status for event in updates if event.status is not None]

    def last(self) -> ev.ToolUpdate:
        return only(self.events, ev.ToolUpdate)[-1]


def chunk(content: Any = "", *calls: dict[str, Any], **fields: Any) -> AIMessageChunk:
    pieces: Any = [{"type": "tool_call_chunk", **call} for call in calls]
    return AIMessageChunk(content=content, id="m1", tool_call_chunks=pieces, **fields)


def answer(content: Any = "", *calls: dict[str, Any], **fields: Any) -> AIMessage:
    return AIMessage(content=content, id="m1", tool_calls=cast("Any", list(calls)), **fields)


@pytest.fixture
def emitter() -> Recorder:
    return Recorder()


# -- text ------------------------------------------------------------------------------------------


def test_plain_text_of_the_agent_itself_takes_the_short_way() -> None:
    short: list[tuple[str, str]] = []

    def emit_text(text: str, message_id: str) -> None:
        short.append((text, message_id))

    emitter = Recorder(emit_text=emit_text)
    emitter.chunk(ModelRun(None, internal=False), chunk("own"))
    emitter.chunk(ModelRun("lane", internal=False), chunk("inner"))
    assert short == [("own", "m1")]
    assert [event.lane for event in emitter.events] == ["lane"]


def test_text_and_reasoning_can_be_left_out() -> None:
    emitter = Recorder(text=False, reasoning=False)
    run = ModelRun(None, internal=False)
    emitter.chunk(run, chunk("Hi", additional_kwargs={"reasoning_content": "Hm", "refusal": "No"}))
    emitter.chunk(run, chunk([{"type": "text", "text": "Hi"}, {"type": "reasoning", "reasoning": "Hm"}]))
    assert emitter.events == []


# -- calls -----------------------------------------------------------------------------------------


def test_annotations_give_kind_and_title_and_are_asked_once_per_announcement() -> None:
    asked: list[str] = []

    def annotations(tool: str) -> dict[str, Any]:
        asked.append(tool)
        return {"readOnlyHint": True, "title": "Frobnicate it"}

    emitter = Recorder(annotations=annotations)
    emitter.announce(None, "c1", "frobnicate", None)
    emitter.announce(None, "c1", "frobnicate", None)
    (call,) = emitter.events
    assert (call.kind, call.title) == ("read", "Frobnicate it")
    assert asked == ["frobnicate"]


def test_changed_arguments_are_emitted_again_until_the_call_is_done(emitter: Recorder) -> None:
    emitter.describe(None, LOOK)
    emitter.change_input(None, "c1", {"path": "/b.py"})
    assert emitter.last().input == {"path": "/b.py"}
    emitter.tool_failed(None, "c1", "no")
    emitter.change_input(None, "c1", {"path": "/c.py"})
    emitter.change_input(None, "unknown", {})
    assert emitter.last().reason == "no"


def test_a_result_message_is_emitted_once_and_a_late_id_is_added(emitter: Recorder) -> None:
    emitter.tool_message(None, ToolMessage("text", tool_call_id="c1", name="look"))
    emitter.tool_message(None, ToolMessage("text", tool_call_id="c1", id="r1"))
    emitter.tool_message(None, ToolMessage("text", tool_call_id="c1", id="r1"))
    assert [event.result_message_id for event in only(emitter.events, ev.ToolUpdate)] == [None, "r1"]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_call_that_the_provider_runs_is_in_progress_before_it_is_done(
    emitter: Recorder, streamed: bool
) -> None:
    begun: dict[str, Any] = {
        "type": "server_tool_call",
        "id": "c1",
        "name": "web_search",
        "args": {"query": "x"},
    }
    if streamed:
        begun |= {"type": "server_tool_call_chunk", "args": '{"query": "x"}', "index": 0}
    result = {"type": "server_tool_result", "tool_call_id": "c1", "status": "success", "output": "found"}
    run = ModelRun(None, internal=False)
    for block in (begun, result):
        emitter.chunk(run, chunk([block]))
    assert emitter.statuses() == ["in_progress", "completed"]


def test_an_error_result_fails_the_call_with_its_text(emitter: Recorder) -> None:
    emitter.tool_message(None, ToolMessage("x" * 900, tool_call_id="c1", status="error"))
    assert emitter.statuses() == ["failed"]
    assert len(emitter.last().reason or "") == 500


def test_calls_without_an_answer_end_with_their_lane(emitter: Recorder) -> None:
    for native_id in ("raised", "refused", "returned", "open"):
        emitter.announce("lane", native_id, "look", None)
    emitter.tool_raised("lane", "raised", "it broke")
    emitter.tool_denied("lane", "refused", "no")
    emitter.tool_returned("lane", ToolMessage("done", tool_call_id="returned"))
    emitter.finish_calls("lane")
    ends = {event.call_id: (event.status, event.reason) for event in only(emitter.events, ev.ToolUpdate)}
    assert ends == {
        "raised@lane": ("failed", "it broke"),
        "refused@lane": ("denied", "no"),
        "returned@lane": ("completed", None),
    }
    emitter.fail_open_calls("not run")
    assert (emitter.last().call_id, emitter.last().reason) == ("open@lane", "not run")


# -- the rest --------------------------------------------------------------------------------------


def test_a_plan_is_emitted_when_it_changed(emitter: Recorder) -> None:
    todos = [{"content": "Write", "status": "pending"}]
    emitter.restore_plan(todos)
    for plan in (list(todos), [*todos, "Test"], None, [], []):
        emitter.plan(plan)
    assert [[entry.content for entry in event.entries] for event in emitter.events] == [["Write", "Test"], []]


def test_what_no_json_can_hold_is_passed_on_in_words(emitter: Recorder) -> None:
    emitter.custom("mine", [Path])
    emitter.tool_message(None, ToolMessage("text", tool_call_id="c1", artifact={"at": Path}))
    assert emitter.events[0] == ev.Custom(turn_id="t1", name="mine", value=[str(Path)])
    assert emitter.last().raw_output == {"at": str(Path)}
