"""A process that serves a session as it is told by lines on stdin, and prints what it sees.

Its agent: ``talk`` talks until it is cancelled, ``ask`` asks for a permission and says who gave it,
``listen`` waits for a message that steers it, anything else is echoed.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from trunkline.agents.function import agent
from trunkline.commands import Prompt
from trunkline.errors import TrunklineError
from trunkline.journal import open_journal
from trunkline.options import Choice, ConfigOption
from trunkline.session.context import TurnContext
from trunkline.session.hub import Hub
from trunkline.session.settings import Settings

LEASE = 0.8
SETTINGS = Settings(
    lease_ttl=LEASE, poll_busy=0.02, poll_idle=0.1, suspend_after=0.05, detach_after=0.3, command_timeout=8.0
)
MODE = ConfigOption(
    option_id="mode",
    name="Mode",
    value="calm",
    category="mode",
    choices=(Choice(value="calm", name="Calm"), Choice(value="bold", name="Bold")),
)


@agent(name="peer", options=(MODE,))
async def peer(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    yield f"[{os.getpid()}] "
    if prompt.text == "talk":
        while True:
            yield "blah "
            await asyncio.sleep(0.05)
    elif prompt.text == "ask":
        decision = await ctx.permission("May I?", tool="write_file", input={"path": "a"}, kind="edit")
        yield f"{decision.by} said {'yes' if decision else 'no'}"
    elif prompt.text == "listen":
        while not (messages := await ctx.steered()):
            await asyncio.sleep(0.01)
        yield f"heard {messages[0].text}"
    else:
        yield f"{prompt.text} in mode {ctx.session.mode}"


def tell(**fields: Any) -> None:
    os.write(1, msgspec.json.encode(fields) + b"\n")


async def follow(hub: Hub, session_id: str) -> None:
    """Print every event; a session that was lost is opened again and followed from there."""
    while True:
        session = await hub.session(session_id)
        try:
            async with session.follow() as reader:
                tell(state="following")
                async for entry in reader:
                    event = entry.event
                    kind = msgspec.to_builtins(event)["type"]
                    tell(event=kind, fence=entry.fence, turn_id=event.turn_id, value=event)
        except TrunklineError as error:
            tell(state="lost", code=error.code, message=str(error))


async def obey(hub: Hub, session_id: str) -> None:
    stdin = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    while line := await stdin.readline():
        order = json.loads(line)
        session = await hub.session(session_id)
        try:
            if order["do"] == "prompt":
                receipt = await session.prompt(order["text"])
                tell(did="prompt", turn_id=receipt.turn_id)
            else:
                fold = await session.history()
                tell(did="read", messages=[message.text for message in fold.messages])
        except TrunklineError as error:
            tell(did=order["do"], code=error.code, message=str(error))


async def main(path: str, session_id: str) -> None:
    journal = await open_journal(f"sqlite:{path}")
    async with Hub(peer, journal, settings=SETTINGS, target="peer") as hub:
        following = asyncio.create_task(follow(hub, session_id))
        await obey(hub, session_id)
        following.cancel()
    await journal.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
