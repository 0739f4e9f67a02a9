"""Sessions over HTTP: listed, read, followed, commanded and deleted, by nobody but their principal."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
from tests.hubs import make, soon, until
from tests.server.running_server import frames, run_events, run_input, served

from trunkline.commands import Prompt
from trunkline.cursor import Cursor
from trunkline.journal import open_journal
from trunkline.session.context import TurnContext

FOLLOW = {"accept": "text/event-stream"}


async def test_sessions_are_listed_newest_first_and_page_by_page() -> None:
    async with served() as (_, client):
        for number in range(3):
            await run_events(client, run_input("/text", thread=f"t{number}"))
        first = (await client.get("/sessions", params={"limit": 2})).json()
        rest = (await client.get("/sessions", params={"limit": 2, "before": first["next"]})).json()
    assert [row["session_id"] for row in first["sessions"] + rest["sessions"]] == ["t2", "t1", "t0"]
    assert first["sessions"][0]["agent"] == "default"
    assert "next" not in rest
    assert "owner" not in first["sessions"][0]


async def test_a_session_is_read_page_by_page() -> None:
    async with served() as (_, client):
        await run_events(client, run_input("/tools"))
        whole = (await client.get("/sessions/t1")).json()
        page = (await client.get("/sessions/t1", params={"after": 1, "limit": 3})).json()
    assert [record["seq"] for record in whole["records"]] == list(range(1, len(whole["records"]) + 1))
    assert whole["records"][0]["event"]["type"] == "turn_started"
    assert "next" not in whole
    assert page["records"] == whole["records"][1:4]
    assert page["next"] == 4


async def test_a_page_that_is_empty_waits_for_the_next_record() -> None:
    async with served() as (_, client):
        await run_events(client, run_input("/text"))
        last = (await client.get("/sessions/t1")).json()["records"][-1]["seq"]
        nothing = await soon(client.get("/sessions/t1", params={"after": last, "wait": 1}))
        waiting = asyncio.ensure_future(client.get("/sessions/t1", params={"after": last, "wait": 30}))
        await run_events(client, run_input("/text", run="r2"))
        records = (await soon(waiting)).json()["records"]
        refused = await client.get("/sessions/t1", params={"wait": "long"})
    assert nothing.json()["records"] == []
    assert records[0]["seq"] == last + 1
    assert refused.status_code == 422


async def test_a_page_of_nothing_is_a_page_of_one() -> None:
    async with served() as (_, client):
        await run_events(client, run_input("/text"))
        listed = await client.get("/sessions", params={"limit": 0})
        read = await client.get("/sessions/t1", params={"limit": 0})
    assert [len(listed.json()["sessions"]), len(read.json()["records"])] == [1, 1]


async def test_a_follower_sees_everything_and_goes_on_where_it_was_cut_off() -> None:
    async with served() as (_, client):
        await run_events(client, run_input("/tools"))
        seen = list[tuple[str | None, Any]]()
        async with client.stream("GET", "/sessions/t1", headers=FOLLOW) as response:
            assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
            async for cursor, data in frames(response):
                seen.append((cursor, data["event"]))
                if data["event"]["type"] == "turn_finished":
                    break
        middle = seen[len(seen) // 2][0]
        again = list[tuple[str | None, Any]]()
        headers = {**FOLLOW, "last-event-id": middle or ""}
        async with client.stream("GET", "/sessions/t1", headers=headers) as response:
            async for cursor, data in frames(response):
                again.append((cursor, data["event"]))
                if data["event"]["type"] == "turn_finished":
                    break
    assert again == seen[len(seen) // 2 + 1 :]


async def test_a_place_that_did_not_survive_gets_a_snapshot_and_then_what_follows() -> None:
    async with served() as (_, client):
        await run_events(client, run_input("/text"))
        headers = {**FOLLOW, "last-event-id": str(Cursor(99, 7))}
        async with client.stream("GET", "/sessions/t1", headers=headers) as response:
            following = frames(response)
            cursor, snapshot = await soon(anext(following))
            assert snapshot["conversation"]["messages"][0]["role"] == "user"
            assert cursor is not None
            await client.post("/sessions/t1/commands", json={"type": "prompt", "content": [], "key": "k"})
            _, data = await soon(anext(following))
            assert data["event"]["type"] in ("run_closed", "turn_started")


async def test_a_place_in_a_session_that_is_empty_gets_one_snapshot_and_then_what_follows() -> None:
    async with served() as (app, client):
        await (await app.agents.hub()).create("t1")
        headers = {**FOLLOW, "last-event-id": "7-5.0"}
        async with client.stream("GET", "/sessions/t1", headers=headers) as response:
            following = frames(response)
            cursor, snapshot = await soon(anext(following))
            assert cursor == "0-0.0"
            assert not snapshot["conversation"].get("messages")
            prompt = {"type": "prompt", "content": [{"type": "text", "text": "/text"}]}
            assert (await client.post("/sessions/t1/commands", json=prompt)).status_code == 200
            _, data = await soon(anext(following))
            assert data["event"]["type"] == "turn_started"


async def test_a_place_that_is_none_is_refused() -> None:
    async with served() as (_, client):
        await run_events(client, run_input())
        bad = await client.get("/sessions/t1", headers={**FOLLOW, "last-event-id": "yesterday"})
        number = await client.get("/sessions/t1", params={"after": "x"})
        before = await client.get("/sessions", params={"before": "x"})
        odd = await client.get("/sessions", params={"before": "x~y"})
    assert [answer.status_code for answer in (bad, number, before, odd)] == [422] * 4


async def test_commands_prompt_answer_and_cancel() -> None:
    async with served() as (app, client):
        await run_events(client, run_input("/text"))

        async def post(**command: Any) -> httpx.Response:
            return await client.post("/sessions/t1/commands", json=command)

        text = [{"type": "text", "text": "/permission"}]
        first = await post(type="prompt", content=text, key="once", by="mallory")
        again = await post(type="prompt", content=text, key="once")
        assert first.json()["result"]["turn_id"] == again.json()["result"]["turn_id"], "one key, one turn"
        session = await (await app.agents.hub()).session("t1")
        await until(lambda: bool(session.open_questions))
        question_id = next(iter(session.open_questions))
        answered = await post(type="answer", question_id=question_id, option_id="reject_once")
        assert (answered.status_code, answered.json()) == (200, {"result": {}})
        twice = await post(type="answer", question_id=question_id, option_id="reject_once")
        assert (twice.status_code, twice.json()["error"]["code"]) == (409, "already_answered")
        await until(lambda: not session.busy)
        records = (await client.get("/sessions/t1")).json()["records"]
        by = [
            record["event"]["by"] for record in records if record.get("event", {}).get("type") == "answered"
        ]
        assert by == ["http:local"], "who answered is not for the client to say"
        assert (await post(type="cancel")).json() == {"result": {"cancelled": False}}
        assert (await post(type="set_config", option_id="mode", value="nope")).status_code == 422
        assert (await post(type="rewind")).status_code == 200
        assert (await post(type="fly")).status_code == 422
        assert (await client.post("/sessions/none/commands", json={"type": "cancel"})).status_code == 404


async def test_a_prompt_can_steer_the_running_turn() -> None:
    async def look(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "began. "
        while not (messages := await ctx.steered()):
            await asyncio.sleep(0.001)
        yield f"also {messages[0].text}"

    async with served(make(look)) as (app, client):
        session = await (await app.agents.hub()).create("t1")
        started = await session.prompt("first")
        command = {
            "type": "prompt", "busy": "steer", "key": "k", "content": [{"type": "text", "text": "more"}],
        }  # fmt: skip
        waits = await client.post("/sessions/t1/commands", json=command)
        await soon(session.wait_until_idle())
        joined = await client.post("/sessions/t1/commands", json=command)
    assert waits.json()["result"] == {"prompt_id": "k"}
    result = joined.json()["result"]
    assert (result["turn_id"], result["steered"]) == (started.turn_id, True)


async def test_a_deleted_session_is_gone_and_its_followers_are_let_go() -> None:
    async with served() as (_, client):
        await run_events(client, run_input(thread="a/b c"))
        async with client.stream("GET", "/sessions/a%2Fb%20c", headers=FOLLOW) as response:
            following = frames(response)
            await soon(anext(following))
            assert (await client.delete("/sessions/a%2Fb%20c")).status_code == 204
            assert [data async for _, data in following if data["event"]["type"] == "never"] == []
        assert (await client.get("/sessions/a%2Fb%20c")).status_code == 404


async def test_sessions_are_where_the_journal_is(tmp_path: Path) -> None:
    for journal in (tmp_path / "one.db", f"sqlite:{tmp_path / 'one.db'}"):
        async with served(journal=journal) as (_, client):
            await run_events(client, run_input(thread=type(journal).__name__ + str(journal)[:3]))
            rows = (await client.get("/sessions")).json()["sessions"]
    assert len(rows) == 2
    mine = await open_journal("memory:")
    try:
        async with served(journal=mine) as (_, client):
            await run_events(client, run_input())
        assert len(await mine.list("local")) == 1, "a journal that was given open stays open"
    finally:
        await mine.close()
