"""One server and its calls: none hangs when the server dies, and each failure says why."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.agents.langchain.mcp_example import PATIENCE, STDIO, patiently, serving
from tests.hubs import until

from trunkline.agents.langchain.tools.current_call import Call
from trunkline.mcp import server_connection as module
from trunkline.mcp.server_connection import CallFailed, Server
from trunkline.mcp.server_settings import read_connections

INVALID = Path(__file__).parents[1] / "agents/langchain/servers/invalid_result_server.py"


@asynccontextmanager
async def opened(place: dict[str, Any], **options: Any) -> AsyncGenerator[Server]:
    """A server that is up, or has failed."""
    connections, _ = read_connections({"w": place})
    server = Server("w", connections["w"], **options)
    server.start()
    try:
        await patiently(server.started())
        yield server
    finally:
        await patiently(server.close())


async def call(server: Server, tool: str, **arguments: Any) -> str:
    """The text of a tool's result."""
    result = await patiently(server.call(tool, arguments, Call(None, None)))
    return "".join(getattr(block, "text", "") for block in result.content)


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_server_on_the_web_that_dies_in_a_call_fails_it(
    transport: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PING_EVERY", 0.1)
    marker = tmp_path / "marker"
    with serving(transport) as place:
        async with opened(place) as server:
            waiting = asyncio.create_task(call(server, "wait", marker=str(marker)))
            await until(marker.exists, PATIENCE)
            os.kill(place["pid"], signal.SIGKILL)
            with pytest.raises(CallFailed, match="MCP server 'w' is gone: "):
                await waiting


async def test_a_cancelled_call_is_cancelled_on_the_server_at_once_and_the_next_one_works(
    tmp_path: Path,
) -> None:
    marker = tmp_path / "marker"
    async with opened(STDIO) as server:
        waiting = asyncio.create_task(call(server, "wait", marker=str(marker)))
        await until(lambda: marker.exists() and marker.read_text() == "waiting", PATIENCE)
        before = time.monotonic()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await patiently(waiting)
        assert time.monotonic() - before < 5
        await until(lambda: marker.read_text() == "cancelled", PATIENCE)
        assert await call(server, "add", a=1, b=1) == "2"
    with pytest.raises(CallFailed, match="MCP server 'w' is gone: it was closed"):
        await call(server, "add", a=1, b=1)


async def test_an_invalid_result_and_a_refused_call_fail_with_their_reasons() -> None:
    async with opened({"command": sys.executable, "args": [str(INVALID)]}) as server:
        assert ([tool.name for tool in server.tools], server.failure) == (["count", "vanish"], None)
        with pytest.raises(CallFailed, match="MCP server 'w' gave an invalid result"):
            await call(server, "count")
        with pytest.raises(CallFailed, match="MCP server 'w' refused the call: no such tool"):
            await call(server, "vanish")


async def test_a_server_that_offers_no_tools_is_no_failure() -> None:
    place = {"command": sys.executable, "args": [str(INVALID)], "env": {"EMPTY": "1"}}
    async with opened(place) as server:
        assert (server.tools, server.failure, server.was_up) == ([], None, True)


@pytest.mark.parametrize("code", ["import time; time.sleep(600)", "print('hello?'); input(); input()"])
async def test_a_program_that_does_not_speak_mcp_fails_when_its_time_is_over(code: str) -> None:
    place = {"command": sys.executable, "args": ["-c", code]}
    async with opened(place, start_within=0.5) as server:
        assert "did not answer in time" in (server.failure or "")
