"""The app: how it is made, mounted, opened and closed."""

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Mount
from tests.hubs import BRISK, echo, make, soon
from tests.server.asgi_requests import call, scope
from tests.server.running_server import BEARER, SECRET, frames, listening, run_events, run_input
from websockets.asyncio.client import connect

from trunkline.commands import Prompt
from trunkline.errors import ConfigurationError, NotAnAgent
from trunkline.frontends.agui.options import AguiOptions
from trunkline.server.asgi import asgi
from trunkline.server.security.tokens import Access
from trunkline.session.context import TurnContext
from trunkline.testing import ScriptedAgent


def made(agents: Any = None, **options: Any) -> Any:
    chosen: dict[str, Any] = {"tokens": SECRET, "settings": BRISK, **options}
    return asgi(agents or make(echo), **chosen)


@asynccontextmanager
async def reached(app: Any) -> AsyncGenerator[httpx.AsyncClient]:
    async with (
        listening(app) as place,
        httpx.AsyncClient(base_url=f"http://{place}", headers=BEARER, timeout=20) as client,
    ):
        yield client


async def test_an_app_that_is_mounted_opens_by_itself_and_is_closed_by_its_owner() -> None:
    trunk = made()
    outer = Starlette(routes=[Mount("/trunk", app=trunk)])
    async with (
        listening(outer) as place,
        httpx.AsyncClient(base_url=f"http://{place}", headers=BEARER) as client,
    ):
        events = await run_events(client, run_input("hello you"), "/trunk/agui")
        assert "".join(event.get("delta", "") for event in events) == "hello you "
        await trunk.aclose()
        await trunk.aclose()
        refused = await client.post("/trunk/agui", json=run_input(run="r2"))
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "closing")
        assert (await client.get("/trunk/readyz")).status_code == 503
        assert (await client.get("/trunk/healthz")).status_code == 200


async def test_an_app_lends_its_life_to_the_one_around_it() -> None:
    trunk = made()
    outer = Starlette(routes=[Mount("/trunk", app=trunk)], lifespan=trunk.lifespan)
    async with (
        listening(outer) as place,
        httpx.AsyncClient(base_url=f"http://{place}", headers=BEARER) as client,
    ):
        assert (await client.get("/trunk/readyz")).status_code == 200
    assert trunk.agents.closing


async def test_an_app_may_live_again() -> None:
    trunk = made()
    for life in range(2):
        async with reached(trunk) as client:
            events = await run_events(client, run_input("hello", thread=f"t{life}"))
            assert events[-1]["type"] == "RUN_FINISHED"
            assert [row["session_id"] for row in (await client.get("/sessions")).json()["sessions"]] == [
                f"t{life}"
            ]


async def test_fastapi_takes_it_in_with_its_life_its_sockets_and_its_refusals() -> None:
    trunk = made()
    outer = FastAPI(lifespan=trunk.lifespan)
    outer.mount("/trunk", trunk)
    outer.add_api_route("/own", lambda: {"own": True})
    async with reached(outer) as client:
        events = await run_events(client, run_input("hello you"), "/trunk/agui")
        assert "".join(event.get("delta", "") for event in events) == "hello you "
        assert (await client.get("/trunk/sessions")).json()["sessions"][0]["session_id"] == "t1"
        url = f"ws://{client.base_url.netloc.decode()}/trunk/agui/ws"
        async with connect(url, additional_headers=BEARER) as socket:
            await socket.send(json.dumps(run_input("hello", thread="t2")))
            assert json.loads(await soon(socket.recv()))["type"] == "RUN_STARTED"
        unknown = await client.get("/trunk/nothing")
        assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "not_found")
        known = "there are /, /acp, /agui, /api/chat, /assets, /copilotkit, /healthz, "
        assert known in unknown.json()["error"]["message"]
        stranger = {"authorization": ""}
        assert (await client.get("/trunk/sessions", headers=stranger)).json()["error"]["code"] == "token"
        assert (await client.get("/trunk/healthz", headers=stranger)).status_code == 200
        assert (await client.get("/own", headers=stranger)).json() == {"own": True}
    assert trunk.agents.closing


async def test_closing_ends_runs_with_their_last_event() -> None:
    trunk = made(ScriptedAgent())
    async with (
        reached(trunk) as client,
        client.stream("POST", "/agui", json=run_input("/wait-for-cancel")) as response,
    ):
        events = frames(response)
        assert (await soon(anext(events)))[1]["type"] == "RUN_STARTED"
        await trunk.aclose()
        last = [event async for _, event in events][-1]
        assert last["outcome"] == {"type": "cancelled"}
        await trunk.agents.wait_for_runs(5.0)


def test_a_token_that_had_to_be_made_is_said_in_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRUNKLINE_TOKEN", "")
    with caplog.at_level(logging.WARNING, "trunkline.server"):
        app = made(tokens=None)
    assert app.token in caplog.text
    caplog.clear()
    monkeypatch.setenv("TRUNKLINE_TOKEN", "from-the-environment")
    assert made(tokens=None).token == "from-the-environment"
    assert caplog.text == ""


async def test_somebody_else_may_say_who_is_asking() -> None:
    def authenticate(scope: Any) -> Access:
        return Access("carol")

    app = made(tokens=None, authenticate=authenticate)
    try:
        assert app.token is None
        assert (await call(app, scope(token=False))).status == 200
    finally:
        await app.aclose()


def test_what_is_no_agent_is_refused() -> None:
    with pytest.raises(NotAnAgent):
        asgi(17, tokens=SECRET)


async def test_two_servers_of_one_agent_share_its_sessions(tmp_path: Path) -> None:
    for number in range(2):
        async with reached(made(journal=tmp_path / "journal.db")) as client:
            messages = [{"id": f"u{n}", "role": "user", "content": "hi"} for n in range(number + 1)]
            events = await run_events(client, run_input(run=f"r{number}", messages=messages))
            assert events[-1]["outcome"] == {"type": "success"}
            rows = (await client.get("/sessions")).json()["sessions"]
            assert [row["agent"] for row in rows] == ["default"]


async def test_a_thread_of_an_agent_that_is_not_served_here_is_left_alone(tmp_path: Path) -> None:
    journal = tmp_path / "journal.db"
    async with reached(made(make(echo, name="gone"), journal=journal)) as client:
        await run_events(client, run_input())
    agents = {"one": make(echo, name="one"), "two": make(echo, name="two")}
    async with reached(made(agents, journal=journal)) as client:
        refused = await client.post("/agui", json=run_input(run="r2"))
        assert refused.status_code == 409
        assert "an agent that is not served here" in refused.json()["error"]["message"]
        shown = (await client.get("/sessions/t1")).json()
        assert shown["session"]["agent"] is None
        assert shown["records"], "it can be read all the same"


async def test_options_of_the_front_end_set_how_far_a_reader_may_fall_behind() -> None:
    app = asgi(make(echo), tokens=SECRET, options=AguiOptions(high_water_mark=7))
    try:
        assert (await app.agents.hub()).settings.reader_backlog == 7
    finally:
        await app.aclose()


async def test_sessions_of_pages_get_the_folder_of_the_server(tmp_path: Path) -> None:
    async def look(prompt: Prompt, ctx: TurnContext) -> AsyncGenerator[str]:
        yield f"{ctx.session.cwd} {await ctx.files.read('note.txt')}"

    (tmp_path / "note.txt").write_text("hello from the folder")
    async with reached(made(make(look), cwd=tmp_path)) as client:
        events = await run_events(client, run_input("look"))
        row = (await client.get("/sessions/t1")).json()["session"]
    assert "hello from the folder" in "".join(event.get("delta", "") for event in events)
    assert row["cwd"] == str(tmp_path)


@pytest.mark.parametrize("wrong", ["relative", "/missing/folder"])
def test_a_folder_that_is_none_is_refused_when_the_app_is_made(wrong: str) -> None:
    with pytest.raises(ConfigurationError, match="absolute path of a folder"):
        made(cwd=wrong)
