"""Function tools: the copy fails visibly, and the tool's own policy for failures stays."""

import asyncio
from typing import Any

import pytest

from agents import (
    FunctionTool,
    RunConfig,
    RunContextWrapper,
    ToolGuardrailFunctionOutput,
    function_tool,
    tool_input_guardrail,
    tool_output_guardrail,
)
from tests.agents.openai.sdk_agents import agent_of, call, named, sent, statuses
from tests.hubs import only, run_turn
from trunkline import events as ev
from trunkline.folding import fold
from trunkline.workspace import Policy


@function_tool(failure_error_function=lambda context, error: f"In my words: {error}")
def worded(why: str) -> str:
    """Fail in words of one's own."""
    raise ValueError(why)


@function_tool(failure_error_function=None)
def raising(why: str) -> str:
    """Fail, and end the run."""
    raise ValueError(why)


@function_tool(timeout=0.01)
async def slow() -> str:
    """Take too long."""
    await asyncio.sleep(60)
    return "done"


async def test_a_tools_own_words_for_its_failure_are_what_the_model_reads() -> None:
    agent, model = agent_of([call("worded", "f1", why="no fuel")], "Sorry.", tools=[worded])
    shown = named(fold(await run_turn(agent)))["f1"]
    assert (shown.status, shown.reason) == ("failed", "ValueError: no fuel")
    assert sent(model)[-1] == ("output f1", "In my words: no fuel")


async def test_the_runs_formatter_of_errors_still_words_them() -> None:
    @function_tool
    def plain(why: str) -> str:
        """Fail."""
        raise ValueError(why)

    config = RunConfig(tool_error_formatter=lambda given: f"{given.tool_name} failed")
    agent, model = agent_of([call("plain", "f1", why="x")], "Sorry.", tools=[plain], run_config=config)
    await run_turn(agent)
    assert sent(model)[-1] == ("output f1", "plain failed")


async def test_a_tool_that_ends_the_run_fails_the_turn_and_its_call() -> None:
    agent, _ = agent_of([call("raising", "f1", why="no fuel")], tools=[raising])
    events = await run_turn(agent)
    assert isinstance(events[-1], ev.TurnFailed)
    assert "no fuel" in events[-1].message
    assert statuses(fold(events)) == {"f1": "failed"}


async def test_a_tool_that_takes_too_long_is_failed() -> None:
    agent, model = agent_of([call("slow", "f1")], "Sorry.", tools=[slow])
    assert statuses(fold(await run_turn(agent))) == {"f1": "failed"}
    assert "timed out" in sent(model)[-1][1]


async def test_arguments_that_are_no_json_fail_the_call() -> None:
    @function_tool
    def count(number: int) -> str:
        """Count."""
        return str(number)

    agent, _ = agent_of([call("count", "f1", number="many")], "Sorry.", tools=[count])
    assert statuses(fold(await run_turn(agent))) == {"f1": "failed"}


@pytest.mark.parametrize("narrow", [False, True])
async def test_a_tool_made_by_hand_gets_the_context_that_it_declares(narrow: bool) -> None:
    seen: list[Any] = []

    async def wide_function(context: Any, arguments: str) -> str:
        seen.append(context)
        return "wide"

    async def narrow_function(context: RunContextWrapper[Any], arguments: str) -> str:
        seen.append(context)
        return "narrow"

    made = FunctionTool(
        name="by_hand",
        description="By hand.",
        params_json_schema={"type": "object", "properties": {}},
        on_invoke_tool=narrow_function if narrow else wide_function,
        strict_json_schema=False,
    )
    agent, _ = agent_of([call("by_hand", "f1")], "Done.", tools=[made])
    assert statuses(fold(await run_turn(agent))) == {"f1": "completed"}
    assert hasattr(seen[0], "tool_call_id") != narrow


async def test_what_the_users_own_guardrail_rejects_is_not_asked_about() -> None:
    @tool_input_guardrail
    def never(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.reject_content("not today")

    @function_tool(tool_input_guardrails=[never])
    def pay() -> str:
        """Pay."""
        return "paid"

    agent, model = agent_of([call("pay", "f1")], "Done.", tools=[pay])
    events = await run_turn(agent, policy=Policy.ask())
    assert not only(events, ev.Asked)
    assert sent(model)[-1] == ("output f1", "not today")


async def test_a_call_whose_output_stops_the_run_is_not_called_one_that_never_ran() -> None:
    @tool_output_guardrail
    def stop(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.raise_exception()

    @function_tool(tool_output_guardrails=[stop])
    def pay() -> str:
        """Pay."""
        return "paid"

    agent, _ = agent_of([call("pay", "f1")], tools=[pay])
    shown = fold(await run_turn(agent))
    assert named(shown)["f1"].reason == "The agent stopped while this call ran."
    assert shown.turns[-1].stop_reason == "refusal"


async def test_a_callable_needs_approval_gets_the_arguments_as_without_us() -> None:
    seen: list[Any] = []

    async def needs(context: Any, arguments: dict[str, Any], call_id: str) -> bool:
        seen.append((arguments, call_id))
        return False

    @function_tool(needs_approval=needs)
    def pay(amount: int) -> str:
        """Pay."""
        return f"paid {amount}"

    agent, model = agent_of([call("pay", "f1", amount=3)], "Done.", tools=[pay])
    await run_turn(agent)
    assert seen == [({"amount": 3}, "f1")]
    assert sent(model)[-1] == ("output f1", "paid 3")
    assert pay.tool_input_guardrails is None


def test_the_sdk_still_keeps_a_tools_function_where_we_look_for_it() -> None:
    invoker: Any = worded.on_invoke_tool
    assert callable(invoker._invoke_tool_impl)
    assert callable(invoker._on_handled_error)
    assert callable(invoker.__agents_bind_function_tool__)
