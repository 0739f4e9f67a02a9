from typing import Any

import pytest
from langchain.agents.middleware import TodoListMiddleware, wrap_tool_call
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import START, MessagesState
from langgraph.prebuilt import ToolNode
from tests.agents.langchain.graphs import weather
from tests.agents.langchain.untyped_langchain import StateGraph, create_agent, create_deep_agent

from trunkline.agents.langchain.graph.inspect import tools_in
from trunkline.agents.langchain.graph.instrument import instrument
from trunkline.testing.chat import ScriptedChatModel, call

EXTRA: dict[str, Any] = {
    "type": "function",
    "function": {"name": "extra", "description": "More.", "parameters": {"type": "object", "properties": {}}},
}


def add_extra(request: Any) -> Any:
    return request.override(tools=[*request.tools, EXTRA])


async def run_extra(request: Any, execute: Any) -> Any:
    if request.tool is None:
        return ToolMessage("from the hook", tool_call_id=request.tool_call["id"])
    return await execute(request)


async def run_tool(request: Any, execute: Any) -> Any:
    return await execute(request)


@wrap_tool_call
async def shout(request: Any, handler: Any) -> Any:
    message = await handler(request)
    return message.model_copy(update={"content": str(message.content).upper()})


@pytest.mark.parametrize("middleware", [[], [TodoListMiddleware()], [shout]], ids=["none", "model", "tools"])
async def test_a_compiled_agent_gets_a_tool_that_it_was_not_made_with(middleware: list[Any]) -> None:
    model = ScriptedChatModel([call("extra", {}, "x1"), call("weather", {"city": "Rome"}, "w1")], "Done.")
    graph = create_agent(model, [weather], middleware=middleware)
    made = instrument(graph, add_extra, run_extra, run_tool)
    assert made.sees_model
    output = (await made.graph.ainvoke({"messages": "Go!"}))["messages"]
    assert "extra" in model.calls[0].tool_names
    sunny = "IT IS SUNNY IN ROME." if shout in middleware else "It is sunny in Rome."
    assert [message.content for message in output if message.type == "tool"] == ["from the hook", sunny]


async def test_the_original_graph_is_left_alone() -> None:
    model = ScriptedChatModel([call("weather", {"city": "Rome"})], "Done.")
    graph = create_agent(model, [weather])
    instrument(graph, add_extra, run_extra, run_tool)
    await graph.ainvoke({"messages": "Go!"})
    assert model.calls[0].tool_names == ["weather"]


async def test_an_agent_without_tools_has_a_hook_for_its_model_only() -> None:
    model = ScriptedChatModel("Hello.")
    made = instrument(create_agent(model, []), add_extra, run_extra, run_tool)
    assert made.sees_model
    await made.graph.ainvoke({"messages": "Go!"})
    assert model.calls[0].tool_names == ["extra"]


async def test_a_plain_graph_has_a_hook_for_its_tools_only() -> None:
    def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage("", tool_calls=[{"name": "extra", "args": {}, "id": "x1"}])]}

    graph = StateGraph(MessagesState).add_node(ask).add_node("tools", ToolNode([weather]))
    compiled = graph.add_edge(START, "ask").add_edge("ask", "tools").compile()
    made = instrument(compiled, add_extra, run_extra, run_tool)
    assert not made.sees_model
    output = (await made.graph.ainvoke({"messages": "Go!"}))["messages"]
    assert output[-1].content == "from the hook"


async def test_an_agent_that_is_a_node_of_a_graph_has_its_own_hooks() -> None:
    model = ScriptedChatModel([call("extra", {}, "x1")], "Done.")
    graph = StateGraph(MessagesState).add_node("inner", create_agent(model, [weather]))
    compiled = graph.add_edge(START, "inner").compile()
    made = instrument(compiled, add_extra, run_extra, run_tool)
    assert (made.sees_model, set(tools_in(compiled))) == (True, {"weather"})
    output = (await made.graph.ainvoke({"messages": "Go!"}))["messages"]
    assert [message.content for message in output if message.type == "tool"] == ["from the hook"]


async def test_a_tool_node_wrapped_by_a_plain_function_stays_as_it_is() -> None:
    def loud(request: Any, execute: Any) -> Any:
        return execute(request)

    def ask(state: MessagesState) -> dict[str, Any]:
        return {
            "messages": [AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Bonn"}, "id": "w"}])]
        }

    graph = (
        StateGraph(MessagesState).add_node(ask).add_node("tools", ToolNode([weather], wrap_tool_call=loud))
    )
    compiled = graph.add_edge(START, "ask").add_edge("ask", "tools").compile()
    made = instrument(compiled, add_extra, run_extra, run_tool)
    output = (await made.graph.ainvoke({"messages": "Go!"}))["messages"]
    assert output[-1].content == "It is sunny in Bonn."


def test_the_model_requests_of_a_deep_agent_are_seen() -> None:
    made = instrument(create_deep_agent(ScriptedChatModel(), [weather]), add_extra, run_extra, run_tool)
    assert made.sees_model
