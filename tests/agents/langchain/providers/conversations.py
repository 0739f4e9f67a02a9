"""Conversations with an agent of a provider's, and how a turn of them ended."""

from __future__ import annotations

from typing import Any

from tests.agents.langchain.graphs import terminal
from tests.worlds import collect, world
from trunkline import events as ev
from trunkline.commands import Prompt

__all__ = ["converse", "failure_of", "stop_of"]


async def converse(agent: Any, *prompts: Prompt | str) -> list[list[Any]]:
    """Have a conversation; the events of each turn."""
    async with world(agent) as hub:
        session = await hub.create()
        return [await collect(session, prompt) for prompt in prompts]


def stop_of(events: list[Any]) -> ev.StopReason:
    """Why a turn ended that ended well."""
    ended = terminal(events)
    assert isinstance(ended, ev.TurnFinished), ended
    return ended.stop_reason


def failure_of(events: list[Any]) -> tuple[str, str]:
    """The code and the words of a turn that failed."""
    ended = terminal(events)
    assert isinstance(ended, ev.TurnFailed), ended
    return ended.code, ended.message
