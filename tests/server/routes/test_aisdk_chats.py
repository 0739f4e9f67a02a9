"""Responses that are opened: agents that start slowly or not at all, pages that leave, what errors tell."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from tests.hubs import echo, make, soon, until
from tests.server.asgi_requests import call, scope
from tests.server.routes.test_aisdk import ask, chat
from tests.server.running_server import served

from trunkline.commands import Prompt
from trunkline.frontends.aisdk import AisdkOptions
from trunkline.server.limits import Limits
from trunkline.testing import ScriptedAgent


async def test_the_texts_of_exceptions_stay_on_this_machine() -> None:
    async def fails(prompt: Prompt) -> AsyncIterator[str]:
        yield "so far "
        raise RuntimeError("a file of the server")

    async with served(make(fails), aisdk=AisdkOptions(error_detail_level="full")) as (app, client):
        assert "a file of the server" in (await ask(client, chat("go")))[-1]["errorText"]
        far = scope("/api/chat/c1/messages", host="127.0.0.1:8000", server=("10.0.0.1", 8000))
        reply = await call(app, far)
        assert reply.status in (200, 421)
        assert b"a file of the server" not in reply.body


async def test_a_slow_agent_does_not_hold_back_the_headers() -> None:
    async def slow(prompt: Prompt) -> AsyncIterator[str]:
        yield "late"

    agent: Any = make(slow)
    begin = asyncio.Event()

    async def open_session(session: Any) -> None:
        await begin.wait()

    agent.open_session = open_session
    limits = Limits(open_seconds=0.01)
    async with (
        served(agent, limits=limits) as (_, client),
        client.stream("POST", "/api/chat", json=chat("go")) as response,
    ):
        assert response.status_code == 200
        lines = response.aiter_lines()
        assert await soon(anext(lines)) == ": stream-open"
        begin.set()
        rest = [line async for line in lines]
    assert rest[-2] == "data: [DONE]"
    assert any('"delta":"late"' in line for line in rest)


async def test_a_new_chat_is_stopped_and_loaded_before_the_program_of_its_agent_has_started() -> None:
    begin, called = asyncio.Event(), asyncio.Event()

    class Late(ScriptedAgent):
        async def prepare(self) -> None:
            called.set()
            await soon(begin.wait())

    async with served(Late(), limits=Limits(open_seconds=0.01)) as (_, client):
        asking = asyncio.create_task(ask(client, chat("/wait-for-cancel")))
        await soon(called.wait())
        assert (await client.get("/api/chat/c1/messages")).json() == chat("/wait-for-cancel")["messages"]
        assert (await client.get("/api/chat/c2/messages")).status_code == 404
        assert (await client.post("/api/chat/c2/stop")).status_code == 404
        assert (await client.post("/api/chat/c1/stop")).json() == {"stopped": True}
        async with client.stream("GET", "/api/chat/c1/stream") as resumed:
            assert resumed.status_code == 200
            begin.set()
            assert '"stopReason":"cancelled"' in (await soon(resumed.aread())).decode()
        assert (await soon(asking))[-1]["messageMetadata"] == {"stopReason": "cancelled"}


async def test_an_agent_that_cannot_start_is_an_error_chunk_when_the_response_has_begun() -> None:
    agent: Any = make(echo)

    async def open_session(session: Any) -> None:
        await asyncio.sleep(0.05)
        raise RuntimeError("secret of the server")

    agent.open_session = open_session
    async with served(agent, limits=Limits(open_seconds=0.01)) as (_, client):
        chunks = await ask(client, chat("go"))
        assert [one["type"] for one in chunks] == ["error"]
        assert "secret" not in chunks[0]["errorText"]
        prompt = await client.post("/api/chat", json=chat("go", chat_id="c2"))
        assert prompt.status_code in (200, 500, 502)


async def test_a_page_that_leaves_before_the_agent_has_started_leaves_its_turn() -> None:
    agent: Any = make(echo)
    begin = asyncio.Event()

    async def open_session(session: Any) -> None:
        await begin.wait()

    agent.open_session = open_session
    async with served(agent, limits=Limits(open_seconds=0.01)) as (app, client):
        async with client.stream("POST", "/api/chat", json=chat("hello")) as response:
            assert response.status_code == 200
        begin.set()
        hub = await app.agents.hub()
        session = await hub.session("c1")
        await until(lambda: session.last_turn_id is not None and not session.busy)
        assert (await client.get("/api/chat/c1/messages")).json()[-1]["parts"][-1]["text"] == "hello "
