"""An AG-UI server with short leases: stopped, or blocked by its own agent, it misses them.

Prints its port. The prompt ``block SECONDS`` holds its event loop up that long, as a careless tool does.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator

import uvicorn

import trunkline
from tests.faults.servers import SECRET
from tests.hubs import BRISK, make
from trunkline.commands import Prompt


async def careless(prompt: Prompt) -> AsyncIterator[str]:
    """Echo the prompt; ``block`` stops everything."""
    verb, _, rest = prompt.text.partition(" ")
    if verb == "block":
        time.sleep(float(rest))  # noqa: ASYNC251 (this is what the test is about)
    yield f"you said {prompt.text}"


async def main(path: str) -> None:
    """Serve until killed."""
    app = trunkline.asgi(
        make(careless, name="careless"), journal=f"sqlite:{path}", tokens=SECRET, settings=BRISK
    )
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.001)
    port = server.servers[0].sockets[0].getsockname()[1]
    os.write(1, json.dumps({"port": port}).encode() + b"\n")
    await serving


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
