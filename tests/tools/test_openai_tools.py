"""Tools of a registry in the OpenAI Agents SDK, run by its own runner with a scripted model."""

import copy
import dataclasses
from collections.abc import AsyncIterator
from datetime import date
from decimal import Decimal
from typing import Any, Literal

import pytest
from agents.testing import ScriptedModel, assistant_message, function_call
from agents.tool import FunctionTool, set_function_tool_failure_error_function
from tests.hubs import collect, only, session_for, text_of

from agents import Agent, RunConfig, Runner, ToolCallOutputItem
from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.session.context import TurnContext
from trunkline.tools import Table, ToolContext, ToolRegistry, tool
from trunkline.tools.adapter_calls import ShownCall, declared_tool, show_calls
from trunkline.workspace import Policy


@tool(kind="execute", title="SQL: {query}", permission="ask")
async def run_sql(query: str, limit: int = 100, *, ctx: ToolContext) -> Table:
    """Run one read-only query."""
    ctx.progress(f"reading for {ctx.call_id}\n")
    return Table(("query", "limit"), [(query, limit)])


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool
def count(words: dict[str, int]) -> int:
    """Count words."""
    return sum(words.values())


REGISTRY = ToolRegistry([run_sql, add, count])
OFF = RunConfig(tracing_disabled=True)


def agent_of(*steps: Any, **options: Any) -> tuple[Agent[Any], ScriptedModel]:
    """An agent of the SDK with the registry's tools, and its model."""
    model = ScriptedModel([*steps, [assistant_message("Done.")]])
    return Agent(name="bookkeeper", model=model, tools=[*REGISTRY.for_openai(**options)]), model


def outputs(result: Any) -> list[Any]:
    """What the model was told of its calls."""
    return [item.output for item in result.new_items if isinstance(item, ToolCallOutputItem)]


def named(name: str, **options: Any) -> FunctionTool:
    """One of the SDK's tools."""
    return next(one for one in REGISTRY.for_openai(**options) if one.name == name)


# -- without a session -------------------------------------------------------------------------------


async def test_a_tool_runs_with_a_strict_schema_and_its_result_is_text() -> None:
    made = named("add")
    assert made.strict_json_schema
    assert made.params_json_schema["required"] == ["a", "b"]
    assert made.params_json_schema["additionalProperties"] is False
    assert add.schema["required"] == ["a"]
    agent, model = agent_of([function_call("add", {"a": 2}, call_id="c1")])
    result = await Runner.run(agent, "go", run_config=OFF)
    assert outputs(result) == ["3"]
    assert result.final_output == "Done."
    model.assert_complete()


def test_a_schema_that_strict_mode_cannot_say_stays_as_it_is() -> None:
    made = named("count")
    assert not made.strict_json_schema
    assert made.params_json_schema == count.schema


def test_a_strict_schema_has_only_what_openai_takes() -> None:
    def choose(mode: Literal["fast", "slow"] = "fast", day: date | None = None) -> None: ...
    def sets(words: set[str]) -> None: ...
    def money(price: Decimal) -> None: ...
    def anything(value: Any) -> None: ...

    made = {one.name: one for one in ToolRegistry([choose, sets, money, anything]).for_openai()}
    assert {name: one.strict_json_schema for name, one in made.items()} == {
        "choose": True,
        "sets": False,
        "money": False,
        "anything": False,
    }
    # "schema must have a 'type' key" is what the API says otherwise, and refuses the whole request.
    assert made["choose"].params_json_schema["properties"]["mode"]["type"] == "string"


async def test_a_failure_is_told_to_the_model_and_known_to_a_copy_with_another_failure_function() -> None:
    seen: list[Any] = []

    def note(context: Any, error: Exception) -> str:
        seen.append((context.tool_call_id, str(error)))
        return "noted"

    made = set_function_tool_failure_error_function(copy.copy(named("add")), note)
    steps = [[function_call("add", {"a": "x"}, call_id="c1")], [assistant_message("Done.")]]
    agent = Agent[Any](name="a", model=ScriptedModel(steps), tools=[made])
    assert outputs(await Runner.run(agent, "go", run_config=OFF)) == ["noted"]
    assert seen == [("c1", "add did not run: the argument 'a': expected `int`, got `str`")]
    agent, _ = agent_of([function_call("add", {"a": "x"}, call_id="c1")])
    assert outputs(await Runner.run(agent, "go", run_config=OFF)) == [seen[0][1]]


async def test_outside_of_a_session_a_tool_that_asks_is_refused_with_a_sentence() -> None:
    step = [function_call("run_sql", {"query": "SELECT 1", "limit": 2}, call_id="c1")]
    agent, _ = agent_of(step)
    (refused,) = outputs(await Runner.run(agent, "go", run_config=OFF))
    assert "there is no session in which somebody could be asked" in refused
    agent, _ = agent_of(step, on_no_session="allow")
    result = await Runner.run(agent, "go", run_config=OFF)
    assert outputs(result) == ['{"columns":["query","limit"],"rows":[["SELECT 1",2]]}']
    (item,) = [one for one in result.new_items if isinstance(one, ToolCallOutputItem)]
    shown: Any = item.custom_data
    assert shown["trunkline"]["content"][0]["text"].startswith("| query | limit |")


def test_the_tool_behind_a_copy_is_known() -> None:
    made = named("add")
    assert declared_tool(made) is add
    assert declared_tool(copy.copy(made)) is add
    assert declared_tool(dataclasses.replace(made, name="sum")) is add
    assert declared_tool(object()) is None


# -- in a session ------------------------------------------------------------------------------------


async def test_in_a_turn_the_run_stops_for_the_approval_and_the_tool_does_not_ask_again() -> None:
    async def agent(ctx: TurnContext) -> AsyncIterator[str]:
        made, _ = agent_of([function_call("run_sql", {"query": "SELECT 1"}, call_id="c1")])
        result = await Runner.run(made, "go", run_config=OFF)
        (stop,) = result.interruptions
        state = result.to_state()
        state.approve(stop)
        # An adapter shows the call: the tool has no card of its own.
        call_id = ctx.start_call("run_sql", {"query": "SELECT 1"}, call_id="shown")
        show_calls(ctx, lambda native_id: ShownCall(call_id=call_id) if native_id == "c1" else None)
        yield str(outputs(await Runner.run(made, state, run_config=OFF))[-1])

    async with session_for(agent) as session:
        events = await collect(session, "go")
    assert text_of(events) == '{"columns":["query","limit"],"rows":[["SELECT 1",100]]}'
    assert [one.call_id for one in only(events, ev.ToolCall)] == ["shown"]
    assert "reading for shown\n" in [one.output for one in only(events, ev.ToolUpdate)]


@pytest.mark.parametrize(("policy", "ran"), [(Policy.allow_all(), True), (Policy.deny(), False)])
async def test_what_the_policy_decides_stops_no_run(policy: Policy, ran: bool) -> None:
    async def agent() -> AsyncIterator[str]:
        made, _ = agent_of([function_call("run_sql", {"query": "SELECT 1"}, call_id="c1")])
        result = await Runner.run(made, "go", run_config=OFF)
        assert not result.interruptions
        yield str(outputs(result)[0])

    async with session_for(agent, policy=policy) as session:
        events = await collect(session, "go")
    assert ("SELECT 1" in text_of(events)) is ran
    (card,) = only(events, ev.ToolCall)
    assert (card.call_id, card.title) == ("c1", "SQL: SELECT 1")
    assert only(events, ev.ToolUpdate)[-1].status == ("completed" if ran else "denied")


async def test_an_answer_for_good_stops_no_later_run() -> None:
    async def agent() -> AsyncIterator[str]:
        assert isinstance(await REGISTRY.call("run_sql", {"query": "SELECT 1"}), Table)
        made, _ = agent_of([function_call("run_sql", {"query": "SELECT 1"}, call_id="c1")])
        result = await Runner.run(made, "go", run_config=OFF)
        assert not result.interruptions
        yield str(outputs(result)[0])

    async with session_for(agent) as session:

        async def press(asked: ev.Asked) -> None:
            await session.answer(Answer(question_id=asked.question_id, option_id="allow_always"))

        events = await collect(session, "go", {ev.Asked: press})
    assert len(only(events, ev.Asked)) == 1
    assert "SELECT 1" in text_of(events)
