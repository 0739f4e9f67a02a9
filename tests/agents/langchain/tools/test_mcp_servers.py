"""The servers of one session: held, told of, started again and ended."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.agents.langchain.mcp_example import STDIO, invoke, named, patiently, text_in
from tests.hubs import until
from tests.process_state import is_alive

from trunkline.agents.langchain.tools.mcp_servers import McpServers


@asynccontextmanager
async def held(servers: Any, **options: Any) -> AsyncGenerator[McpServers]:
    """Servers that are up."""
    opened = McpServers(servers, **options)
    opened.start()
    try:
        await patiently(opened.ready())
        yield opened
    finally:
        await patiently(opened.close())


def holders() -> list[asyncio.Task[Any]]:
    """The tasks that hold a server."""
    return [task for task in asyncio.all_tasks() if task.get_name().startswith("trunkline mcp")]


async def test_a_server_is_one_process_for_as_long_as_it_is_held_and_goes_with_its_children(
    tmp_path: Path,
) -> None:
    async with held([{"name": "w", **STDIO}], folders=[str(tmp_path), "/"]) as servers:
        assert servers.failures() == []
        tools = named(servers.tools)
        words = [text_in(await patiently(invoke(tools["w__count"]))) for _ in range(3)]
        pid = int(words[0].split()[-1])
        assert words == [f"{number} in {pid}" for number in (1, 2, 3)]
        roots = text_in(await patiently(invoke(tools["w__roots"])))
        assert roots == f"{tmp_path.name}={tmp_path.as_uri()} /=file:///"
        child = int(text_in(await patiently(invoke(tools["w__breed"]))))
        servers.start()  # What runs is left alone.
        assert servers.tools == list(tools.values())
    await until(lambda: not is_alive(pid))
    await until(lambda: not is_alive(child))


async def test_a_server_that_fails_is_named_with_cause_and_fix_and_the_others_work(
    http: dict[str, Any],
) -> None:
    servers: list[dict[str, Any]] = [
        {"name": "missing", "command": "/no/such/thing", "args": [], "env": []},
        {"name": "broken", "command": sys.executable, "args": ["-c", "raise SystemExit('no luck')"]},
        {"name": "lost", "type": "sse", "url": "http://127.0.0.1:9/sse"},
        {"name": "odd", "type": "acp"},
        {"name": "web", "type": "http", "url": http["url"]},
    ]
    async with held(servers) as opened:
        news = {notice.title.split("'")[1]: notice.description or "" for notice in opened.failures()}
        assert news.keys() == {"missing", "broken", "lost", "odd"}
        assert "was not found: install it" in news["missing"]
        assert "ended with code 1: no luck" in news["broken"]
        assert "cannot be reached" in news["lost"]
        assert "its transport is 'acp'" in news["odd"]
        assert opened.failures() == []
        opened.start()  # One that never came up is not tried again.
        assert opened.failures() == []
        assert text_in(await patiently(invoke(named(opened.tools)["web__add"], a=1, b=1))) == "2"


async def test_a_server_that_dies_fails_its_calls_with_the_reason_and_lives_again_in_the_next_turn() -> None:
    async with held({"w": STDIO}) as servers:
        tools = named(servers.tools)
        reason = f"it ended with code 3: ouch; run {sys.executable!r} in a terminal to see more"
        died = await patiently(invoke(tools["w__die"], words="ouch"))
        assert (died.status, text_in(died)) == ("error", f"MCP server 'w' is gone: {reason}")
        later = await patiently(invoke(tools["w__count"]))
        assert (later.status, text_in(later)) == ("error", f"MCP server 'w' is gone: {reason}")
        (notice,) = servers.failures()
        assert (notice.title, notice.description) == ("MCP server 'w' is not available", reason)
        servers.start()
        await patiently(servers.ready())
        assert text_in(await patiently(invoke(named(servers.tools)["w__count"]))).startswith("1 in ")


async def test_closing_in_a_hurry_leaves_nothing_behind_also_while_a_server_starts() -> None:
    async with held({"w": STDIO}) as servers:
        pid = int(text_in(await patiently(invoke(named(servers.tools)["w__harden"]))))
        closing = asyncio.create_task(servers.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await until(lambda: not is_alive(pid) and not holders())
    starting = McpServers({"w": STDIO})
    starting.start()
    await patiently(starting.close())
    await starting.close()
    assert starting.tools == []


async def test_plain_threads_call_the_server_that_is_held() -> None:
    async with held({"w": STDIO}) as servers:
        tool = named(servers.tools)["w__count"]
        call: Any = {"type": "tool_call", "id": "1", "name": tool.name, "args": {}}
        first = text_in(await patiently(asyncio.to_thread(tool.invoke, call)))
        second = text_in(await patiently(asyncio.to_thread(tool.invoke, call)))
        assert (first[:1], second[:1]) == ("1", "2")
