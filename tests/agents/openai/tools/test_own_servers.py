"""MCP servers of an agent's own: what they say of their tools, and of calls that failed."""

import sys
from pathlib import Path
from typing import Any

from agents.mcp import MCPServer, MCPServerStdio

from tests.agents.openai.sdk_agents import agent_of, call, named
from tests.hubs import collect, run_turn, session_for
from trunkline.agents.openai.tools.own_servers import watch_server
from trunkline.folding import fold

SCRIPT = str(Path(__file__).parents[2] / "langchain" / "servers" / "example_server.py")
PARAMS: Any = {"command": sys.executable, "args": [SCRIPT, "stdio"]}


async def test_a_call_whose_server_says_that_it_failed_is_failed() -> None:
    async with MCPServerStdio(PARAMS, name="w", client_session_timeout_seconds=40) as server:
        own = type(server)
        calls = [call("fail", "k1", words="no paper"), call("count", "k2")]
        agent, model = agent_of(calls, "Done.", tools=[], mcp_servers=[server])
        shown = named(fold(await run_turn(agent)))
        assert (shown["k1"].status, shown["k2"].status) == ("failed", "completed")
        assert "no paper" in (shown["k1"].reason or "")
        assert agent.agent.mcp_servers == [server]
        assert type(server) is own, "the user's own server is as it was"
        assert "no paper" in str(model.calls[-1].input)


async def test_a_turn_uses_the_servers_own_connection_and_cache() -> None:
    async with MCPServerStdio(
        PARAMS, name="w", client_session_timeout_seconds=40, cache_tools_list=True
    ) as server:
        agent, _ = agent_of(
            [call("count", "k1")], "One.", [call("count", "k2")], "Two.", tools=[], mcp_servers=[server]
        )
        async with session_for(agent) as session:
            await collect(session, "Count.")
            assert server.cached_tools
            shown = named(fold(await collect(session, "Count.")))
        assert "2 in" in str(shown["k2"].raw_output)


async def test_a_tool_is_shown_as_its_server_annotates_it() -> None:
    async with MCPServerStdio(PARAMS, name="w", client_session_timeout_seconds=40) as server:
        agent, _ = agent_of([call("add", "k1", a=1, b=2)], "Three.", tools=[], mcp_servers=[server])
        shown = named(fold(await run_turn(agent)))
    assert (shown["k1"].title, shown["k1"].kind) == ("Add numbers", "read")


def test_a_server_whose_attributes_cannot_be_shared_is_used_as_it_is() -> None:
    class Apart(MCPServer):
        __slots__ = ("own",)

    Apart.__abstractmethods__ = frozenset()
    server: Any = object.__new__(Apart)
    assert watch_server(server, None) is server  # pyright: ignore[reportArgumentType]
