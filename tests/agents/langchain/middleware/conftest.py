"""Runs of a graph by ``invoke`` and by ``ainvoke``, with a channel that keeps what it hears."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.agents.langchain.middleware.recording_channel import Ear
from tests.hubs import soon
from trunkline.agents.langchain.channel import use_channel

Play = Callable[[Any, Any], Ear]


def play_plain(graph: Any, given: Any) -> Ear:
    ear = Ear()
    with use_channel(ear):
        graph.invoke(given)
    return ear


def play_async(graph: Any, given: Any) -> Ear:
    ear = Ear()

    async def run() -> None:
        with use_channel(ear):
            await soon(graph.ainvoke(given))

    asyncio.run(run())
    return ear


@pytest.fixture(params=[play_plain, play_async], ids=["invoke", "ainvoke"])
def play(request: pytest.FixtureRequest) -> Play:
    """Run a graph, and give what was heard."""
    return request.param
