"""Hooks that are inline, and hooks that are not there."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from langchain.agents.middleware import AgentMiddleware
from langsmith import run_helpers

from tests.agents.langchain.graphs import weather
from tests.agents.langchain.untyped_langchain import create_agent
from trunkline.agents.langchain import (
    Mode,
    ModeMiddleware,
    PermissionMiddleware,
    PlanMiddleware,
    Rule,
    SessionMiddleware,
    ToolMiddleware,
)
from trunkline.agents.langchain.middleware._hooks import TOOL_HOOKS, inline, remove_hooks
from trunkline.testing.chat import ScriptedChatModel, call

PROMPT = {"messages": [{"role": "user", "content": "How is the weather?"}]}


def ours() -> list[AgentMiddleware[Any, Any, Any]]:
    """Every middleware of ours, with something to do."""
    return [
        SessionMiddleware(),
        ToolMiddleware(),
        PermissionMiddleware({"*": Rule(require_permission=False)}),
        ModeMiddleware({"plain": Mode(system_prompt="Be brief.")}),
        PlanMiddleware(),
    ]


def make(middleware: list[AgentMiddleware[Any, Any, Any]]) -> Any:
    model = ScriptedChatModel([call("weather", {"city": "Paris"})], "It is sunny.")
    return create_agent(model, [weather], middleware=middleware)


async def test_our_middlewares_take_no_trip_to_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    trips: list[Any] = []
    loop = asyncio.get_running_loop()
    executed = loop.run_in_executor

    def watched(executor: Any, function: Any, *args: Any) -> Any:
        trips.append(function)
        return executed(executor, function, *args)

    monkeypatch.setattr(loop, "run_in_executor", watched)
    await make([]).ainvoke(PROMPT)
    without_us = len(trips)
    trips.clear()
    ended = await make(ours()).ainvoke(PROMPT)
    assert ended["messages"][-1].text == "It is sunny."
    assert len(trips) == without_us


class Recorder:
    """A client of LangSmith that keeps what it is given."""

    tracing_queue = None
    otel_exporter = None

    def __init__(self) -> None:
        self.runs: list[dict[str, Any]] = []

    def create_run(self, *args: Any, **run: Any) -> None:
        self.runs.append(run)

    update_run = create_run


async def test_our_hooks_are_traced_without_what_went_in_and_came_out() -> None:
    recorder, tracing = Recorder(), cast("Any", run_helpers)
    with tracing.tracing_context(enabled=True, client=recorder):
        ended = await make(ours()).ainvoke(PROMPT)
    assert ended["messages"][-1].text == "It is sunny."
    hooks = [run for run in recorder.runs if "awrap" in run["name"]]
    assert {run["name"].partition(".")[0] for run in hooks} == {one.name for one in ours()}
    assert not any(run.get("inputs") or run.get("outputs") or run.get("error") for run in hooks)
    assert any(run.get("outputs") for run in recorder.runs if run["name"] == "ScriptedChatModel")


def test_an_inline_hook_keeps_its_name_and_what_it_says_of_itself() -> None:
    async def hook(self: Any, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Do something."""
        return await handler(request)

    made = inline(hook)
    assert (made.__name__, made.__doc__) == ("hook", "Do something.")
    assert not inspect.iscoroutinefunction(made)


async def test_an_inline_hook_is_awaited_as_before() -> None:
    class Louder(AgentMiddleware[Any, Any, Any]):
        @inline
        async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
            result = await handler(request)
            result.content += "!"
            return result

    ended = await make([Louder()]).ainvoke(PROMPT)
    assert ended["messages"][-2].content == "It is sunny in Paris.!"


@pytest.mark.parametrize(
    "idle",
    [
        ToolMiddleware(emit_tool_start=False, emit_tool_results=False, handle_errors=False),
        PlanMiddleware(emit_on=()),
    ],
    ids=lambda idle: idle.name,
)
async def test_a_middleware_with_nothing_to_do_is_no_part_of_a_call(idle: Any) -> None:
    kind: Any = idle.__class__
    assert all(getattr(kind, hook) is getattr(AgentMiddleware, hook) for hook in TOOL_HOOKS)
    assert idle.name == kind.__mro__[1].__name__
    ended = await make([idle]).ainvoke(PROMPT)
    assert ended["messages"][-1].text == "It is sunny."


def test_hooks_are_taken_from_one_middleware_and_stay_with_the_others() -> None:
    one, other = ToolMiddleware(), ToolMiddleware()
    remove_hooks(one, "awrap_tool_call")
    assert isinstance(one, ToolMiddleware)
    assert type(one).awrap_tool_call is AgentMiddleware.awrap_tool_call
    assert type(other) is ToolMiddleware
