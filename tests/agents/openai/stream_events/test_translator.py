"""Whole turns of the real SDK, and what a translator makes of facts that run ahead of the stream."""

import asyncio
from typing import Any

import pytest
from agents.extensions import handoff_filters
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from hypothesis import given
from hypothesis import strategies as st

from agents import Agent, ModelSettings, RunHooks, Usage, function_tool, handoff
from tests.agents.openai.stream_events import runs
from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.openai.stream_events import hook_facts as f
from trunkline.folding import fold


@function_tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@function_tool
def fail(text: str) -> str:
    """Raise."""
    raise ValueError(text)


CALL = {"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a":1}'}


def output(call_id: str, text: str, **fields: Any) -> dict[str, Any]:
    """A tool_output event, as far as it is read."""
    raw = {"type": "function_call_output", "call_id": call_id, "output": text}
    item = {"type": "tool_call_output_item", "raw_item": raw, "output": text, **fields}
    return {"type": "run_item_stream_event", "name": "tool_output", "item": item}


async def test_text_a_call_and_its_output_are_one_answer_in_order() -> None:
    agent = runs.agent(
        [assistant_message("Let me see."), function_call("add", {"a": 1, "b": 2}, call_id="c1")],
        [assistant_message("It is 3.")],
        tools=[add],
    )
    played = await runs.play(agent)
    first, second = played.folded.messages
    assert (runs.text_of(first), runs.text_of(second)) == ("Let me see.", "It is 3.")
    call = played.call("c1")
    assert (call.name, call.input, call.arguments) == ("add", {"a": 1, "b": 2}, '{"a":1,"b":2}')
    assert (call.status, call.content, call.raw_output) == ("completed", (c.TextBlock(text="3"),), 3)
    assert call.message_id == first.message_id
    assert played.stop == "end_turn"


async def test_the_constant_item_ids_of_the_scripted_model_do_not_join_messages() -> None:
    agent = runs.agent([assistant_message("one"), assistant_message("two")])
    played = await runs.play(agent)
    assert [runs.text_of(message) for message in played.folded.messages] == ["one", "two"]


def test_a_call_id_that_comes_again_in_the_next_response_is_another_call() -> None:
    played = runs.translate(
        *(runs.created(), runs.done(CALL), runs.completed(), output("c1", "1")),
        *(runs.created(), runs.done(CALL), runs.completed(), output("c1", "2")),
    )
    calls = [(call.call_id, call.raw_output) for call in played.folded.calls.values()]
    assert calls == [("c1", "1"), ("c1~2", "2")]


async def test_usage_is_counted_for_every_response() -> None:
    usage = Usage(requests=1, input_tokens=10, output_tokens=5, total_tokens=15)
    usage.input_tokens_details.cached_tokens = 4
    usage.output_tokens_details.reasoning_tokens = 2
    steps = [
        ModelStep(output=[function_call("add", {"a": 1, "b": 1}, call_id="c")], usage=usage),
        ModelStep(output=[assistant_message("done")], usage=usage),
    ]
    agent = Agent[Any](name="main", model=ScriptedModel(steps), tools=[add])
    played = await runs.play(agent)
    expected = ev.TokenUsage(
        model="scripted-model", input_tokens=10, output_tokens=5, reasoning_tokens=2, cached_input_tokens=4
    )
    assert played.usage == [expected, expected]


async def test_an_answer_that_uses_all_its_tokens_was_cut_off() -> None:
    usage = Usage(requests=1, input_tokens=1, output_tokens=8, total_tokens=9)
    step = ModelStep(output=[assistant_message("too lo")], usage=usage)
    agent = Agent[Any](name="main", model=ScriptedModel([step]), model_settings=ModelSettings(max_tokens=8))
    assert (await runs.play(agent)).stop == "max_tokens"


@pytest.mark.parametrize(("limit", "stop"), [(8, "max_tokens"), (100, "end_turn")])
async def test_the_limit_of_the_run_counts_more_than_that_of_the_agent(limit: int, stop: str) -> None:
    usage = Usage(requests=1, input_tokens=1, output_tokens=8, total_tokens=9)
    step = ModelStep(output=[assistant_message("too lo")], usage=usage)
    agent = Agent[Any](name="main", model=ScriptedModel([step]), model_settings=ModelSettings(max_tokens=8))
    assert (await runs.play(agent, made=runs.translator(max_tokens=limit))).stop == stop


async def test_a_tool_that_raised_has_failed_with_its_own_reason() -> None:
    made = runs.translator()
    played = runs.Played()

    class Hooks(RunHooks[Any]):
        async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
            played.events += made.feed(f.ToolStarted(call_id=context.tool_call_id))
            failed = f.ToolFailed(call_id=context.tool_call_id, reason="ValueError: broken")
            played.events += made.feed(failed)

    agent = runs.agent(
        [function_call("fail", {"text": "broken"}, call_id="c1")], [assistant_message("sorry")], tools=[fail]
    )
    later = await runs.play(agent, made=made, hooks=Hooks())
    played.events += later.events
    call = fold(played.events).calls["c1"]
    assert (call.status, call.reason) == ("failed", "ValueError: broken")
    assert "An error occurred" in c.text_of(call.content)


async def test_a_handoff_is_a_call_that_switches_to_the_other_agent() -> None:
    other = runs.agent([assistant_message("I am the other.")], name="Billing")
    agent = runs.agent([function_call("transfer_to_billing", {}, call_id="c1")], handoffs=[other])
    made = runs.translator()
    played = await runs.play(agent, made=made)
    call = played.call("c1")
    assert (call.kind, call.title, call.status) == ("switch_mode", "Hand off to Billing", "completed")
    assert played.statuses("c1") == ["in_progress", "completed"]
    assert [event.value for event in played.of(ev.Custom)] == [{"agent": "Billing"}]
    assert made.agent_name == "Billing"


async def test_a_handoff_whose_filter_takes_its_output_out_is_completed() -> None:
    other = runs.agent([assistant_message("I am the other.")], name="Billing")
    filtered = handoff(other, input_filter=handoff_filters.remove_all_tools)
    agent = runs.agent([function_call("transfer_to_billing", {}, call_id="c1")], handoffs=[filtered])
    played = await runs.play(agent)
    call = played.call("c1")
    assert (call.title, call.status) == ("Hand off to Billing", "completed")


async def test_the_second_of_two_handoffs_is_answered_as_well() -> None:
    one, two = (runs.agent([assistant_message("hello")], name=name) for name in ("One", "Two"))
    calls = [function_call(f"transfer_to_{name}", {}, call_id=name) for name in ("one", "two")]
    played = await runs.play(runs.agent(calls, handoffs=[one, two]))
    assert played.call("one").status == played.call("two").status == "completed"
    assert "ignoring" in c.text_of(played.call("two").content)


# -- agents as tools -------------------------------------------------------------------------------


async def test_an_agent_that_runs_as_a_tool_has_a_lane_of_its_own() -> None:
    def make(on_stream: Any) -> Agent[Any]:
        inner = runs.agent(
            [assistant_message("Adding."), function_call("add", {"a": 2, "b": 2}, call_id="c1")],
            [assistant_message("four")],
            name="Inner",
            tools=[add],
        )
        asks = [function_call("ask_inner", {"input": "2 + 2"}, call_id="c1")]
        tool = inner.as_tool("ask_inner", "Ask.", on_stream=on_stream)
        return runs.agent(asks, [assistant_message("It is four.")], tools=[tool])

    played = await runs.play_nested(make)
    folded = played.folded
    lane = folded.lanes["c1"]
    assert (lane.name, lane.parent_call_id, lane.outcome) == ("Inner", "c1", "completed")
    said = [runs.text_of(message) for message in folded.messages if message.lane == "c1"]
    assert said == ["Adding.", "four"]
    assert played.text == "It is four."
    assert folded.calls["c1@c1"].raw_output == 4
    assert folded.calls["c1"].raw_output == "four"


async def test_an_agent_below_an_agent_has_a_lane_below_its_lane() -> None:
    def make(on_stream: Any) -> Agent[Any]:
        lowest = runs.agent([assistant_message("low")], name="Lowest")
        tools: list[Any] = [lowest.as_tool("go", "Go.", on_stream=on_stream)]
        middle = runs.agent(
            [function_call("go", {"input": "x"}, call_id="c2")],
            [assistant_message("mid")],
            name="Middle",
            tools=tools,
        )
        tools = [middle.as_tool("go", "Go.", on_stream=on_stream)]
        return runs.agent(
            [function_call("go", {"input": "x"}, call_id="c1")], [assistant_message("top")], tools=tools
        )

    folded = (await runs.play_nested(make)).folded
    assert {name: lane.parent_lane for name, lane in folded.lanes.items()} == {"c1": None, "c1/c2": "c1"}
    assert folded.lanes["c1/c2"].parent_call_id == "c2@c1"
    assert [runs.text_of(one) for one in folded.messages if one.lane == "c1/c2"] == ["low"]


def test_what_a_nested_agent_says_before_its_call_is_known_waits_for_the_call() -> None:
    text = runs.raw("response.output_text.delta", delta="inside")
    nested = f.NestedEvent(tool_call=CALL, event=text, agent="Inner")
    played = runs.translate(nested, runs.created(), runs.done(CALL), output("c1", "x"))
    kinds = [type(event).__name__ for event in played.events]
    assert kinds.index("ToolCall") < kinds.index("SubagentStarted") < kinds.index("Text")
    assert played.folded.lanes["c1"].outcome == "completed"


def test_a_nested_agent_whose_call_never_came_is_shown_at_the_end() -> None:
    text = runs.raw("response.output_text.delta", delta="inside")
    played = runs.translate(f.NestedEvent(tool_call=CALL, event=text, agent="Inner"))
    folded = played.folded
    assert [runs.text_of(message) for message in folded.messages] == ["inside"]
    assert (folded.lanes["c1"].outcome, folded.calls["c1"].status) == ("failed", "failed")


# -- facts -----------------------------------------------------------------------------------------


def test_a_call_is_not_seen_to_run_before_its_arguments_are_whole() -> None:
    begun = {**CALL, "arguments": ""}
    delta = runs.raw("response.function_call_arguments.delta", delta='{"a":1}')
    played = runs.translate(
        f.ToolStarted(call_id="c1"),
        runs.created(),
        runs.added(begun),
        delta,
        runs.done(CALL),
        output("c1", "1"),
    )
    assert played.statuses("c1") == ["in_progress", "completed"]
    assert played.call("c1").arguments == '{"a":1}'


def test_a_refused_call_is_denied_with_the_persons_reason() -> None:
    denied = f.ToolDenied(call_id="c1", reason="not today")
    played = runs.translate(runs.created(), runs.done(CALL), denied, output("c1", "The user said no."))
    call = played.call("c1")
    assert (call.status, call.reason, call.raw_output) == ("denied", "not today", None)
    assert c.text_of(call.content) == "The user said no."


def test_arguments_that_a_person_changed_are_shown() -> None:
    changed = f.InputChanged(call_id="c1", arguments={"a": 5})
    played = runs.translate(runs.created(), runs.done(CALL), changed, output("c1", "5"))
    assert played.call("c1").input == {"a": 5}


def test_progress_is_appended_to_a_running_call() -> None:
    facts = [f.ToolStarted(call_id="c1"), *(f.ToolProgress(call_id="c1", output=one) for one in ("a", "b"))]
    played = runs.translate(
        runs.created(), runs.done(CALL), *facts, f.ToolProgress(call_id="c1", title="Busy"), output("c1", "5")
    )
    call = played.call("c1")
    assert (call.output, call.title) == ("ab", "Busy")


def test_a_fact_names_the_agent_below_which_its_call_was_made() -> None:
    inner = {**CALL, "call_id": "c2"}
    opened = [runs.created(), runs.done(CALL), runs.done({**CALL, "call_id": "c0"}, 1)]
    nested = [
        f.NestedEvent(tool_call={"call_id": one}, event=runs.done(inner), agent=one) for one in ("c0", "c1")
    ]
    made = runs.translator()
    for item in [*opened, *nested]:
        made.feed(item)
    assert made.call_id("c2", "c0") == "c2@c0"
    assert made.call_id("c2", "c1") == "c2@c1"
    assert made.call_id("c2", "c9") is None
    assert made.call_id("c9") is None
    (update,) = made.feed(f.ToolStarted(call_id="c2", parent="c0"))
    assert (update.lane, getattr(update, "call_id", "")) == ("c0", "c2@c0")


def test_an_output_that_comes_again_when_a_run_is_resumed_is_not_shown_again() -> None:
    before = runs.translate(runs.created(), runs.done(CALL), output("c1", "1"), close=False)
    made = runs.translator()
    made.restore(fold([ev.TurnStarted(turn_id=runs.TURN), *before.events]))
    assert made.feed(output("c1", "1")) == []


def test_a_resumed_turn_goes_on_with_its_calls_and_lanes() -> None:
    text = runs.raw("response.output_text.delta", delta="inside")
    nested = f.NestedEvent(tool_call=CALL, event=text, agent="Inner")
    before = runs.translate(runs.created(), runs.done(CALL), runs.completed(), nested, close=False)
    made = runs.translator()
    made.restore(fold([ev.TurnStarted(turn_id=runs.TURN), *before.events]))
    after = [*made.feed(nested), *made.feed(output("c1", "1"))]
    assert [type(event).__name__ for event in after] == [
        "StepStarted", "Text", "StepFinished", "SubagentFinished", "ToolUpdate",
    ]  # fmt: skip


# -- closing ---------------------------------------------------------------------------------------


def test_closing_ends_what_is_open_once() -> None:
    made = runs.translator()
    for item in (runs.created(), runs.done(CALL)):
        made.feed(item)
    out = made.close("it was cancelled", "cancelled")
    assert [(type(event).__name__, getattr(event, "status", None)) for event in out] == [
        ("ToolUpdate", "cancelled"),
        ("StepFinished", None),
    ]
    assert made.close() == []
    assert made.feed(runs.created()) == []


@pytest.mark.parametrize("garbage", [None, 5, {}, {"type": "raw_response_event"}, object(), "text", [1]])
def test_garbage_is_kept_as_raw(garbage: Any) -> None:
    assert [type(event) for event in runs.translator().feed(garbage)] == [ev.Raw]


_fields = st.sampled_from(
    ["type", "name", "item", "data", "output_index", "delta", "raw_item", "call_id", "id"]
)
_words = st.sampled_from(
    ["raw_response_event", "run_item_stream_event", "tool_output", "response.output_item.done", "message",
     "response.output_text.delta", "function_call", "c1", "response.completed", "reasoning"]
)  # fmt: skip
_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | _words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_fields, inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(_values, max_size=8))
def test_nothing_that_a_provider_may_send_raises(items: list[Any]) -> None:
    runs.legal(runs.translate(*items).events)


@given(st.integers(0, 200))
def test_any_beginning_of_a_turn_closes_legally(length: int) -> None:
    async def record() -> list[Any]:
        seen: list[Any] = []

        async def on_stream(payload: Any) -> None:
            seen.append(f.NestedEvent(tool_call=payload["tool_call"], event=payload["event"]))

        inner = runs.agent(
            [function_call("add", {"a": 1, "b": 1}, call_id="c1")], [assistant_message("in")], tools=[add]
        )
        other = runs.agent([assistant_message("bye")], name="Other")
        main = runs.agent(
            [
                assistant_message("one"),
                function_call("add", {"a": 1, "b": 2}, call_id="c1"),
                function_call("ask", {"input": "x"}, call_id="c2"),
            ],
            [function_call("transfer_to_other", {}, call_id="c3")],
            tools=[add, inner.as_tool("ask", "Ask.", on_stream=on_stream)],
            handoffs=[other],
        )
        result = runs.Runner.run_streamed(main, "hi", run_config=runs.QUIET)
        async for event in result.stream_events():
            seen.append(event)
        return seen

    items = _RECORDED or _RECORDED.extend(asyncio.run(record())) or _RECORDED
    runs.legal(runs.translate(*items[:length]).events)


_RECORDED: list[Any] = []


class Hostile:
    """A value whose fields cannot be read."""

    @property
    def type(self) -> str:
        raise RuntimeError("no")

    data = item = type

    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_a_value_whose_fields_raise_is_kept_as_raw_and_the_rest_is_shown() -> None:
    text = runs.raw("response.output_text.delta", delta="x")
    broken = {"type": "raw_response_event", "data": {"type": "response.output_item.done", "item": Hostile()}}
    played = runs.translate(Hostile(), runs.created(), broken, text)
    assert [type(event) for event in played.of(ev.Raw)] == [ev.Raw, ev.Raw]
    assert played.text == "x"


def test_a_nested_event_without_a_call_is_kept_as_raw() -> None:
    text = runs.raw("response.output_text.delta", delta="inside")
    (kept,) = runs.translate(f.NestedEvent(tool_call=None, event=text)).of(ev.Raw)
    assert kept.payload["delta"] == "inside"


def test_a_fact_about_a_call_that_never_comes_is_forgotten_at_the_end() -> None:
    assert runs.translate(f.ToolStarted(call_id="c9"), f.ToolFailed(call_id="c9", reason="x")).events == []


def test_lanes_that_ended_are_not_opened_again_by_a_resume() -> None:
    text = runs.raw("response.output_text.delta", delta="inside")
    nested = f.NestedEvent(tool_call=CALL, event=text, agent="Inner")
    before = runs.translate(runs.created(), runs.done(CALL), nested, output("c1", "1"), close=False)
    made = runs.translator()
    made.restore(fold([ev.TurnStarted(turn_id=runs.TURN), *before.events]))
    assert made.feed(nested) == made.close() == []
