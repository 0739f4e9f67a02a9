"""Runs of agents that start slowly: the response begins before the agent has."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from tests.hubs import soon, until
from tests.server.running_server import frames, run_events, run_input, served

from trunkline.agents.interface import AgentCard
from trunkline.commands import Prompt
from trunkline.errors import AgentError
from trunkline.server.limits import Limits
from trunkline.session.context import TurnContext
from trunkline.session.view import SessionView

AT_ONCE = Limits(open_seconds=0.02, keep_alive_seconds=0.02)


class SlowToStart:
    """An agent whose sessions open when the test lets them."""

    card = AgentCard(name="slow")

    def __init__(self, failure: Exception | None = None) -> None:
        self.started = asyncio.Event()
        self.ready = asyncio.Event()
        self.failure = failure
        self.cancelled = 0

    async def open_session(self, view: SessionView) -> None:
        self.started.set()
        await self.ready.wait()
        if self.failure is not None:
            raise self.failure

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
        yield "here I am"
        if prompt.text == "wait":
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise


async def test_headers_and_comments_come_before_the_agent_has_started() -> None:
    agent = SlowToStart()
    async with (
        served(agent, limits=AT_ONCE) as (_, client),
        client.stream("POST", "/agui", json=run_input("hello")) as response,
    ):
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        pieces = response.aiter_bytes()
        assert await soon(anext(pieces)) == b": keep-alive\n\n"
        assert not agent.ready.is_set()
        agent.ready.set()
        rest = b"".join([piece async for piece in pieces])
    assert b"RUN_STARTED" in rest
    assert b"here I am" in rest
    assert b"RUN_FINISHED" in rest


async def test_a_failure_after_the_headers_is_a_run_error() -> None:
    agent = SlowToStart(AgentError("the model is asleep: wake it"))
    async with (
        served(agent, limits=AT_ONCE) as (_, client),
        client.stream("POST", "/agui", json=run_input("hello")) as response,
    ):
        assert response.status_code == 200
        agent.ready.set()
        events = [event async for _, event in frames(response)]
    assert [event["type"] for event in events] == ["RUN_ERROR"]
    assert "the model is asleep: wake it" in events[0]["message"]


async def test_a_failure_in_time_has_a_status() -> None:
    agent = SlowToStart(AgentError("the model is asleep: wake it"))
    agent.ready.set()
    async with served(agent) as (_, client):
        response = await client.post("/agui", json=run_input("hello"))
    assert response.status_code >= 400
    assert "the model is asleep: wake it" in response.json()["message"]


async def test_a_client_that_leaves_while_the_agent_starts_leaves_its_run() -> None:
    agent = SlowToStart()
    async with served(agent, limits=AT_ONCE) as (app, client):
        async with client.stream("POST", "/agui", json=run_input("wait")) as response:
            assert response.status_code == 200
            await soon(agent.started.wait())
        agent.ready.set()
        session = await (await app.agents.hub()).session("t1")
        await until(lambda: agent.cancelled == 1 or (session.turn is None and not session.busy))
        await soon(app.agents.wait_for_runs(10))
        assert [e["type"] for e in await run_events(client, run_input("again", run="r2"))][
            -1
        ] == "RUN_FINISHED"
