"""A client and an endpoint in one process: runs, and what both sides hold after them."""

from __future__ import annotations

import asyncio
import json
from itertools import groupby
from typing import Any

from tests.frontends.agui.reducer import Client, Told
from tests.frontends.agui.rules import breaches, plain
from tests.worlds import WAIT

from trunkline.frontends.agui.decoder import read_input
from trunkline.frontends.agui.endpoint import AguiEndpoint
from trunkline.frontends.agui.messages import snapshot_of
from trunkline.testing import ScriptedAgent
from trunkline.testing.scenarios import SCENARIOS

__all__ = ["NAMES", "ScriptedAgent", "comparable", "held", "prompt_of", "run"]

ARGUMENTS = {"long": " 25", "slow": " 3 0"}
NAMES = [name for name in SCENARIOS if name != "wait-for-cancel"]


def prompt_of(name: str) -> str:
    """The prompt that plays a scenario in little time."""
    return f"/{name}{ARGUMENTS.get(name, '')}"


async def run(endpoint: AguiEndpoint, client: Client, **fields: Any) -> list[Told]:
    """Let a client run once; gives the events, which broke no rule."""
    async with asyncio.timeout(WAIT):
        opened = await endpoint.open(read_input(json.dumps(client.body(**fields)).encode()))
        said: list[Any] = []
        async for _, batch in opened:
            said += batch
        await opened.close()
    events = plain(said)
    assert breaches(events) == []
    client.take(events)
    return events


async def held(endpoint: AguiEndpoint, thread_id: str, **options: Any) -> tuple[list[Told], Any]:
    """What the agent's side holds of a thread: its messages and its state."""
    session = await endpoint.hub.session(thread_id)
    conversation = await session.history()
    limit = endpoint.options.max_ui_payload_size
    return plain(snapshot_of(conversation, limit, about=True, **options)), conversation.state


def comparable(messages: list[Told]) -> list[Told]:
    """Leave out what a stream cannot tell: an error as a field of its own, and an order among the results
    of calls that were made side by side."""
    told: list[Told] = []
    for is_result, group in groupby(messages, key=lambda message: message["role"] == "tool"):
        plainer = [{key: value for key, value in one.items() if key != "error"} for one in group]
        told += sorted(plainer, key=lambda one: one["id"]) if is_result else plainer
    return told
