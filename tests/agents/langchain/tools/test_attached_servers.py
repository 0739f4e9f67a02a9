"""Servers in a session's memory."""

import sys
from typing import Any

import pytest
from tests.agents.langchain.mcp_example import STDIO, invoke, named, patiently, text_in
from tests.hubs import until
from tests.process_state import is_alive

from trunkline.agents.interface import McpCapabilities
from trunkline.agents.langchain.tools import attached_servers
from trunkline.agents.langchain.tools.attached_servers import (
    attach_servers,
    attached_tools,
    detach_servers,
    mcp_capabilities,
    server_failures,
    wait_for_servers,
)

BAD: list[dict[str, Any]] = [{"name": "bad", "command": "/no/such/thing", "args": [], "env": []}]


async def pid_in(memory: dict[Any, Any], tool: str) -> int:
    await patiently(wait_for_servers(memory))
    return int(text_in(await patiently(invoke(named(attached_tools(memory))[tool]))).split()[-1])


async def test_servers_live_with_the_session_and_others_take_their_place() -> None:
    memory: dict[Any, Any] = {}
    servers = [{"name": "w", **STDIO}]
    try:
        await attach_servers(memory, servers, folders=["/"])
        first = await pid_in(memory, "w__count")
        await attach_servers(memory, servers, folders=["/"])
        assert await pid_in(memory, "w__count") == first
        await patiently(attach_servers(memory, BAD, folders=["/"]))
        await until(lambda: not is_alive(first))
        await patiently(wait_for_servers(memory))
        assert attached_tools(memory) == []
        assert [notice.title for notice in server_failures(memory)] == ["MCP server 'bad' is not available"]
        await patiently(attach_servers(memory, (), folders=["/"]))
        assert server_failures(memory) == []
    finally:
        await patiently(detach_servers(memory))
        await detach_servers(memory)
    assert memory == {}


async def test_each_source_has_its_own_servers() -> None:
    memory: dict[Any, Any] = {}
    await attach_servers(memory, BAD)
    await attach_servers(memory, {"worse": {}}, source="middleware", prefix_tool_name=False)
    await patiently(wait_for_servers(memory))
    assert [notice.title.split("'")[1] for notice in server_failures(memory)] == ["bad", "worse"]
    await patiently(detach_servers(memory))


async def test_an_environment_without_mcp_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trunkline.agents.langchain.tools.mcp_servers", None)
    memory: dict[Any, Any] = {}
    await attach_servers(memory, BAD)
    await wait_for_servers(memory)
    (notice,) = server_failures(memory)
    assert (notice.title, notice.code) == ("MCP servers cannot be attached", "mcp_missing")
    assert "pip install 'trunkline[mcp]'" in (notice.description or "")
    assert server_failures(memory) == []
    assert attached_tools(memory) == []
    await detach_servers(memory)


def test_what_can_be_attached_depends_on_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert mcp_capabilities() == McpCapabilities(http=True, sse=True)

    def nowhere(name: str) -> None:
        return None

    monkeypatch.setattr(attached_servers, "find_spec", nowhere)
    assert mcp_capabilities() == McpCapabilities()
