"""Subagents of an ACP agent as lanes."""

from typing import Any

from trunkline import events as ev
from trunkline.folding import fold
from trunkline.grammar import Grammar
from trunkline.protocols.acp.decoder import AcpDecoder
from trunkline.protocols.acp.profiles import CLAUDE_CODE, QWEN


def decoder() -> AcpDecoder:
    """Give a decoder in a turn."""
    made = AcpDecoder(CLAUDE_CODE)
    made.begin_turn("t")
    return made


def call(call_id: str, parent: str | None = None, **fields: Any) -> dict[str, Any]:
    """Give a call, perhaps of a subagent."""
    meta = {} if parent is None else {"_meta": {"claudeCode": {"parentToolUseId": parent}}}
    return {"sessionUpdate": "tool_call", "toolCallId": call_id, "title": call_id, **meta, **fields}


def text(value: str, parent: str | None = None) -> dict[str, Any]:
    """Give a text, perhaps of a subagent."""
    meta = {} if parent is None else {"_meta": {"claudeCode": {"parentToolUseId": parent}}}
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": value}, **meta}


def end(call_id: str, status: str = "completed") -> dict[str, Any]:
    """Give the end of a call."""
    return {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": status}


def feed(made: AcpDecoder, *updates: dict[str, Any]) -> list[ev.AnyEvent]:
    """Give the events of updates."""
    return [event for one in updates for event in made.feed(one)]


def check_legal(events: list[ev.AnyEvent]) -> None:
    """Check that the grammar has nothing to correct."""
    grammar = Grammar()
    started, finished = ev.TurnStarted(turn_id="t"), ev.TurnFinished(turn_id="t")
    assert [out for event in (started, *events, finished) for out in grammar.feed(event)] == [
        started,
        *events,
        finished,
    ]


TASK = {"description": "Find it", "subagent_type": "reader", "prompt": "..."}


def test_what_a_subagent_does_is_in_a_lane_that_ends_with_its_call() -> None:
    events = feed(
        decoder(),
        call("task", rawInput=TASK),
        text("looking", "task"),
        call("grep", "task"),
        end("grep"),
        end("task"),
        text("found"),
    )
    check_legal(events)
    started = next(event for event in events if isinstance(event, ev.SubagentStarted))
    assert started == ev.SubagentStarted(
        lane="task", name="reader", parent_call_id="task", description="Find it"
    )
    folded = fold(events)
    assert [(message.lane, message.text) for message in folded.messages] == [
        (None, ""),
        ("task", "looking"),
        (None, "found"),
    ]
    assert folded.calls["grep"].lane == "task"
    assert folded.lanes["task"].outcome == "completed"
    kinds = [type(event) for event in events[-3:]]
    assert kinds == [ev.SubagentFinished, ev.ToolUpdate, ev.Text]


def test_a_subagent_of_a_subagent_has_a_lane_below_it() -> None:
    events = feed(
        decoder(),
        call("a"),
        call("b", "a"),
        call("c", "b"),
        end("c", "failed"),
        end("b", "failed"),
        end("a", "cancelled"),
    )
    check_legal(events)
    lanes = fold(events).lanes
    assert (lanes["b"].parent_lane, lanes["b"].outcome) == ("a", "failed")
    assert (lanes["a"].parent_lane, lanes["a"].outcome) == (None, "cancelled")


def test_a_subagent_that_works_on_after_its_call_has_ended_keeps_its_lane() -> None:
    made = decoder()
    events = feed(
        made, call("task"), call("grep", "task"), end("task"), text("still here", "task"), end("grep")
    )
    check_legal(events)
    assert isinstance(events[-1], ev.SubagentFinished)
    assert made.close() == []


def test_a_subagent_that_speaks_again_gets_another_lane() -> None:
    made = decoder()
    events = feed(made, call("task"), text("a", "task"), end("task"), text("b", "task"))
    events += made.close()
    check_legal(events)
    assert [event.lane for event in events if isinstance(event, ev.SubagentStarted)] == ["task", "task.2"]


def test_what_a_subagent_leaves_open_ends_with_the_turn() -> None:
    made = decoder()
    events = feed(made, call("task"), call("b", "task"), call("c", "b")) + made.close("cancelled")
    check_legal(events)
    assert {call_id: one.status for call_id, one in fold(events).calls.items()} == {
        "task": "cancelled",
        "b": "cancelled",
        "c": "cancelled",
    }
    assert [event.lane for event in events if isinstance(event, ev.SubagentFinished)] == ["b", "task"]


def test_a_refused_call_ends_its_subagent() -> None:
    made = decoder()
    events = feed(made, call("task"), text("a", "task")) + made.denied("task", "no")
    check_legal(events)
    assert fold(events).lanes["task"].outcome == "failed"


def test_a_parent_that_is_not_known_is_a_lane_too() -> None:
    made = decoder()
    events = feed(made, text("a", "elsewhere")) + made.close()
    check_legal(events)
    assert events[0] == ev.SubagentStarted(lane="elsewhere", name="elsewhere")


def test_calls_that_name_each_other_or_themselves_are_not_inside_of_themselves() -> None:
    made = decoder()
    events = (
        feed(made, call("x", "x"), call("a", "b"), call("b", "a"), end("b"), end("a"), end("x"))
        + made.close()
    )
    check_legal(events)
    assert fold(events).calls["x"].lane is None


def test_a_late_update_in_a_lane_that_ended_is_kept_as_it_is() -> None:
    made = decoder()
    events = feed(made, call("task"), call("b", "task"), end("b"), end("task"))
    late = {"sessionUpdate": "tool_call_update", "toolCallId": "b", "rawOutput": "late"}
    assert made.feed(late) == [ev.Raw(source="acp", payload=late)]
    check_legal(events)


def test_one_id_of_a_message_in_two_lanes_is_two_messages() -> None:
    events = feed(decoder(), {**text("a"), "messageId": "m"}, {**text("b", "task"), "messageId": "m"})
    assert [event.message_id for event in events if isinstance(event, ev.Text)] == ["m", "m.task"]


def test_a_subagent_of_qwen_says_of_which_kind_it_is() -> None:
    made = AcpDecoder(QWEN)
    made.begin_turn("t")
    meta = {"parentToolCallId": "task", "subagentType": "Explore"}
    events = feed(made, call("task"), {**text("looking"), "_meta": meta}, end("task"))
    check_legal(events)
    assert fold(events).lanes["task"].name == "Explore"
