"""The calls of a turn: each is announced, described and ended once."""

from typing import Any

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.openai.stream_events.call_items import CallItem
from trunkline.agents.openai.stream_events.calls import Calls, CallState
from trunkline.agents.openai.stream_events.outputs import Outcome
from trunkline.conversation import Call
from trunkline.tools.call_files import CallFiles


class Told:
    """Calls, and the events that they gave."""

    def __init__(self, **options: Any) -> None:
        self.events: list[ev.AnyEvent] = []
        self.calls = Calls(
            lambda event, lane: self.events.append(event), lambda call, status: None, **options
        )

    def emit(self, event: ev.AnyEvent, lane: str | None) -> None:
        self.events.append(event)

    def begin(self, name: str = "write_file", native_id: str = "c1", response: Any = 1) -> CallState:
        item = CallItem(native_id=native_id, name=name)
        return self.calls.announce(item, None, "m1", response, native_id)

    @property
    def last(self) -> Any:
        return self.events[-1]


def test_a_call_is_announced_once() -> None:
    told = Told()
    assert told.begin() is told.begin()
    (event,) = told.events
    assert event == ev.ToolCall(
        call_id="c1", name="write_file", title="Write file", kind="edit", message_id="m1", native_id="c1"
    )


def test_the_hints_of_an_mcp_server_count_more_than_a_name() -> None:
    told = Told(annotations={"write_file": {"readOnlyHint": True, "title": "Look"}}.get)
    told.begin()
    assert (told.last.kind, told.last.title) == ("read", "Look")


def test_a_kind_mapper_counts_most() -> None:
    told = Told(kind_mapper={"write_file": "think"}.get)
    told.begin()
    assert told.last.kind == "think"


def test_what_a_call_overwrites_is_shown_with_its_old_text() -> None:
    told = Told(call_files=CallFiles(read_text={"a": "old"}.get))
    call = told.begin()
    told.calls.describe(
        call, CallItem(native_id="c1", name="write_file", input={"path": "a", "content": "new"})
    )
    assert told.last.content == (c.DiffBlock(path="a", old="old", new="new"),)
    told.calls.finish(call, Outcome(content=c.as_content("written")))
    assert (told.last.status, told.last.content) == ("completed", None)


def test_a_change_that_failed_shows_why() -> None:
    told = Told()
    call = told.begin()
    told.calls.describe(
        call, CallItem(native_id="c1", name="write_file", input={"path": "a", "content": "new"})
    )
    call.failed = "disk full"
    told.calls.finish(call, Outcome(content=c.as_content("An error occurred")))
    assert (told.last.status, told.last.reason) == ("failed", "disk full")
    assert told.last.content == c.as_content("An error occurred")


def test_nothing_is_said_about_a_call_that_ended() -> None:
    told = Told()
    call = told.begin()
    told.calls.finish(call, Outcome())
    count = len(told.events)
    told.calls.finish(call, Outcome())
    told.calls.start(call)
    told.calls.update(call, title="x")
    told.calls.retitle(call, "x")
    told.calls.change_input(call, {})
    told.calls.describe(call, CallItem(native_id="c1", name="x", input={}))
    assert len(told.events) == count


def test_people_see_other_content_and_the_output_is_kept_for_the_next_turn() -> None:
    told = Told()
    call = told.begin()
    told.calls.finish(call, Outcome(content=c.as_content("[1]"), raw_output=[1]), c.as_content("a table"))
    assert (told.last.content, told.last.raw_output) == (c.as_content("a table"), [1])


def test_the_label_of_a_tool_is_the_verb_of_the_title() -> None:
    told = Told()
    call = told.begin("get_x")
    told.calls.describe(call, CallItem(native_id="c1", name="get_x", input={"query": "rain"}))
    told.calls.retitle(call, "Look up")
    assert told.last.title == "Look up rain"


def test_a_long_reason_is_cut() -> None:
    told = Told()
    told.calls.finish(told.begin(), Outcome(status="failed", reason="x" * 1000))
    assert len(told.last.reason) == 500


def test_calls_of_an_earlier_process_are_known() -> None:
    told = Told()
    told.calls.restore([Call(call_id="c1", native_id="c1", name="f", status="completed", input={})])
    assert told.begin(response=2).call_id == "c1~2"
    assert told.calls.find("c1", "lane") is None
    found = told.calls.find("c1", "lane", everywhere=True)
    assert found is not None
    assert found.call_id == "c1~2"
