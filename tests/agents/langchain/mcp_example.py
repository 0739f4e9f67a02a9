"""The example MCP server, started over each transport, and small turns in which its tools are called."""

import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from tests.hubs import collect, hub_for, session_for, soon
from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel, use_channel
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.commands import Prompt
from trunkline.session.context import TurnContext
from trunkline.session.hub import Hub
from trunkline.session.session import Session

T = TypeVar("T")
React = Callable[[Any], Awaitable[Any]]

PATIENCE = 40.0
"""Starting a server takes a second, and many on a busy machine."""
SCRIPT = str(Path(__file__).with_name("servers") / "example_server.py")
STDIO: dict[str, Any] = {"transport": "stdio", "command": sys.executable, "args": [SCRIPT, "stdio"]}


@contextmanager
def serving(transport: str) -> Generator[dict[str, Any]]:
    """Run the example server on a port of its own and give its connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        argv = [sys.executable, SCRIPT, transport, str(listening.fileno())]
        process = subprocess.Popen(argv, pass_fds=[listening.fileno()])
    try:
        path = "mcp" if transport == "http" else "sse"
        yield {"transport": transport, "url": f"http://127.0.0.1:{port}/{path}", "pid": process.pid}
    finally:
        process.kill()
        process.wait(10)


async def patiently(awaitable: Awaitable[T]) -> T:
    """Wait for something that starts a server."""
    return await soon(awaitable, PATIENCE)


async def turn_of(
    session: Session, prompt: Prompt | str = "go", answers: Mapping[type[ev.Event], React] | None = None
) -> list[ev.Event]:
    """Play a turn that may have to wait for a server, and react to its events."""
    return await collect(session, prompt, answers, PATIENCE)


def unhurried(agent: Any) -> AbstractAsyncContextManager[Hub]:
    """A world whose sessions have the time to see their servers end."""
    return hub_for(agent, detach_after=10.0)


def named(tools: list[BaseTool]) -> dict[str, BaseTool]:
    """Tools by their names."""
    return {tool.name: tool for tool in tools}


def text_in(result: Any) -> str:
    """The text of a tool's result, called with or without a call."""
    content: Any = result.content if isinstance(result, ToolMessage) else result
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


async def invoke(tool: BaseTool, call_id: str = "c1", **args: Any) -> ToolMessage:
    """Run a tool as a graph does, without a graph."""
    return await tool.ainvoke({"type": "tool_call", "id": call_id, "name": tool.name, "args": args})


async def in_turn(
    act: Callable[[Channel], Awaitable[Any]],
    answers: Mapping[type[ev.Event], Callable[[Any, Any], Awaitable[Any]]] | None = None,
    **prompt: Any,
) -> tuple[Any, list[ev.Event]]:
    """Do something in a turn of a session; give what came of it and what was said.

    An answer takes the session and the event.
    """
    results: list[Any] = []

    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        channel = Channel(ctx, Emitter(ctx.emit, ctx.turn_id))
        with use_channel(channel):
            results.append(await act(channel))
        yield ""

    async with session_for(agent) as session:

        def reacting(react: Callable[[Any, Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:
            return lambda event: react(session, event)

        reactions = {kind: reacting(react) for kind, react in (answers or {}).items()}
        output = await turn_of(session, Prompt.of("go", **prompt), reactions)
    assert isinstance(output[-1], ev.TurnFinished), output[-1]
    return (results or [None])[0], output
