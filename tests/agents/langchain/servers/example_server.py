"""A real MCP server with a tool of every kind: run it with ``stdio``, ``http FD`` or ``sse FD``.

FD is a socket that listens already, so the test can connect at once.
"""

import asyncio
import base64
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp.server.fastmcp import Context, FastMCP
from mcp.server.session import ServerSession
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from pydantic import AnyUrl, BaseModel

Ctx = Context[ServerSession, None]

PIXEL = base64.b64encode(b"not really a picture").decode()
SOUND = base64.b64encode(b"not really a sound").decode()

server = FastMCP("example", log_level="ERROR")
uri: Callable[[str], Any] = AnyUrl
calls = 0


def note(marker: str, words: str) -> None:
    """Leave words for the test."""
    Path(marker).write_text(words)


class Taste(BaseModel):
    """What the form asks for."""

    colour: str
    shiny: bool = False


@server.tool(annotations=ToolAnnotations(readOnlyHint=True, title="Add numbers"))
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def count() -> str:
    """Count the calls of this very process."""
    global calls
    calls += 1
    return f"{calls} in {os.getpid()}"


@server.tool()
def variable(name: str) -> str:
    """Read an environment variable."""
    return os.environ.get(name, "unset")


@server.tool()
def header(name: str, ctx: Ctx) -> str:
    """Read a header of the request."""
    request: Any = ctx.request_context.request
    return request.headers.get(name, "unset")


@server.tool(structured_output=False)
def show() -> list[ContentBlock]:
    """Give one of every kind of content."""
    return [
        TextContent(type="text", text="hello"),
        ImageContent(type="image", data=PIXEL, mimeType="image/png"),
        AudioContent(type="audio", data=SOUND, mimeType="audio/wav"),
        ResourceLink(type="resource_link", uri=uri("file:///a.txt"), name="a", title="A", size=3),
        EmbeddedResource(
            type="resource",
            resource=TextResourceContents(uri=uri("file:///b.md"), text="# b", mimeType="text/markdown"),
        ),
        EmbeddedResource(
            type="resource",
            resource=BlobResourceContents(uri=uri("file:///c"), blob=SOUND, mimeType="application/zip"),
        ),
    ]


@server.tool()
def fail(words: str) -> str:
    """Fail with these words."""
    raise ValueError(words)


@server.tool()
async def work(name: str, steps: int, ctx: Ctx) -> str:
    """Report every step."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"{name} {step + 1}")
        await asyncio.sleep(0)
    return f"{name} done"


@server.tool()
async def complain(times: int, ctx: Ctx) -> str:
    """Write to the log."""
    await ctx.debug("nobody reads this")
    for number in range(times):
        await ctx.warning(f"complaint {number}")
    return "complained"


@server.tool()
async def taste(ctx: Ctx) -> str:
    """Ask the person."""
    answer = await ctx.elicit("Which colour?", Taste)
    return f"{answer.data.colour} {answer.data.shiny}" if answer.action == "accept" else answer.action


@server.tool()
async def visit(ctx: Ctx) -> str:
    """Send the person somewhere."""
    return (await ctx.elicit_url("Please log in", "https://example.org/login", "visit-1")).action


@server.tool()
async def roots(ctx: Ctx) -> str:
    """Say which folders there are."""
    listed = await ctx.session.list_roots()
    return " ".join(f"{root.name}={root.uri}" for root in listed.roots)


@server.tool()
async def wait(marker: str) -> str:
    """Wait for ever; the marker says whether it began, and how it ended."""
    note(marker, "waiting")
    try:
        await asyncio.Event().wait()
    finally:
        note(marker, "cancelled")
    return "never"


@server.tool()
def die(words: str) -> str:
    """End the process with a word on stderr."""
    sys.stderr.write(words)
    sys.stderr.flush()
    os._exit(3)


@server.tool()
def breed() -> str:
    """Leave a child behind, and say who it is."""
    child = subprocess.Popen([sys.executable, __file__, "sleep"], stdin=subprocess.DEVNULL)
    return str(child.pid)


@server.tool()
def harden() -> str:
    """Ignore every polite end from now on."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return str(os.getpid())


asking: list[asyncio.Task[None]] = []


@server.tool()
async def ask_later(marker: str, ctx: Ctx) -> str:
    """Ask the user once the marker exists, after this call, and leave the answer in it."""
    session = ctx.session

    async def ask() -> None:
        while not await asyncio.to_thread(Path(marker).exists):
            await asyncio.sleep(0.01)
        answer = await session.elicit_form("Still there?", Taste.model_json_schema())
        note(marker, answer.action)

    asking.append(asyncio.create_task(ask()))
    return "soon"


def main(transport: str, *rest: str) -> None:
    """Serve until the end of the input, or of the world."""
    if transport == "sleep":
        time.sleep(600)
    elif transport == "stdio":
        server.run("stdio")
    else:
        import uvicorn

        app = server.streamable_http_app() if transport == "http" else server.sse_app()
        uvicorn.Server(uvicorn.Config(app, log_level="error")).run([socket.socket(fileno=int(rest[0]))])


if __name__ == "__main__":
    main(*sys.argv[1:])
