"""Tests of how runs in the user's own program begin and end: RUN_STARTED first of all, and one terminal."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, hook_config
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, MessagesState
from tests.agents.langchain.agui_client import WAYS, AguiPage, Page, Way
from tests.agents.langchain.graphs import weather
from tests.agents.langchain.recorded_updates import PROMPT, on_thread, text
from tests.agents.langchain.untyped_langchain import StateGraph, create_agent
from tests.hubs import soon

from trunkline.agents.langchain import (
    PermissionMiddleware,
    PlanMiddleware,
    Rule,
    SessionMiddleware,
    ToolMiddleware,
    TrunklineCallbackHandler,
    TrunklineContext,
    acp_middleware,
    agui_middleware,
    agui_system,
)
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.testing.recording import RecordingTransport

HOOKS = ("before_agent", "before_model", "after_model", "after_agent")
CALL = [call("weather", {"city": "Rome"})]


class Boom(Exception):
    """What a middleware of somebody else raises."""


def raising(hook: str) -> AgentMiddleware[Any, Any, Any]:
    def fail(self: Any, state: Any, runtime: Any) -> None:
        raise Boom(hook)

    kind: Any = type("Raises", (AgentMiddleware,), {hook: fail})
    return kind()


class Guard(AgentMiddleware[Any, Any, Any]):
    """Answers in the model's place."""

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> Any:
        return {"messages": [AIMessage("Not here.")], "jump_to": "end"}


def broken(messages: list[Any]) -> Any:
    raise Boom("model")


ENDS: dict[str, tuple[Any, Any, Any, str, str]] = {
    "it answers": (["Hi."], AgentMiddleware, None, "RUN_FINISHED", "Hi."),
    "it calls a tool": ([CALL, "Sunny."], AgentMiddleware, None, "RUN_FINISHED", "Sunny."),
    "a guard answers": ([], Guard, None, "RUN_FINISHED", "Not here."),
    "the limit is reached": ([CALL] * 9, AgentMiddleware, GraphRecursionError, "RUN_FINISHED", ""),
    "the model raises": ([broken], AgentMiddleware, Boom, "RUN_ERROR", ""),
    "it waits for a person": (
        [CALL, "Sunny."],
        lambda: HumanInTheLoopMiddleware(interrupt_on={"weather": True}),
        None,
        "RUN_FINISHED",
        "",
    ),
    **{
        f"{hook} raises": (
            ["Hi."],
            lambda hook=hook: raising(hook),
            Boom,
            "RUN_ERROR",
            "Hi." if hook.startswith("after") else "",
        )
        for hook in HOOKS
    },
}


def system(page: Page) -> tuple[list[Any], list[Any]]:
    middleware, callbacks = agui_system(page)
    return list(middleware), callbacks


def middleware_alone(page: Page) -> tuple[list[Any], list[Any]]:
    return list(agui_middleware(page)), []


def session_alone(page: Page) -> tuple[list[Any], list[Any]]:
    return [SessionMiddleware()], []


def pieces(page: Page) -> tuple[list[Any], list[Any]]:
    return [SessionMiddleware(), ToolMiddleware(), PlanMiddleware()], [TrunklineCallbackHandler()]


MAKERS = [system, middleware_alone, session_alone, pieces]
Maker = Callable[[Page], tuple[list[Any], list[Any]]]


@WAYS
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("how", ENDS)
async def test_a_run_has_one_beginning_and_one_end(how: str, make: Maker, run: Way) -> None:
    script, other, error, terminal, said = ENDS[how]
    page = AguiPage()
    own, callbacks = make(page)
    agent = create_agent(
        ScriptedChatModel(*script), [weather], middleware=[*own, other()], checkpointer=InMemorySaver()
    )
    config = {**on_thread(f"{how} {make.__name__} {run}", *callbacks), "recursion_limit": 6}
    context = TrunklineContext(transport=page)
    if error is None:
        await run(agent, PROMPT, config, context=context)
    else:
        with pytest.raises(error):
            await run(agent, PROMPT, config, context=context)
    assert page.breaches == []
    types = [event["type"] for event in page.events]
    assert (types[0], types[-1]) == ("RUN_STARTED", terminal)
    assert len([one for one in types if one in ("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR")]) == 2
    assert page.text == said
    if how == "it waits for a person":
        assert page.outcome == "interrupt"


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
async def test_a_run_whose_task_is_cancelled_ends_as_cancelled(make: Maker) -> None:
    page, begun = AguiPage(), asyncio.Event()

    async def slow() -> str:
        """Take long."""
        begun.set()
        await asyncio.Event().wait()
        return "never"

    own, callbacks = make(page)
    agent = create_agent(ScriptedChatModel([call("slow", {})]), [slow], middleware=own)
    context = TrunklineContext(transport=page)
    task = asyncio.create_task(agent.ainvoke(PROMPT, on_thread("t1", *callbacks), context=context))
    await soon(begun.wait())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert page.breaches == []
    assert [page.events[0]["type"], page.events[-1]["type"]] == ["RUN_STARTED", "RUN_FINISHED"]
    assert page.outcome == "cancelled"


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
async def test_the_client_knows_of_the_run_before_anything_runs(make: Maker) -> None:
    page = AguiPage()
    seen: list[list[str]] = []

    class Looks(AgentMiddleware[Any, Any, Any]):
        def before_agent(self, state: Any, runtime: Any) -> None:
            seen.append(page.kinds)

    own, callbacks = make(page)
    agent = create_agent(ScriptedChatModel("Hi."), [], middleware=[Looks(), *own])
    await soon(agent.ainvoke(PROMPT, on_thread("t1", *callbacks), context=TrunklineContext(transport=page)))
    assert seen == [["RUN_STARTED"]]


@pytest.mark.parametrize("given", [True, False], ids=["callbacks", "no callbacks"])
async def test_tokens_stream_and_a_guard_is_heard_over_acp_too(given: bool) -> None:
    for other, script, said in ((Guard, [], "Not here."), (AgentMiddleware, [["a", "b"]], "ab")):
        transport = RecordingTransport(session_id="s")
        own = acp_middleware(transport)
        agent = create_agent(ScriptedChatModel(*script), [], middleware=[*own, other()])
        await soon(agent.ainvoke(PROMPT, on_thread("t1", *(own.callbacks if given else ()))))
        assert text(transport) == said


async def test_a_handler_that_is_disposed_of_says_nothing_and_the_run_ends_all_the_same() -> None:
    page = Page()
    own, callbacks = agui_system(page)
    handler: Any = callbacks[0]
    handler.dispose()
    agent = create_agent(ScriptedChatModel("Hi."), [], middleware=own)
    await soon(agent.ainvoke(PROMPT, on_thread("t1", handler)))
    assert (page.kinds[0], page.kinds[-1]) == ("RUN_STARTED", "RUN_FINISHED")


async def test_an_agent_inside_a_graph_without_middlewares_is_a_run_of_its_own() -> None:
    page = Page()
    inner = create_agent(ScriptedChatModel("Hi.", each_turn=True), [], middleware=agui_middleware(page))
    graph = StateGraph(MessagesState)
    graph.add_node("inner", inner)
    graph.add_edge(START, "inner")
    outer = graph.compile()
    for _ in range(2):
        await soon(outer.ainvoke(PROMPT, on_thread("t1")))
    assert page.breaches == []
    types = [event["type"] for event in page.events]
    assert [types.count(one) for one in ("RUN_STARTED", "RUN_FINISHED")] == [2, 2]


async def test_a_permission_alone_begins_and_ends_the_run_it_asks_in() -> None:
    page = AguiPage()
    agent = create_agent(
        ScriptedChatModel(CALL, "Sunny."),
        [weather],
        middleware=[PermissionMiddleware({"*": Rule()})],
        checkpointer=InMemorySaver(),
    )
    await soon(agent.ainvoke(PROMPT, on_thread("t1"), context=TrunklineContext(transport=page)))
    assert (page.kinds[0], page.outcome) == ("RUN_STARTED", "interrupt")
    assert page.breaches == []
