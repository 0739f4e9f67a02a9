"""A client that stays: one stream with the thread, and then with every run that another client starts."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from tests.frontends.agui.client_runs import client_of, comparable, run
from tests.hubs import WAIT, until

from trunkline.conformance.agui.event_verifier import breaches, plain
from trunkline.conformance.agui.reference_client import JsonObject, ReferenceClient
from trunkline.frontends.agui.decoder import read_input
from trunkline.frontends.agui.endpoint import AguiEndpoint
from trunkline.testing import ScriptedAgent


class Tab(ReferenceClient):
    """A page that only follows."""

    def __init__(self, thread_id: str = "t1") -> None:
        super().__init__(thread_id, name="tab")
        self.events: list[JsonObject] = []

    @property
    def runs_seen(self) -> list[str]:
        return [event["runId"] for event in self.events if event["type"] == "RUN_FINISHED"]


@asynccontextmanager
async def following(endpoint: AguiEndpoint, tab: Tab) -> AsyncGenerator[asyncio.Task[None]]:
    follower = await endpoint.follow(read_input(json.dumps(tab.body(runId="tab")).encode()))
    assert follower is not None

    async def read() -> None:
        async for _, batch in follower:
            events = plain(batch)
            tab.events += events
            tab.take(events)

    task = asyncio.create_task(read())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})
        await follower.close()


async def seen(tab: Tab, runs: int) -> None:
    await until(lambda: len(tab.runs_seen) == runs)
    assert breaches(tab.events) == [], "one stream may have several runs"


async def test_a_tab_sees_what_was_said_and_all_that_is_said_elsewhere() -> None:
    async with client_of(ScriptedAgent()) as (endpoint, page):
        await run(endpoint, page, "/tools")
        tab = Tab()
        async with following(endpoint, tab):
            await seen(tab, 1)
            assert comparable(tab.messages) == comparable(page.messages)
            for number, text in enumerate(("/text", "/state", "/subagents"), 2):
                await run(endpoint, page, text)
                await seen(tab, number)
                assert comparable(tab.messages) == comparable(page.messages)
        assert tab.runs_seen == ["tab", "tab:2", "tab:3", "tab:4"]
        assert tab.state == page.state


async def test_a_tab_sees_a_question_and_what_comes_of_the_answer() -> None:
    async with client_of(ScriptedAgent()) as (endpoint, page):
        await run(endpoint, page, "/text")
        tab = Tab()
        async with following(endpoint, tab):
            await run(endpoint, page, "/permission")
            await seen(tab, 2)
            assert [one["id"] for one in tab.interrupts] == [one["id"] for one in page.interrupts]
            await run(endpoint, page, resume=page.resume(every={"approved": True}))
            await seen(tab, 3)
            assert comparable(tab.messages) == comparable(page.messages)


async def test_the_stream_of_a_tab_ends_with_its_session_and_the_turn_outlives_the_tab() -> None:
    async with client_of(ScriptedAgent()) as (endpoint, page):
        await run(endpoint, page, "/text")
        tab = Tab()
        async with following(endpoint, tab) as task:
            await seen(tab, 1)
            await endpoint.hub.delete("t1")
            async with asyncio.timeout(WAIT):
                await asyncio.wait({task})
        assert task.exception() is None


async def test_there_is_nothing_to_follow_in_a_thread_that_nobody_began() -> None:
    async with client_of(ScriptedAgent()) as (endpoint, page):
        body: Any = page.body()
        assert await endpoint.follow(read_input(json.dumps(body).encode())) is None
