"""A client on the official Python SDK: ``python sdk_client.py COUNT COMMAND...``; it runs where the SDK is.

It starts an agent, asks it for COUNT updates, and prints how many letters came and in how many seconds.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import time
from typing import Any

# The environment this file is checked in does not have it.
acp: Any = importlib.import_module("acp")


class Client:
    def __init__(self) -> None:
        self.letters = 0
        self.wanted = 0
        self.complete = asyncio.Event()

    def on_connect(self, conn: Any) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **rest: Any) -> None:
        self.letters += len(update.content.text)
        if self.letters == self.wanted:
            self.complete.set()


async def main(count: str, *command: str) -> None:
    client = Client()
    client.wanted = int(count)
    async with acp.spawn_agent_process(client, *command) as (agent, _):
        await agent.initialize(protocol_version=1)
        session = await agent.new_session(cwd="/", mcp_servers=[])
        began = time.perf_counter()
        await agent.prompt(prompt=[acp.text_block(count)], session_id=session.session_id)
        # It answers the prompt before it has handled the updates that came earlier.
        await client.complete.wait()
        print(json.dumps({"letters": client.letters, "wall": time.perf_counter() - began}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
