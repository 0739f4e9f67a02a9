"""Runs a scripted ACP agent behind a hub, and prints the ids of its processes; then waits to be killed."""

import asyncio
import json
import sys
from pathlib import Path

from tests.agents.acp.worlds import ask, world


async def main() -> None:
    folder = Path(sys.argv[1])
    sleeper = folder / "sleeper"
    async with world(folder, "--stays", "--ignore", "INT,TERM,HUP", "--setsid", str(sleeper)) as here:
        session = await here.hub.create()
        pids = [int(await ask(session, "pid")), int(await ask(session, "spawn")), int(sleeper.read_text())]
        sys.stdout.write(json.dumps({"pids": pids, "did": "start"}) + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


asyncio.run(main())
