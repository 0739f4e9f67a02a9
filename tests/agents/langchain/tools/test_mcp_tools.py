"""The tools of real servers over stdio, http and sse, as an agent gets them."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from tests.agents.langchain.mcp_example import PATIENCE, STDIO, in_turn, invoke, named, patiently, text_in
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import only, until
from tests.process_state import is_alive

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
from trunkline.agents.langchain.tools.mcp_tools import load_mcp_tools
from trunkline.errors import AgentError, ConfigurationError
from trunkline.mcp.server_connection import Server
from trunkline.mcp.tool_names import name_tools
from trunkline.testing.chat import ScriptedChatModel, call


@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
async def test_tools_load_and_run_over_every_transport(
    transport: str, http: dict[str, Any], sse: dict[str, Any]
) -> None:
    place = {"stdio": STDIO, "http": http, "sse": sse}[transport]
    tools = named(await patiently(load_mcp_tools({"my shop": place})))
    assert text_in(await patiently(tools["my_shop__add"].ainvoke({"a": 1, "b": 2}))) == "3"
    about: Any = tools["my_shop__add"].metadata
    assert about["readOnlyHint"] is True
    assert about["title"] == "Add numbers"
    assert about["mcp"] == {"server": "my shop", "tool": "add"}
    assert tools["my_shop__add"].description == "Add two numbers."


async def test_the_list_of_an_acp_client_is_understood(http: dict[str, Any]) -> None:
    headers = [{"name": "x-key", "value": "k"}]
    servers = [{"type": "http", "name": "web", "url": http["url"], "headers": headers}]
    tools = named(await patiently(load_mcp_tools(servers)))
    assert text_in(await patiently(tools["web__header"].ainvoke({"name": "x-key"}))) == "k"


async def test_without_a_prefix_a_tool_keeps_its_name_and_only_the_second_of_a_name_gets_one(
    http: dict[str, Any], sse: dict[str, Any]
) -> None:
    tools = await patiently(load_mcp_tools({"one": http, "two": sse}, prefix_tool_name=False))
    names = [tool.name for tool in tools]
    assert len(set(names)) == len(names)
    assert {"add", "two__add"} <= set(names)


def test_names_are_what_providers_take_and_never_the_same() -> None:
    tools = [
        StructuredTool.from_function(lambda: "", name=n, description=n) for n in ("t" * 80, "t" * 80, "x")
    ]
    server = cast("Server", type("S", (), {"name": "a.b/c"})())
    named_so = name_tools(((server, cast("BaseTool", tool)) for tool in [*tools, tools[0]]), True)
    assert len(named_so) == 4
    assert all(len(name) <= 64 and name.replace("_", "").replace("-", "").isalnum() for name in named_so)
    assert "a_b_c__x" in named_so


async def test_every_kind_of_content_keeps_its_type_sounds_included(http: dict[str, Any]) -> None:
    tools = named(await patiently(load_mcp_tools({"w": http})))
    message = await patiently(invoke(tools["w__show"]))
    kinds = [cast("dict[str, Any]", block)["type"] for block in message.content]
    assert kinds == ["text", "image", "audio", "text", "text", "file"]
    shown = ContentBlockMapper().content_of(message.content)
    assert [type(block) for block in shown] == [
        c.TextBlock, c.ImageBlock, c.AudioBlock, c.LinkBlock, c.ResourceBlock, c.ResourceBlock,
    ]  # fmt: skip
    link = shown[3]
    assert isinstance(link, c.LinkBlock)
    assert (link.uri, link.name, link.title, link.size) == ("file:///a.txt", "a", "A", 3)
    resource = shown[4]
    assert isinstance(resource, c.ResourceBlock)
    assert (resource.uri, resource.text, resource.mime_type) == ("file:///b.md", "# b", "text/markdown")


async def test_without_standard_blocks_a_result_is_text_and_the_rest_is_in_the_artifact(
    http: dict[str, Any],
) -> None:
    tools = named(await patiently(load_mcp_tools({"w": http}, standard_content_blocks=False)))
    message = await patiently(invoke(tools["w__show"]))
    assert message.content == "hello"
    assert [item["type"] for item in message.artifact["content"]] == [
        "image", "audio", "resource_link", "resource", "resource",
    ]  # fmt: skip


async def test_structured_content_is_the_artifact(http: dict[str, Any]) -> None:
    tools = named(await patiently(load_mcp_tools({"w": http})))
    message = await patiently(invoke(tools["w__add"], a=2, b=3))
    assert message.artifact == {"structured_content": {"result": 5}}
    assert (message.name, message.tool_call_id, message.status) == ("w__add", "c1", "success")


async def test_a_tool_that_fails_answers_the_model_with_an_error(http: dict[str, Any]) -> None:
    tools = named(await patiently(load_mcp_tools({"w": http})))
    message = await patiently(invoke(tools["w__fail"], words="out of glue"))
    assert message.status == "error"
    assert "out of glue" in text_in(message)
    wrong = await patiently(invoke(tools["w__add"], a="x", b=1))
    assert wrong.status == "error"
    assert "valid integer" in text_in(wrong)


async def test_an_agent_runs_them_in_its_graph_and_in_plain_threads(http: dict[str, Any]) -> None:
    tools = await patiently(load_mcp_tools({"w": http}))
    agent = create_agent(ScriptedChatModel(call("w__add", {"a": 1, "b": 1}), "done"), tools)
    result = await patiently(agent.ainvoke({"messages": "go"}))
    assert text_in(result["messages"][-2]) == "2"
    again = create_agent(ScriptedChatModel(call("w__add", {"a": 2, "b": 2}), "done"), tools)
    plainly = await patiently(asyncio.to_thread(again.invoke, {"messages": "go"}))
    assert text_in(plainly["messages"][-2]) == "4"


async def test_a_plain_call_inside_the_loop_is_refused_with_the_way_out(http: dict[str, Any]) -> None:
    tools = named(await patiently(load_mcp_tools({"w": http})))
    call_it: Any = {"type": "tool_call", "id": "1", "name": "x", "args": {"a": 1, "b": 2}}
    message: ToolMessage = tools["w__add"].invoke(call_it)
    assert message.status == "error"
    assert "await it instead" in text_in(message)


async def test_an_argument_that_is_called_like_something_of_langchain_reaches_the_server(
    http: dict[str, Any],
) -> None:
    tools = named(await patiently(load_mcp_tools({"w": http})))
    schema: Any = tools["w__variable"].tool_call_schema
    assert list(schema["properties"]) == ["name"]
    assert text_in(await patiently(invoke(tools["w__variable"], name="NOPE"))) == "unset"


async def test_servers_that_cannot_be_reached_are_all_named() -> None:
    servers = {"here": {"command": "/no/such/thing"}, "there": {"url": "http://127.0.0.1:9/mcp"}}
    with pytest.raises(AgentError) as caught:
        await patiently(load_mcp_tools(servers))
    assert str(caught.value).splitlines() == [
        "MCP server 'here': '/no/such/thing' or its folder was not found: install it, or give its whole path",
        "MCP server 'there': http://127.0.0.1:9/mcp cannot be reached: start it, or check its address",
    ]


async def test_settings_that_are_wrong_are_refused_before_anything_is_started() -> None:
    with pytest.raises(ConfigurationError, match="MCP server 'w': its transport is 'websocket'; known are"):
        await load_mcp_tools({"w": {"transport": "websocket", "url": "ws://127.0.0.1"}})


async def test_a_call_that_is_cancelled_ends_its_process_at_once(tmp_path: Path) -> None:
    tools = named(await patiently(load_mcp_tools({"w": STDIO})))
    marker = tmp_path / "marker"
    running = asyncio.create_task(invoke(tools["w__wait"], marker=str(marker)))
    await until(lambda: marker.exists() and marker.read_text() == "waiting", PATIENCE)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await patiently(running)


async def test_mcp_progress_reaches_the_user_on_the_right_call_also_in_parallel(http: dict[str, Any]) -> None:
    tools = named(await patiently(load_mcp_tools({"w": http})))

    async def act(channel: Any) -> None:
        for name in "ab":
            channel.emitter.tool_started(None, name, "w__work", {"name": name})
        await asyncio.gather(*(invoke(tools["w__work"], name, name=name, steps=4) for name in "ab"))

    _, events = await in_turn(act)
    for name in "ab":
        shown = [u.output for u in only(events, ev.ToolUpdate) if u.call_id == name and u.output]
        assert "".join(shown) == f"25% {name} 1\n50% {name} 2\n75% {name} 3\n100% {name} 4\n"


async def test_a_process_lives_no_longer_than_its_call() -> None:
    tools = named(await patiently(load_mcp_tools({"w": STDIO})))
    first, second = [text_in(await patiently(invoke(tools["w__count"]))) for _ in range(2)]
    pids = {int(words.split()[-1]) for words in (first, second)}
    assert (first[0], second[0], len(pids)) == ("1", "1", 2)
    await until(lambda: not any(map(is_alive, pids)))
