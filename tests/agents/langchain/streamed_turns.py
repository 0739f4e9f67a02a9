"""Turns of a model's chunks, and what must be true at the end of any turn."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk

from tests.agents.langchain.graphs import calls_of, folded, terminal
from tests.worlds import collect, world
from trunkline import events as ev

PARIS = '{"city": "Paris"}'
ROME = '{"city": "Rome"}'


def pieces(*rows: tuple[str | None, str | None, str, int]) -> AIMessageChunk:
    """A chunk of a provider that sends these pieces of calls (id, name, arguments, index) at once."""
    made = [tool_call_chunk(id=id, name=name, args=args, index=index) for id, name, args, index in rows]
    return AIMessageChunk(content="", tool_call_chunks=made)


async def run(agent: Any, prompt: str = "Go!") -> list[Any]:
    """The events of one turn."""
    async with world(agent) as hub:
        return await collect(await hub.create(), prompt)


def check_settled(events: list[Any]) -> None:
    """Nothing is left open, whatever happened."""
    terminal(events)
    assert all(call.status in ev.FINAL_STATUSES for call in calls_of(events).values())
    assert all(lane.outcome is not None for lane in folded(events).lanes.values())


def order_of(events: list[Any], *kinds: type[Any]) -> list[str]:
    """The names of some kinds of events in their order, repeats joined."""
    names = [type(event).__name__ for event in events if isinstance(event, kinds)]
    return [name for at, name in enumerate(names) if at == 0 or names[at - 1] != name]
