"""Plain code never holds up the event loop: functions, generators and tools, however they are wrapped."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState

from tests.agents.langchain import graphs
from tests.agents.langchain.graphs import plain_graph
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import collect, only, run_turn, session_for, soon, until
from trunkline import adapt
from trunkline import events as ev
from trunkline.agents.langchain import PermissionMiddleware, SessionMiddleware, ToolMiddleware
from trunkline.agents.langchain.channel import current_channel
from trunkline.agents.own_thread import OwnThread
from trunkline.commands import Prompt
from trunkline.testing.chat import ScriptedChatModel, call


class Gate:
    """Where plain code waits until the loop lets it go on: a loop that is held up never would."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()

    def wait(self) -> str:
        self.reached.set()
        return "let through" if self.opened.wait(5) else "the loop stood still"

    async def open(self) -> None:
        await until(self.reached.is_set)
        self.opened.set()


Make = Callable[[Gate], Any]


def plain_function(gate: Gate) -> Any:
    def work(prompt: Prompt) -> str:
        return gate.wait()

    return work


def plain_generator(gate: Gate) -> Any:
    def work(prompt: Prompt) -> Iterator[str]:
        yield gate.wait()

    return work


def tool_of(gate: Gate) -> Any:
    @tool
    def work() -> str:
        """Wait in plain code."""
        assert current_channel() is not None, "the turn's context variables reach a tool in its thread"
        return gate.wait()

    return work


def _model() -> ScriptedChatModel:
    return ScriptedChatModel(call("work", {}, "w1"), "Done.")


def agent_with_a_plain_tool(gate: Gate) -> Any:
    return create_agent(_model(), [tool_of(gate)])


def agent_with_our_middlewares(gate: Gate) -> Any:
    middleware = [
        SessionMiddleware(),
        ToolMiddleware(),
        PermissionMiddleware({"work": {"require_permission": False}}),
    ]
    return create_agent(_model(), [tool_of(gate)], middleware=middleware, checkpointer=InMemorySaver())


def graph_of(gate: Gate, model: Any = None, **wrappers: Any) -> Any:
    return plain_graph(model or _model(), [tool_of(gate)], **wrappers)


def plainly_wrapped(gate: Gate) -> Any:
    def wrap(request: Any, handler: Callable[[Any], Any]) -> Any:
        assert current_channel() is not None
        answer = handler(request)
        return answer.model_copy(update={"content": f"{answer.content} and wrapped"})

    return graph_of(gate, wrap_tool_call=wrap)


def waiting_wrapper(gate: Gate) -> Any:
    def wrap(request: Any, handler: Callable[[Any], Any]) -> Any:
        return ToolMessage(gate.wait(), tool_call_id=request.tool_call["id"], name="work")

    return graph_of(gate, wrap_tool_call=wrap)


def plain_node(gate: Gate) -> Any:
    def node(state: MessagesState) -> Any:
        return {"messages": [AIMessage(gate.wait())]}

    return graphs.graph_of(node)


KINDS: list[Make] = [
    plain_function,
    plain_generator,
    agent_with_a_plain_tool,
    agent_with_our_middlewares,
    graph_of,
    plainly_wrapped,
    waiting_wrapper,
    plain_node,
]


@pytest.mark.parametrize("make", KINDS)
async def test_plain_code_that_waits_does_not_hold_up_the_loop(make: Make) -> None:
    gate = Gate()
    async with session_for(adapt(make(gate))) as session:
        events, _ = await asyncio.gather(collect(session, "go"), gate.open())
    output = [event.delta for event in only(events, ev.Text)]
    output += [str(event.raw_output) for event in only(events, ev.ToolUpdate) if event.raw_output]
    assert any("let through" in words for words in output), output
    if make is plainly_wrapped:
        assert "let through and wrapped" in output
    assert isinstance(events[-1], ev.TurnFinished)


@pytest.mark.parametrize("make", KINDS)
async def test_a_turn_is_cancelled_while_plain_code_waits(make: Make) -> None:
    gate = Gate()
    async with session_for(adapt(make(gate))) as session:

        async def cancel() -> None:
            await until(gate.reached.is_set)
            assert await session.cancel()
            assert not session.busy

        events, _ = await asyncio.gather(collect(session, "go"), cancel())
        gate.opened.set()
    assert isinstance(events[-1], ev.TurnFinished)
    assert events[-1].stop_reason == "cancelled"
    assert {update.status for update in only(events, ev.ToolUpdate)} & {"completed", "failed"} == set()


async def test_more_wrapped_calls_than_the_loop_has_threads_do_not_wait_for_each_other() -> None:
    gate = Gate()
    many = [call("work", {}, f"w{number}") for number in range(40)]

    def wrap(request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(request)

    graph = graph_of(gate, ScriptedChatModel(many, "Done."), wrap_tool_call=wrap)
    events, _ = await asyncio.gather(run_turn(adapt(graph), "go"), gate.open())
    done = [update for update in only(events, ev.ToolUpdate) if update.status == "completed"]
    assert len(done) == 40


async def test_a_thread_does_one_thing_after_another_with_the_callers_context() -> None:
    where: ContextVar[str] = ContextVar("where", default="nowhere")
    where.set("here")
    thread = OwnThread()
    names = [await soon(thread.do(lambda: (threading.current_thread().name, where.get()))) for _ in range(2)]
    await soon(thread.end())
    assert names == [("trunkline agent", "here")] * 2
