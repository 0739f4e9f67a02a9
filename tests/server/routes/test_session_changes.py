"""Sessions that are begun, named, searched and forked over HTTP."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from tests.hubs import echo, make, soon
from tests.server.running_server import frames, run_events, run_input, served

from trunkline.commands import Prompt
from trunkline.session.context import TurnContext

FOLLOW = {"accept": "text/event-stream"}


async def say(client: httpx.AsyncClient, session_id: str, text: str, key: str) -> None:
    """Prompt, and wait for the end of the turn."""
    body = {"type": "prompt", "content": [{"type": "text", "text": text}], "key": key, "message_id": key}
    async with client.stream("GET", f"/sessions/{session_id}", headers=FOLLOW) as response:
        assert (await client.post(f"/sessions/{session_id}/commands", json=body)).status_code == 200
        mine = False
        async for _, data in frames(response):
            mine = mine or data["event"].get("message_id") == key
            if mine and data["event"]["type"] == "turn_finished":
                return


async def rows(client: httpx.AsyncClient, **params: Any) -> list[Any]:
    return (await client.get("/sessions", params=params)).json()["sessions"]


async def texts(client: httpx.AsyncClient, session_id: str) -> list[str]:
    export = (await client.get(f"/sessions/{session_id}")).json()
    asked = [record["event"] for record in export["records"] if "event" in record]
    return [event["content"][0]["text"] for event in asked if event["type"] == "user_message"]


async def test_a_session_is_begun_with_an_agent_and_listed_from_its_first_prompt_on() -> None:
    async with served({"one": make(echo), "two": make(echo)}) as (_, client):
        made = await client.post("/sessions", json={"agent": "two"})
        assert made.status_code == 201
        session_id = made.json()["session_id"]
        assert await rows(client) == []
        await say(client, session_id, "hello there", "k1")
        (row,) = await rows(client)
        assert (row["session_id"], row["agent"], row["title"]) == (session_id, "two", "hello there")
        assert await rows(client, agent="one") == []
        assert len(await rows(client, agent="two")) == 1
        unknown = await client.get("/sessions", params={"agent": "three"})
        assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "agent")


async def test_sessions_are_searched_by_title_and_text() -> None:
    async with served(make(echo)) as (_, client):
        for thread, text in (("t1", "about gardens"), ("t2", "about houses")):
            await run_events(client, run_input(text, thread=thread))
        assert [row["session_id"] for row in await rows(client, query="GARDEN")] == ["t1"]
        assert [row["session_id"] for row in await rows(client, query="about")] == ["t2", "t1"]
        assert len(await rows(client, query="  ")) == 2
        page = (await client.get("/sessions", params={"query": "about", "limit": 1})).json()
        rest = (await client.get("/sessions", params={"query": "about", "before": page["next"]})).json()
        assert [row["session_id"] for row in rest["sessions"]] == ["t1"]
        assert "next" not in rest
        refused = await client.get("/sessions", params={"query": "x" * 300})
        assert refused.status_code == 422


async def test_a_name_that_a_person_chose_is_seen_live_and_stays() -> None:
    async def titled(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        ctx.title("The agent's own")
        yield "hi"

    async with served(make(titled)) as (_, client):
        await run_events(client, run_input())
        assert [row["title"] for row in await rows(client)] == ["The agent's own"]
        async with client.stream("GET", "/sessions/t1", headers=FOLLOW) as response:
            renamed = await client.patch("/sessions/t1", json={"title": "  My\n garden "})
            assert renamed.json() == {"session_id": "t1", "title": "My garden"}
            async for _, data in frames(response):
                if data["event"].get("title") == "My garden":
                    assert data["event"] == {
                        "type": "info_changed", "title": "My garden", "by": "http:local"
                    }  # fmt: skip
                    break
        await run_events(client, run_input(run="r2"))
        assert [row["title"] for row in await rows(client)] == ["My garden"]
        assert (await client.patch("/sessions/t1", json={"title": None})).json()["title"] is None
        await run_events(client, run_input(run="r3"))
        assert [row["title"] for row in await rows(client)] == ["The agent's own"]


async def test_a_session_is_forked_as_it_is_or_up_to_a_message() -> None:
    async with served(make(echo)) as (_, client):
        session_id = (await client.post("/sessions", json={})).json()["session_id"]
        await say(client, session_id, "first", "k1")
        await say(client, session_id, "second", "k2")
        whole = await client.post(f"/sessions/{session_id}/fork", json={})
        part = await client.post(f"/sessions/{session_id}/fork", json={"to_message_id": "k1"})
        assert (whole.status_code, part.status_code) == (201, 201)
        fork = whole.json()["session_id"]
        assert await texts(client, fork) == ["first", "second"]
        records = (await client.get(f"/sessions/{part.json()['session_id']}")).json()["records"]
        rewound = [one["event"] for one in records if one.get("event", {}).get("type") == "rewound"]
        assert [event["to_message_id"] for event in rewound] == ["k1"]
        await say(client, fork, "third", "k3")
        assert await texts(client, fork) == ["first", "second", "third"]
        assert await texts(client, session_id) == ["first", "second"]
        missing = await client.post(f"/sessions/{session_id}/fork", json={"to_message_id": "none"})
        assert missing.status_code == 422
        assert len(await rows(client)) == 3, "half a fork is removed"


async def test_a_session_in_which_a_turn_runs_is_not_forked() -> None:
    async with served() as (app, client):
        session_id = (await client.post("/sessions", json={})).json()["session_id"]
        body = {"type": "prompt", "content": [{"type": "text", "text": "/wait-for-cancel"}]}
        await client.post(f"/sessions/{session_id}/commands", json=body)
        busy = await client.post(f"/sessions/{session_id}/fork", json={})
        assert (busy.status_code, busy.json()["error"]["code"]) == (409, "busy")
        session = await (await app.agents.hub()).session(session_id)
        await soon(session.cancel())


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/sessions", {"agent": "none"}, 404),
        ("POST", "/sessions", {"agent": 7}, 422),
        ("POST", "/sessions", {"name": "x"}, 422),
        ("POST", "/sessions", [], 422),
        ("PATCH", "/sessions/t1", {}, 422),
        ("PATCH", "/sessions/t1", {"title": 7}, 422),
        ("PATCH", "/sessions/t1", {"title": "x" * 501}, 422),
        ("PATCH", "/sessions/none", {"title": "x"}, 404),
        ("POST", "/sessions/none/fork", {}, 404),
        ("POST", "/sessions/t1/fork", {"to_message_id": 7}, 422),
        ("PUT", "/sessions/t1", {}, 405),
    ],
)
async def test_what_is_not_understood_is_refused_with_the_next_step(
    method: str, path: str, body: Any, status: int
) -> None:
    async with served(make(echo)) as (_, client):
        await run_events(client, run_input())
        refused = await client.request(method, path, json=body)
    assert (refused.status_code, bool(refused.json()["message"])) == (status, True)
