"""AG-UI over a real socket: runs, refusals, and what becomes of a run whose reader leaves."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from ag_ui.core import AgentCapabilities
from pydantic import BaseModel
from tests.hubs import echo, make, soon, until
from tests.server.running_server import SECRET, frames, run_events, run_input, served

from trunkline.commands import Prompt
from trunkline.protocols.agui.protobuf import MEDIA_TYPE
from trunkline.server.limits import Limits
from trunkline.server.security.tokens import Token
from trunkline.testing import ScriptedAgent

TEXT = "text/event-stream; charset=utf-8"


async def test_a_run_streams_from_its_start_to_its_one_terminal() -> None:
    async with served() as (_, client), client.stream("POST", "/agui", json=run_input("/tools")) as response:
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert response.headers["cache-control"] == "no-cache"
        assert response.headers["x-accel-buffering"] == "no"
        output = [frame async for frame in frames(response)]
    kinds = [event["type"] for _, event in output]
    assert kinds[0] == "RUN_STARTED"
    assert kinds[-1] == "RUN_FINISHED"
    assert kinds.count("RUN_FINISHED") == 1
    assert output[-1][0] is not None, "the last event says how far the reader got"


async def test_a_client_that_asks_for_lines_gets_lines() -> None:
    async with served() as (_, client):
        answer = await client.post("/agui", json=run_input(), headers={"accept": "application/x-ndjson"})
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert [httpx.Response(200, content=line).json()["type"] for line in answer.text.splitlines()][-1] == (
        "RUN_FINISHED"
    )


@pytest.mark.parametrize(
    ("accept", "version", "media_type"),
    [
        (MEDIA_TYPE, "1.0", MEDIA_TYPE),
        (MEDIA_TYPE, "2.1", MEDIA_TYPE),
        (f"text/event-stream;q=0.9, {MEDIA_TYPE.upper()}", "1.0", MEDIA_TYPE),
        (MEDIA_TYPE, "0.9", TEXT),
        (MEDIA_TYPE, None, TEXT),
    ],
)
async def test_a_client_of_today_that_asks_for_protobuf_gets_it(
    accept: str, version: str | None, media_type: str
) -> None:
    async with served() as (_, client):
        body = run_input("/tools", protocolVersion=version)
        answer = await client.post("/agui", json=body, headers={"accept": accept})
        again = await client.post("/agui/connect", json={**body, "messages": []}, headers={"accept": accept})
    for response in (answer, again):
        assert response.headers["content-type"] == media_type
        assert response.headers["cache-control"] == "no-cache"
        if media_type == MEDIA_TYPE:
            frames = frames_in(response.content)
            assert (frames[0][:1], frames[-1][:1]) == (b"\x62", b"\x6a"), "from RUN_STARTED to RUN_FINISHED"


def frames_in(body: bytes) -> list[bytes]:
    """Cut a body of protobuf into its messages."""
    found: list[bytes] = []
    while body:
        size = int.from_bytes(body[:4])
        assert len(body) >= 4 + size, "the last frame is whole"
        found.append(body[4 : 4 + size])
        body = body[4 + size :]
    return found


async def test_a_reader_that_leaves_ends_its_turn_at_once() -> None:
    stopped = asyncio.Event()

    async def endless(prompt: Prompt) -> AsyncIterator[str]:
        try:
            while True:
                yield "tick "
                await asyncio.sleep(0.001)
        finally:
            stopped.set()

    async with served(make(endless)) as (app, client):
        async with client.stream("POST", "/agui", json=run_input()) as response:
            async for _, event in frames(response):
                if event["type"] == "TEXT_MESSAGE_CONTENT":
                    break
        await soon(stopped.wait(), 5.0)
        hub = await app.agents.hub()
        session = await hub.session("t1")
        await until(lambda: not session.busy)
        assert session.followers == 0


async def test_one_that_reads_the_past_as_the_client_leaves_does_not_keep_its_turn() -> None:
    async with served(ScriptedAgent()) as (app, client):
        async with client.stream("POST", "/agui", json=run_input("/wait-for-cancel")) as response:
            async for _, event in frames(response):
                if event["type"] == "TEXT_MESSAGE_CONTENT":
                    break
            session = await (await app.agents.hub()).session("t1")
            past = session.replay()
            await anext(past)
            assert session.followers == 1
        await until(lambda: not session.busy)
        await past.aclose()


async def test_a_reader_that_stalls_loses_nothing_and_holds_up_nobody() -> None:
    async def long(prompt: Prompt) -> AsyncIterator[str]:
        for number in range(20_000):
            yield f"{number} "
            if number % 100 == 0:
                await asyncio.sleep(0)

    async with (
        served(make(long)) as (app, client),
        client.stream("POST", "/agui", json=run_input()) as response,
    ):
        hub = await app.agents.hub()
        session = await hub.session("t1")
        await until(lambda: not session.busy)
        output = [event async for _, event in frames(response)]
    text = "".join(event.get("delta", "") for event in output)
    assert text == "".join(f"{number} " for number in range(20_000))


async def test_two_runs_of_one_thread_at_once_are_one_too_many() -> None:
    async with (
        served() as (_, client),
        client.stream("POST", "/agui", json=run_input("/wait-for-cancel")) as response,
    ):
        async for _, event in frames(response):
            if event["type"] == "RUN_STARTED":
                break
        refused = await client.post("/agui", json=run_input(run="r2"))
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "busy"


async def test_what_is_no_request_is_refused_before_the_stream() -> None:
    async with served() as (_, client):
        empty = await client.post("/agui", json={})
        broken = await client.post("/agui", content=b"{", headers={"content-type": "application/json"})
        nobody = await client.post("/agui/nobody", json={})
    assert (empty.status_code, empty.json()["error"]["code"]) == (422, "invalid_command")
    assert (broken.status_code, broken.json()["error"]["code"]) == (422, "invalid_command")
    assert (nobody.status_code, nobody.json()["error"]["code"]) == (404, "agent")


async def test_several_agents_answer_under_their_names_and_the_first_by_default() -> None:
    async def one(prompt: Prompt) -> str:
        return "one"

    async def two(prompt: Prompt) -> str:
        return "two"

    async with served({"one": make(one), "two": make(two)}) as (_, client):
        events = {
            path: "".join(
                event.get("delta", "") for event in await run_events(client, run_input(thread=path), path)
            )
            for path in ("/agui", "/agui/default", "/agui/one", "/agui/two")
        }
    assert events == {"/agui": "one", "/agui/default": "one", "/agui/one": "one", "/agui/two": "two"}


async def test_a_page_that_comes_back_is_shown_its_thread_and_what_it_waits_for() -> None:
    again: dict[str, Any] = {**run_input(run="back"), "messages": []}
    async with served({"first": ScriptedAgent(), "second": make(echo)}) as (_, client):
        asked = await run_events(client, run_input("/permission"))
        for path in ("/agui/connect", "/agui/first/connect"):
            events = await run_events(client, again, path)
            assert events[0]["type"] == "RUN_STARTED"
            assert events[-2]["messages"] == asked[-2]["messages"]
            assert events[-1]["outcome"] == asked[-1]["outcome"]
        assert await run_events(client, {**again, "threadId": "new"}, "/agui/connect") == []
        refused = await client.post("/agui/second/connect", json=again)
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "other_agent")


@pytest.mark.parametrize(("route", "page", "kept"), [
    ("/agui", "mine", ["instead"]),
    ("/copilotkit/agent/default/run", "mine", ["instead"]),
    ("/agui", None, ["first", "instead"]),
    ("/agui", "another", ["first", "instead"]),
])  # fmt: skip
async def test_only_a_page_that_names_itself_edits_the_first_message(
    route: str, page: str | None, kept: list[str]
) -> None:
    async with served(make(echo)) as (app, client):
        client.headers["Trunkline-Page"] = "mine"
        await run_events(client, run_input("first"), route)
        del client.headers["Trunkline-Page"]
        if page is not None:
            client.headers["Trunkline-Page"] = page
        edited = run_input("instead", run="r2")
        edited["messages"][0]["id"] = "u2"
        await run_events(client, edited, route)
        session = await (await app.agents.hub()).session(edited["threadId"])
        messages = (await session.history()).messages

    assert [message.text for message in messages if message.role == "user"] == kept


async def test_what_an_agent_can_do_is_said_in_ag_uis_own_words() -> None:
    async def plain(prompt: Prompt) -> str:
        return "one"

    async with served({"demo": ScriptedAgent(), "plain": make(plain)}) as (_, client):
        demo = (await client.get("/agui/capabilities")).json()
        plainly = (await client.get("/agui/plain/capabilities")).json()
    for told_of in (demo, plainly):
        known = AgentCapabilities.model_validate(told_of)
        for part in (known, *(value for value in vars(known).values() if isinstance(value, BaseModel))):
            assert not part.model_extra, "nothing that it does not know"
    assert demo["identity"]["name"] == "Demo"
    assert "description" not in plainly["identity"]
    assert demo["humanInTheLoop"]["approvals"] is True


async def test_a_run_whose_agent_raises_ends_with_its_error_and_everything_closed() -> None:
    async with served() as (_, client):
        events = await run_events(client, run_input("/raises"))
    assert events[-1]["type"] == "RUN_ERROR"
    starts = [event["type"] for event in events].count("TEXT_MESSAGE_START")
    assert starts == [event["type"] for event in events].count("TEXT_MESSAGE_END")


async def test_silence_is_kept_alive() -> None:
    async with (
        served(limits=Limits(keep_alive_seconds=0.1)) as (_, client),
        client.stream("POST", "/agui", json=run_input("/wait-for-cancel")) as response,
    ):
        async for piece in response.aiter_bytes():
            if b": keep-alive\n\n" in piece:
                break


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": "Bearer wrong-wrong-wrong"}, 401),
        ({"host": "evil.example"}, 421),
        ({"host": "0.0.0.0:8000"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://localhost:9999"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
    ],
)
async def test_hostile_requests_over_the_wire_begin_nothing(headers: dict[str, str], status: int) -> None:
    async with served() as (_, client):
        body = json.dumps(run_input()).encode()
        answer = await client.post(
            "/agui", content=body, headers={"content-type": "application/json", **headers}
        )
        assert answer.status_code == status
        assert set(answer.json()["error"]) == {"code", "message"}
        assert (await client.get("/sessions")).json() == {"sessions": []}


async def test_a_token_that_may_only_answer_begins_nothing_by_giving_up_what_waits() -> None:
    tokens = (SECRET, Token(secret="answer-answer-answer", scopes=frozenset({"answer"})))
    only = {"authorization": "Bearer answer-answer-answer"}
    async with served(tokens=tokens) as (_, client):
        asked = (await run_events(client, run_input("/permission")))[-1]["outcome"]["interrupts"]
        given_up = [{"interruptId": interrupt["id"], "status": "cancelled"} for interrupt in asked]
        for refused in (run_input("/text", run="r2", resume=given_up), run_input("/text", run="r3")):
            answer = await client.post("/agui", json=refused, headers=only)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "scope")
        mere: dict[str, Any] = {**run_input(run="r4", resume=given_up), "messages": []}
        assert (await client.post("/agui", json=mere, headers=only)).status_code == 200


@pytest.mark.parametrize(("scope", "goes_on"), [("follow", True), ("follow,prompt", False)])
async def test_who_may_only_look_on_ends_no_turn_by_looking_away(scope: str, goes_on: bool) -> None:
    tokens = (SECRET, f"local:{scope}=viewer-viewer-viewer")
    viewer = {"authorization": "Bearer viewer-viewer-viewer"}
    async with served(tokens=tokens) as (app, client):
        await run_events(client, run_input("/text"))
        prompt = {"type": "prompt", "content": [{"type": "text", "text": "/wait-for-cancel"}]}
        assert (await client.post("/sessions/t1/commands", json=prompt)).status_code == 200
        session = await (await app.agents.hub()).session("t1")
        async with client.stream(
            "POST", "/agui/connect", json=run_input(run="r2"), headers=viewer
        ) as response:
            await soon(anext(frames(response)))
            await until(lambda: session.followers == 1)
        await until(lambda: session.followers == 0)
        if not goes_on:
            await until(lambda: not session.busy)
        await session.wait_for_ending_turn()
        assert session.busy is goes_on


async def test_a_second_tab_follows_what_the_first_one_does() -> None:
    async with served() as (_, client):
        await run_events(client, run_input("/text"))
        body: dict[str, Any] = {**run_input(run="tab"), "messages": []}
        async with client.stream("POST", "/agui/connect?follow=true", json=body) as response:
            said = frames(response)
            ended: list[str] = []
            for number in range(3):
                if number:
                    await run_events(client, run_input("/tools", run=f"r{number + 1}"))
                async for _, event in said:
                    if event["type"] == "RUN_FINISHED":
                        ended.append(event["runId"])
                        break
    assert ended == ["tab", "tab:2", "tab:3"]
