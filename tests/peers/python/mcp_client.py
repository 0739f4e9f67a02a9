"""A client of the package mcp, of version 1 or 2: drives a server and prints what it saw as JSON.

Usage: mcp_client.py MODE FORMS COMMAND...: MODE is handshake or auto (version 2 only), FORMS what the user
answers to every permission (or none: the client offers no forms).
"""

import asyncio
import contextlib
import importlib
import json
import os
import sys
from collections.abc import AsyncGenerator
from typing import Any

# The versions differ, and the environment this file is checked in has one of them.
mcp: Any = importlib.import_module("mcp")
types: Any = importlib.import_module("mcp.types")
stdio_client: Any = importlib.import_module("mcp.client.stdio").stdio_client

MODE, FORMS, *COMMAND = sys.argv[1:]
asked: list[str] = []


async def elicit(context: Any, params: Any) -> Any:
    asked.append(params.message)
    schema = params.model_dump(by_alias=True)["requestedSchema"]
    content = {"decision": FORMS} if "decision" in schema["properties"] else {"many": 3}
    return types.ElicitResult(action="accept", content=content)


@contextlib.asynccontextmanager
async def connect() -> AsyncGenerator[Any]:
    server = mcp.StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=dict(os.environ))
    callback = None if FORMS == "none" else elicit
    if MODE == "auto":
        async with mcp.Client(stdio_client(server), elicitation_callback=callback) as client:
            yield client, client.protocol_version, client.session
        return
    async with (
        stdio_client(server) as (read, write),
        mcp.ClientSession(read, write, elicitation_callback=callback) as session,
    ):
        started = await session.initialize()
        await session.send_ping()
        yield session, dump(started)["protocolVersion"], session


def dump(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def list_all(client: Any) -> list[Any]:
    tools: list[Any] = []
    cursor = None
    while True:
        if MODE == "auto":
            page = await client.list_tools(cursor=cursor)
        else:
            page = await client.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
        shown = dump(page)
        tools += shown["tools"]
        cursor = shown.get("nextCursor")
        if cursor is None:
            return tools


async def main() -> None:
    async with connect() as (client, version, _):
        seen: dict[str, Any] = {"version": version, "tools": await list_all(client), "progress": []}

        async def progress(value: float, total: float | None, message: str | None) -> None:
            seen["progress"].append([value, message])

        async def call(name: str, **arguments: Any) -> Any:
            return dump(await client.call_tool(name, arguments))

        if any(tool["name"] == "count" for tool in seen["tools"]):
            seen["spending"] = await call("spending", category="food")
            seen["wrong"] = await call("spending", category=3)
            seen["sql"] = [await call("run_sql", query="SELECT 1"), await call("run_sql", query="SELECT 2")]
            seen["rename"] = await call("rename", category="food")
            seen["plain"] = await call("ask_plainly")
            seen["count"] = dump(await client.call_tool("count", {"to": 2}, progress_callback=progress))
            seen["chart"] = await call("chart")
            seen["broken"] = await call("broken")
            try:
                seen["unknown"] = await call("nope")
            except Exception as error:
                seen["unknown"] = str(error)
            began = asyncio.Event()

            async def note(value: float, total: float | None, message: str | None) -> None:
                began.set()

            waiting = asyncio.create_task(client.call_tool("wait_for_ever", {}, progress_callback=note))
            await asyncio.wait_for(began.wait(), 10)
            waiting.cancel()
            await asyncio.wait({waiting}, timeout=10)
            if MODE == "handshake" and not hasattr(mcp, "Client"):
                # Version 1 does not say by itself that it gave a request up.
                number = client._request_id - 1
                params = types.CancelledNotificationParams(requestId=number, reason="enough")
                cancelled = types.CancelledNotification(method="notifications/cancelled", params=params)
                await client.send_notification(types.ClientNotification(cancelled))
            seen["after"] = await call("spending", category="after")
        seen["asked"] = asked
    sys.stdout.write(json.dumps(seen))


asyncio.run(main())
