"""A session's own tools in graphs that were compiled without them."""

import asyncio
from collections.abc import Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState
from langgraph.prebuilt import ToolNode
from tests.agents.langchain.graphs import agent_of, answering, calls_of, weather
from tests.agents.langchain.mcp_example import STDIO, in_turn, named, patiently, text_in, turn_of, unhurried
from tests.agents.langchain.untyped_langchain import StateGraph, create_agent
from tests.hubs import hub_for, only, session_for, text_of, until
from tests.process_state import is_alive

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.agents.langchain.channel import Channel, current_channel
from trunkline.agents.langchain.tools.attached_servers import attach_servers, detach_servers
from trunkline.agents.langchain.tools.session_tools import (
    add_tools,
    answer_open_calls,
    find_tool,
    run_tool_call,
    run_tool_call_sync,
    session_tools,
    tools_of,
    wait_for_tools,
)
from trunkline.commands import Answer, Prompt
from trunkline.errors import JournalError
from trunkline.testing.chat import ScriptedChatModel, call

WORKSHOP: dict[str, Any] = {"name": "w", **STDIO}
COLOUR: dict[str, Any] = {"name": "set_colour", "description": "Paint.", "parameters": {"type": "object"}}
ADD = call("w__add", {"a": 1, "b": 2}, "k1")


async def test_a_sessions_servers_serve_an_unmodified_agent_and_end_with_the_session() -> None:
    first_turn = [ADD, call("w__count", {}, "k2")]
    agent, model = agent_of(first_turn, "Three.", call("w__count", {}, "k3"), "Still three.")
    async with unhurried(agent) as hub:
        session = await hub.create(mcp_servers=[WORKSHOP])
        output = await turn_of(session)
        assert {"weather", "w__add", "w__count"} <= set(model.calls[0].tool_names)
        calls = calls_of(output)
        assert (calls["k1"].status, calls["k1"].kind) == ("completed", "read")  # As the server says.
        assert c.text_of(calls["k1"].content) == "3"
        assert calls["k1"].raw_output == {"structured_content": {"result": 3}}
        first = c.text_of(calls["k2"].content)
        assert text_of(output) == "Three."
        again = c.text_of(calls_of(await turn_of(session))["k3"].content)
        pid = int(first.split()[-1])
        assert (first, again) == (f"1 in {pid}", f"2 in {pid}")
        await patiently(session.close())
        await until(lambda: not is_alive(pid))


async def test_sessions_of_one_agent_have_servers_of_their_own_and_end_them_also_when_lost() -> None:
    agent, _ = agent_of(call("w__count", {}, "k"), "Done.", each_turn=True)
    async with hub_for(agent) as hub:
        sessions = [await hub.create(mcp_servers=[WORKSHOP]) for _ in range(2)]
        pids: list[int] = []
        for session in sessions:
            output = await turn_of(session)
            pids.append(int(c.text_of(calls_of(output)["k"].content).split()[-1]))
            assert c.text_of(calls_of(output)["k"].content).startswith("1 in ")
        assert len(set(pids)) == 2
        assert all(map(is_alive, pids))
        sessions[1].fail(JournalError("the disk is full"))
        await until(lambda: not is_alive(pids[1]))
        assert is_alive(pids[0])
    await until(lambda: not any(map(is_alive, pids)) and not holders())


def holders() -> list[asyncio.Task[Any]]:
    return [task for task in asyncio.all_tasks() if task.get_name().startswith("trunkline mcp")]


async def test_an_agent_without_tools_gets_them_too(http: dict[str, Any]) -> None:
    agent, model = agent_of([ADD, call("w__fail", {"words": "glue"}, "k2")], "Three.", tools=())
    async with unhurried(agent) as hub:
        session = await hub.create(mcp_servers=[{"name": "w", "type": "http", "url": http["url"]}])
        output = await turn_of(session)
    assert "w__add" in model.calls[0].tool_names
    results = [message for message in model.calls[1].messages if isinstance(message, ToolMessage)]
    assert [(text_in(result)[:1], result.status) for result in results] == [("3", "success"), ("E", "error")]
    calls = calls_of(output)
    assert (calls["k1"].status, calls["k2"].status) == ("completed", "failed")
    assert text_of(output) == "Three."


async def test_content_keeps_its_types_on_the_way_through_the_graph(http: dict[str, Any]) -> None:
    agent, model = agent_of(call("w__show", {}, "k1"), "Nice.")
    async with unhurried(agent) as hub:
        session = await hub.create(mcp_servers=[{"name": "w", "type": "http", "url": http["url"]}])
        output = await turn_of(session)
    kinds = [c.TextBlock, c.ImageBlock, c.AudioBlock, c.LinkBlock, c.ResourceBlock, c.ResourceBlock]
    assert [type(block) for block in calls_of(output)["k1"].content] == kinds
    (result,) = [message for message in model.calls[1].messages if isinstance(message, ToolMessage)]
    assert [block["type"] for block in result.content if isinstance(block, dict)] == [
        "text", "image", "audio", "text", "text", "file",
    ]  # fmt: skip


async def test_a_tool_of_the_agent_goes_before_a_servers_and_a_notice_says_so(http: dict[str, Any]) -> None:
    @tool("w__add")
    def own(a: int, b: int) -> str:
        """Add in our own way."""
        return f"{a}{b}"

    agent, model = agent_of(ADD, "Twelve.", tools=[own])
    async with unhurried(agent) as hub:
        session = await hub.create(mcp_servers=[{"name": "w", "type": "http", "url": http["url"]}])
        output = await turn_of(session)
    assert model.calls[0].tool_names.count("w__add") == 1
    assert c.text_of(calls_of(output)["k1"].content) == "12"
    assert [notice.title for notice in only(output, ev.Notice)] == ["Two tools are called 'w__add'"]


# -- graphs of other makes ----------------------------------------------------------------------------


def own_graph(model: ScriptedChatModel, tools: Callable[[], list[Any]]) -> Any:
    """A graph with a model node of its own, which binds what ``tools`` gives."""

    async def think(state: MessagesState) -> dict[str, Any]:
        bound: Any = model.bind_tools(tools())
        return {"messages": [await bound.ainvoke(state["messages"])]}

    async def act(state: MessagesState) -> Any:
        return await ToolNode(tools()).ainvoke(state)

    def way(state: MessagesState) -> str:
        last = state["messages"][-1]
        return "act" if isinstance(last, AIMessage) and last.tool_calls else END

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("act", act)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", way, ["act", END])
    graph.add_edge("act", "think")
    return graph.compile()


async def test_a_graph_with_a_model_node_of_its_own_is_told_how_to_bind_them() -> None:
    agent = LangChainAgent(own_graph(ScriptedChatModel("Hello.", each_turn=True), lambda: [weather]))
    async with session_for(agent) as session:
        assert only(await turn_of(session), ev.Notice) == []
        output = await turn_of(session, Prompt.of("go", tools=(COLOUR,)))
        (notice,) = only(output, ev.Notice)
        assert notice.code == "tools_unbound"
        assert "set_colour must be bound there" in (notice.description or "")
        assert "session_tools()" in (notice.description or "")
        assert only(await turn_of(session, Prompt.of("go", tools=(COLOUR,))), ev.Notice) == []


async def test_a_graph_that_binds_them_itself_uses_them_and_is_not_told() -> None:
    model = ScriptedChatModel(call("set_colour", {"colour": "red"}, "k1"), "Red.")
    agent = LangChainAgent(own_graph(model, session_tools))
    async with session_for(agent) as session:
        ok = answering(session, outcome="accepted", content="ok")
        output = await turn_of(session, Prompt.of("go", tools=(COLOUR,)), ok)
    assert text_of(output) == "Red."
    assert only(output, ev.Notice) == []
    assert calls_of(output)["k1"].status == "completed"
    assert session_tools() == []


# -- the parts ----------------------------------------------------------------------------------------


class Binding(AgentMiddleware[Any, Any, Any]):
    """What a middleware does with them, in both ways."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(add_tools(request, current_channel()))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(add_tools(request, current_channel()))

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return run_tool_call_sync(request, handler, current_channel())

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await run_tool_call(request, handler, current_channel())


async def answer_all(session: Any, asked: ev.Asked) -> None:
    await session.answer(Answer(question_id=asked.question_id, outcome="accepted", content="ok"))


async def test_a_middleware_binds_them_in_plain_functions_and_in_the_loop() -> None:
    async def act(channel: Channel) -> list[list[str]]:
        offered: list[list[str]] = []
        for plainly in (True, False):
            model = ScriptedChatModel(call("set_colour", {}, f"k{plainly}"), "Red.")
            agent = create_agent(model, [weather], middleware=[Binding()])
            given = {"messages": "go"}
            run = asyncio.to_thread(agent.invoke, given) if plainly else agent.ainvoke(given)
            result: Any = await patiently(run)
            assert [message.content for message in result["messages"][-2:]] == ["ok", "Red."]
            offered.append(model.calls[0].tool_names)
        return offered

    offered, _ = await in_turn(act, {ev.Asked: answer_all}, tools=(COLOUR,))
    assert offered == [["weather", "set_colour"]] * 2


async def test_who_wraps_inside_of_another_adds_nothing() -> None:
    agent, model = agent_of(call("set_colour", {}, "k1"), "Red.", middleware=[Binding()])
    async with session_for(agent) as session:
        ok = answering(session, outcome="accepted", content="ok")
        folded = await turn_of(session, Prompt.of("go", tools=(COLOUR,)), ok)
    assert model.calls[0].tool_names == ["weather", "set_colour"]
    assert len(only(folded, ev.Asked)) == 1
    assert only(folded, ev.Notice) == []


async def test_without_a_channel_a_request_stays_as_it_is() -> None:
    model = ScriptedChatModel(call("weather", {"city": "Oslo"}), "Sunny.")
    agent = create_agent(model, [weather], middleware=[Binding()])
    result = await agent.ainvoke({"messages": "go"})
    assert result["messages"][-1].content == "Sunny."
    assert add_tools("request", None) == "request"
    assert find_tool(None, "anything") is None


async def test_what_is_offered_carries_what_its_server_says_of_it(http: dict[str, Any]) -> None:
    class Request:
        tools: tuple[Any, ...] = ({"name": "web_search"}, {"type": "function", "function": {"name": "x"}})

        def override(self, **changes: Any) -> Any:
            return changes

    async def act(channel: Channel) -> list[Any]:
        await attach_servers(channel.memory, {"w": http})
        try:
            tools = named(await patiently(wait_for_tools(channel)))
            assert find_tool(channel, "w__add") is tools["w__add"]
            return add_tools(Request(), channel)["tools"]
        finally:
            await detach_servers(channel.memory)

    offered, _ = await in_turn(act)
    assert offered[:2] == list(Request.tools)
    (add,) = [one for one in offered[2:] if one["function"]["name"] == "w__add"]
    assert add.metadata["readOnlyHint"] is True
    assert add["function"]["parameters"]["required"] == ["a", "b"]


async def test_a_front_ends_tool_gives_way_to_a_servers_of_the_same_name(http: dict[str, Any]) -> None:
    async def act(channel: Channel) -> list[Any]:
        await attach_servers(channel.memory, {"w": http})
        try:
            await patiently(wait_for_tools(channel))
            return [one for one in tools_of(channel) if one.name == "w__add"]
        finally:
            await detach_servers(channel.memory)

    found, events = await in_turn(act, tools=({**COLOUR, "name": "w__add"},))
    assert len(found) == 1
    assert found[0].metadata["mcp"]["server"] == "w"
    assert [notice.code for notice in only(events, ev.Notice)] == ["tool_clash"]


async def test_calls_that_are_nobodys_stay_and_a_tool_that_breaks_is_an_error() -> None:
    async def act(channel: Channel) -> list[ToolMessage]:
        known = tools_of(channel)
        assert [one.name for one in known] == ["set_colour"]
        calls: list[Any] = [
            {"id": "k1", "name": "unknown", "args": {}},
            {"id": "k2", "name": "set_colour", "args": {"tool_runtime": "forged"}},
        ]
        return await answer_open_calls(calls, channel)

    (answer,), events = await in_turn(act, {ev.Asked: answer_all}, tools=(COLOUR,))
    assert (answer.tool_call_id, answer.status) == ("k2", "error")
    assert answer.content.startswith("Error: ")
    (failed,) = [update for update in only(events, ev.ToolUpdate) if update.status == "failed"]
    assert failed.call_id == "k2"
