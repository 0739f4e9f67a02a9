"""The emitter, fed with messages and chunks: which events come out, and that each comes once."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from tests.hubs import only

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.messages.emitter import Emitter, ModelRun
from trunkline.conversation import Call

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


def test_tokens_are_emitted_as_they_come_and_the_whole_message_adds_nothing(emitter: Recorder) -> None:
    run = ModelRun(None, internal=False)
    for text in ("Hel", "", "lo"):
        emitter.chunk(run, chunk(text))
    emitter.message(None, answer("Hello"))
    assert emitter.texts() == [("m1", "Hel"), ("m1", "lo")]
    assert emitter.has_emitted


def test_a_message_without_tokens_is_emitted_whole_and_once(emitter: Recorder) -> None:
    for _ in range(2):
        emitter.message("lane", answer("Hello"))
    assert [(event.delta, event.lane, event.turn_id) for event in emitter.events] == [("Hello", "lane", "t1")]


def test_messages_of_the_history_and_messages_of_the_user_are_not_emitted(emitter: Recorder) -> None:
    emitter.add_history([answer("Old", LOOK)])
    emitter.message(None, answer("Old"))
    emitter.message(None, HumanMessage("Hi", id="h1"))
    emitter.message(None, AIMessage("without an id"))
    emitter.tool_message(None, ToolMessage("late", tool_call_id="c1", id="r1"))
    assert emitter.events == []
    assert emitter.is_emitted("m1")
    assert not emitter.is_emitted("h1")


def test_plain_text_of_the_agent_itself_takes_the_short_way() -> None:
    short: list[tuple[str, str]] = []

    def emit_text(text: str, message_id: str) -> None:
        short.append((text, message_id))

    emitter = Recorder(emit_text=emit_text)
    emitter.chunk(ModelRun(None, internal=False), chunk("own"))
    emitter.chunk(ModelRun("lane", internal=False), chunk("inner"))
    assert short == [("own", "m1")]
    assert [event.lane for event in emitter.events] == ["lane"]


@pytest.mark.parametrize(
    ("fields", "event"),
    [
        ({"additional_kwargs": {"reasoning_content": "Hm"}}, ev.Thought(message_id="m1", delta="Hm")),
        ({"additional_kwargs": {"refusal": "No"}}, ev.Text(message_id="m1", delta="No")),
        ({"content": [{"type": "text", "text": "Hi"}]}, ev.Text(message_id="m1", delta="Hi")),
        (
            {"content": [{"type": "reasoning", "reasoning": "Hm"}]},
            ev.Thought(message_id="m1", delta="Hm"),
        ),
        (
            {"content": [{"type": "image", "base64": "eA==", "mime_type": "image/png"}]},
            ev.Media(message_id="m1", content=c.ImageBlock(data="eA==", mime_type="image/png")),
        ),
    ],
)
@pytest.mark.parametrize("whole", [False, True])
def test_each_kind_of_content_is_its_own_event(fields: dict[str, Any], event: Any, whole: bool) -> None:
    emitter = Recorder()
    given: Any = {"content": "", "id": "m1", **fields}
    if whole:
        emitter.message(None, AIMessage(**given))
    else:
        emitter.chunk(ModelRun(None, internal=False), AIMessageChunk(**given))
    (made,) = emitter.events
    assert type(made) is type(event)
    for field in ("message_id", "delta", "content"):
        assert getattr(made, field, None) == getattr(event, field, None)


def test_text_and_reasoning_can_be_left_out() -> None:
    emitter = Recorder(text=False, reasoning=False)
    run = ModelRun(None, internal=False)
    emitter.chunk(run, chunk("Hi", additional_kwargs={"reasoning_content": "Hm", "refusal": "No"}))
    emitter.chunk(run, chunk([{"type": "text", "text": "Hi"}, {"type": "reasoning", "reasoning": "Hm"}]))
    assert emitter.events == []


def test_with_a_scrubber_only_whole_messages_are_emitted_as_it_leaves_them() -> None:
    def scrub(message: Any) -> Any:
        if "secret" in str(message.content):
            return None
        return message.model_copy(update={"content": str(message.content).replace("Ann", "[name]")})

    emitter = Recorder(scrub=scrub)
    emitter.chunk(ModelRun(None, internal=False), chunk("Ann"))
    emitter.message(None, answer("I am Ann"))
    emitter.message(None, AIMessage("secret", id="m2"))
    emitter.tool_message(None, ToolMessage("secret", tool_call_id="c9", id="r9"))
    assert emitter.texts() == [("m1", "I am [name]")]
    assert emitter.statuses("c9") == []


def test_a_message_that_got_another_id_late_is_not_emitted_again(emitter: Recorder) -> None:
    emitter.chunk(ModelRun(None, internal=False), chunk("Hi"))
    emitter.mark_emitted("m2")
    emitter.message(None, AIMessage("Hi", id="m2"))
    assert emitter.texts() == [("m1", "Hi")]


# -- calls -----------------------------------------------------------------------------------------


def test_a_call_is_announced_with_its_name_and_its_arguments_are_streamed(emitter: Recorder) -> None:
    run = ModelRun(None, internal=False)
    emitter.chunk(run, chunk("", {"index": 0, "id": "c1", "name": "read_", "args": ""}))
    emitter.chunk(run, chunk("", {"index": 0, "id": None, "name": None, "args": '{"path"'}))
    emitter.chunk(run, chunk("", {"index": 0, "id": None, "name": None, "args": ':"/a"}'}))
    (call,) = only(emitter.events, ev.ToolCall)
    assert (call.call_id, call.kind, call.message_id) == ("c1", "read", "m1")
    assert "".join(event.delta for event in only(emitter.events, ev.ToolInput)) == '{"path":"/a"}'


def test_a_name_and_an_id_that_come_apart_make_one_call(emitter: Recorder) -> None:
    run = ModelRun(None, internal=False)
    emitter.chunk(run, chunk("", {"index": 0, "id": None, "name": "look", "args": '{"a"'}))
    assert emitter.events == []
    emitter.chunk(run, chunk("", {"index": 0, "id": "c1", "name": None, "args": ":1}"}))
    assert [type(event) for event in emitter.events] == [ev.ToolCall, ev.ToolInput]
    assert emitter.events[1].delta == '{"a":1}'


def test_calls_that_share_an_index_or_have_none_are_told_apart_by_id(emitter: Recorder) -> None:
    run = ModelRun(None, internal=False)
    for index, native_id in ((0, "c1"), (0, "c2"), (None, "c3")):
        emitter.chunk(run, chunk("", {"index": index, "id": native_id, "name": "look", "args": "{}"}))
    assert [event.call_id for event in only(emitter.events, ev.ToolInput)] == ["c1", "c2", "c3"]


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


def test_complete_arguments_are_emitted_once_with_title_files_and_diff(emitter: Recorder) -> None:
    edit = {"id": "c1", "name": "edit_file", "args": {"path": "/a", "old_string": "1", "new_string": "2"}}
    for _ in range(2):
        assert emitter.describe(None, edit) == "c1"
    (update,) = only(emitter.events, ev.ToolUpdate)
    assert (update.title, update.input) == ("Edit /a", edit["args"])
    assert [one.path for one in update.locations or ()] == ["/a"]
    assert update.content == (c.DiffBlock(path="/a", old="1", new="2"),)


def test_changed_arguments_are_emitted_again_until_the_call_is_done(emitter: Recorder) -> None:
    emitter.describe(None, LOOK)
    emitter.change_input(None, "c1", {"path": "/b.py"})
    assert emitter.last().input == {"path": "/b.py"}
    emitter.tool_failed(None, "c1", "no")
    emitter.change_input(None, "c1", {"path": "/c.py"})
    emitter.change_input(None, "unknown", {})
    assert emitter.last().reason == "no"


def test_a_call_runs_puts_out_and_completes(emitter: Recorder) -> None:
    emitter.message(None, answer("", LOOK))
    emitter.tool_started(None, "c1", "read_file", LOOK["args"])
    emitter.tool_started(None, "c1", "read_file", LOOK["args"])
    emitter.tool_progress(None, "c1", output="half")
    emitter.tool_message(None, ToolMessage("text", tool_call_id="c1", id="r1"))
    emitter.tool_progress(None, "c1", output="too late")
    assert emitter.statuses() == ["in_progress", "completed"]
    last = emitter.last()
    assert (last.content, last.raw_output, last.result_message_id) == (
        (c.TextBlock(text="text"),),
        "text",
        "r1",
    )


def test_a_result_message_is_emitted_once_and_a_late_id_is_added(emitter: Recorder) -> None:
    emitter.tool_message(None, ToolMessage("text", tool_call_id="c1", name="look"))
    emitter.tool_message(None, ToolMessage("text", tool_call_id="c1", id="r1"))
    emitter.tool_message(None, ToolMessage("text", tool_call_id="c1", id="r1"))
    assert [event.result_message_id for event in only(emitter.events, ev.ToolUpdate)] == [None, "r1"]


def test_an_artifact_is_the_raw_output(emitter: Recorder) -> None:
    emitter.tool_message(None, ToolMessage("text", tool_call_id="c1", artifact={"at": Path}))
    assert emitter.last().raw_output == {"at": str(Path)}


def test_an_error_result_fails_the_call_with_its_text(emitter: Recorder) -> None:
    emitter.tool_message(None, ToolMessage("x" * 900, tool_call_id="c1", status="error"))
    assert emitter.statuses() == ["failed"]
    assert len(emitter.last().reason or "") == 500


def test_a_refused_call_is_denied_with_the_message_that_tells_the_model(emitter: Recorder) -> None:
    emitter.describe(None, LOOK)
    emitter.tool_denied(None, "c1", "not now")
    emitter.tool_started(None, "c1", "read_file", LOOK["args"])
    emitter.tool_message(None, ToolMessage("refused", tool_call_id="c1", status="error", id="r1"))
    assert emitter.statuses() == ["denied"]
    last = emitter.last()
    assert (last.reason, last.content, last.raw_output) == ("not now", (c.TextBlock(text="refused"),), None)


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


def test_the_calls_of_an_answer_that_broke_off_fail(emitter: Recorder) -> None:
    run = ModelRun(None, internal=False)
    emitter.chunk(run, chunk("", {"index": 0, "id": "c1", "name": "look", "args": "{"}))
    emitter.fail_calls_of(run, "broke off")
    assert emitter.statuses() == ["failed"]


def test_invalid_calls_fail_with_what_is_wrong(emitter: Recorder) -> None:
    message = answer("", invalid_tool_calls=[{"id": "c1", "name": "look", "args": "{", "error": None}])
    emitter.message(None, message)
    assert emitter.last().reason == "its arguments are not JSON: {"


def test_an_id_that_comes_again_in_another_message_is_another_call(emitter: Recorder) -> None:
    emitter.message(None, answer("", LOOK))
    emitter.tool_message(None, ToolMessage("one", tool_call_id="c1", id="r1"))
    emitter.message(None, AIMessage("", id="m2", tool_calls=[cast("Any", LOOK)]))
    assert [event.call_id for event in only(emitter.events, ev.ToolCall)] == ["c1", "c1~2"]
    assert emitter.call_id_of(None, "c1") == "c1~2"


def test_a_call_in_a_lane_has_an_id_of_its_own(emitter: Recorder) -> None:
    emitter.announce("lane", "c1", "look", None)
    assert emitter.call_id_of("lane", "c1") == "c1@lane"
    assert emitter.call_id_of(None, "c1") is None


def test_calls_of_an_earlier_process_are_not_announced_again(emitter: Recorder) -> None:
    known = Call(call_id="c1", name="read_file", kind="read", native_id="c1")
    known.status = "in_progress"
    emitter.restore_calls([known])
    emitter.tool_started(None, "c1", "read_file", LOOK["args"])
    assert only(emitter.events, ev.ToolCall) == []
    assert emitter.statuses() == []


# -- the rest --------------------------------------------------------------------------------------


def test_a_plan_is_emitted_when_it_changed(emitter: Recorder) -> None:
    todos = [{"content": "Write", "status": "pending"}]
    emitter.restore_plan(todos)
    for plan in (list(todos), [*todos, "Test"], None, [], []):
        emitter.plan(plan)
    assert [[entry.content for entry in event.entries] for event in emitter.events] == [["Write", "Test"], []]


def test_a_custom_event_is_passed_on_and_one_of_ours_is_emitted_as_it_is(emitter: Recorder) -> None:
    emitter.custom("mine", [Path])
    emitter.custom("mine", ev.Notice(title="Hello", lane="lane"))
    assert emitter.events == [
        ev.Custom(turn_id="t1", name="mine", value=[str(Path)]),
        ev.Notice(turn_id="t1", title="Hello", lane="lane"),
    ]
