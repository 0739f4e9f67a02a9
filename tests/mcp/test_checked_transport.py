"""Servers that somebody far away names: what is called is what was checked."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from tests.agents.langchain.mcp_example import patiently
from tests.hubs import soon

from trunkline.agents.langchain.tools.mcp_servers import McpServers
from trunkline.mcp.allowed_hosts import Outbound
from trunkline.mcp.checked_transport import CheckedTransport, NotAllowed


@asynccontextmanager
async def answering(answer: bytes) -> AsyncGenerator[tuple[int, list[bytes]]]:
    """A server that answers every request with the same bytes, and keeps their heads."""
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], heads


OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi"


@pytest.fixture
async def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Names and the addresses that they lead to, one look after the other."""
    known: dict[str, list[str]] = {}
    loop = asyncio.get_running_loop()
    usual = loop.getaddrinfo

    async def look_up(host: Any, port: Any, **kwargs: Any) -> Any:
        if host not in known:
            return await usual(host, port, **kwargs)
        return [(2, 1, 6, "", (known[host].pop(0), port))]

    monkeypatch.setattr(loop, "getaddrinfo", look_up)
    return known


def client(*allowed: str, **options: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=CheckedTransport(Outbound(allowed)), trust_env=False, **options)


async def test_a_host_that_is_not_on_the_list_is_not_called() -> None:
    async with answering(OK) as (port, heads), client("mcp.example.org") as http:
        with pytest.raises(NotAllowed):
            await soon(http.get(f"http://127.0.0.1:{port}/"))
        assert heads == []


async def test_an_address_on_the_list_is_called_on_this_machine_too() -> None:
    async with answering(OK) as (port, heads), client(f"127.0.0.1:{port}") as http:
        assert (await soon(http.get(f"http://127.0.0.1:{port}/"))).text == "hi"
        assert len(heads) == 1


async def test_a_name_on_the_list_that_leads_to_this_machine_is_not_called(
    names: dict[str, list[str]],
) -> None:
    names["mcp.example.org"] = ["127.0.0.1"]
    async with answering(OK) as (port, heads), client("mcp.example.org") as http:
        with pytest.raises(NotAllowed, match="resolves to an address of this machine"):
            await soon(http.get(f"http://mcp.example.org:{port}/"))
        assert heads == []


async def test_what_is_called_is_the_address_that_was_checked_under_its_own_name(
    names: dict[str, list[str]],
) -> None:
    # A second look would find another address; there is none, or this would raise.
    names["mcp.example.org"] = ["127.0.0.1"]
    async with answering(OK) as (port, heads), client("mcp.example.org", "127.0.0.1") as http:
        assert (await soon(http.get(f"http://mcp.example.org:{port}/"))).text == "hi"
        assert f"mcp.example.org:{port}".encode() in heads[0]


async def test_a_redirect_leads_nowhere_else() -> None:
    async with answering(OK) as (inside, heads):
        away = f"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:{inside}/\r\ncontent-length: 0\r\n\r\n"
        async with (
            answering(away.encode()) as (port, _),
            client(f"127.0.0.1:{port}", follow_redirects=True) as http,
        ):
            with pytest.raises(NotAllowed):
                await soon(http.get(f"http://127.0.0.1:{port}/"))
        assert heads == []


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_a_server_on_this_machine_is_there_only_for_a_list_that_names_it(
    kind: str, request: pytest.FixtureRequest
) -> None:
    connection = request.getfixturevalue(kind)
    given = {"type": kind, "url": connection["url"]}
    servers = McpServers(
        [
            {**given, "name": "no", "reach": ["mcp.example.org"]},
            {**given, "name": "none", "reach": []},
            {**given, "name": "yes", "reach": ["127.0.0.1"]},
        ]
    )
    servers.start()
    try:
        await patiently(servers.ready())
        output = {notice.title: notice.description or "" for notice in servers.failures()}
        assert sorted(output) == ["MCP server 'no' is not available", "MCP server 'none' is not available"]
        assert all("may not be called" in why for why in output.values())
        assert servers.tools
        assert all(tool.name.startswith("yes") for tool in servers.tools)
    finally:
        await servers.close()
