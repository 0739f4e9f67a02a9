"""Plays a plan over the network: ``python serve_and_drive.py ws|http DRIVER... < plan > report``.

The plan's agent is served by our HTTP server on a free port; the driver, a client on an official SDK, gets
the plan with the address and a token. playing.py says what a plan and a report are.
"""

import asyncio
import json
import os
import socket
import sys
from typing import Any

import uvicorn

from trunkline.agents.targets import resolve_target
from trunkline.server.agents import DEFAULT
from trunkline.server.asgi import asgi
from trunkline.target_names import normalize_target

TOKEN = "a-token-for-the-peers"


async def play(kind: str, driver: list[str], plan: dict[str, Any]) -> int:
    """Serve, let the driver play, and give its exit status."""
    target = plan["agent"][-1]
    app = asgi(
        resolve_target(target),
        journal=os.environ["TRUNKLINE_JOURNAL"],
        tokens=TOKEN,
        targets={DEFAULT: normalize_target(target)},
    )
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="websockets-sansio", lifespan="on"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    plan |= {"url": f"{kind}://127.0.0.1:{listener.getsockname()[1]}/acp", "token": TOKEN}
    playing = await asyncio.create_subprocess_exec(*driver, stdin=asyncio.subprocess.PIPE)
    await playing.communicate(json.dumps(plan).encode())
    if plan.get("kill"):
        os._exit(playing.returncode or 0)  # As abrupt as a kill, and its exit status tells of the driver.
    server.should_exit = True
    await serving
    return playing.returncode or 0


if __name__ == "__main__":
    told = json.load(sys.stdin)
    os.environ.update(told["env"])
    sys.exit(asyncio.run(play(sys.argv[1], sys.argv[2:], told)))
