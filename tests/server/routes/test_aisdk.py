"""The AI SDK over a real socket: streams, refusals as sentences, resuming, stopping, answering beside."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from tests.frontends.aisdk.chats import answered, user
from tests.hubs import echo, make, soon, until
from tests.server.asgi_requests import call, scope
from tests.server.running_server import SECRET, served

from trunkline.frontends.aisdk import AisdkOptions
from trunkline.server.limits import Limits
from trunkline.server.security.tokens import Token
from trunkline.testing import ScriptedAgent


def chat(
    text: str = "/text", message_id: str = "u1", *, chat_id: str = "c1", **fields: Any
) -> dict[str, Any]:
    """A request of useChat."""
    body = {"id": chat_id, "messages": [user(text, message_id)], "trigger": "submit-message"}
    return {**body, **fields}


async def ask(client: httpx.AsyncClient, body: dict[str, Any], path: str = "/api/chat") -> list[Any]:
    """Send a request; give the chunks of its response."""
    answer = await client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return chunks_of(answer)


def chunks_of(answer: httpx.Response) -> list[Any]:
    *found, done = [line[6:] for line in answer.text.split("\n") if line.startswith("data: ")]
    assert done == "[DONE]"
    return [json.loads(one) for one in found]


async def test_a_response_has_the_headers_and_the_frame_of_the_protocol() -> None:
    async with served() as (_, client):
        answer = await client.post("/api/chat", json=chat("/tools"))
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.text.startswith(": stream-open\n\n")
    chunks = chunks_of(answer)
    assert (chunks[0]["type"], chunks[-1]["type"]) == ("start", "finish")


async def test_the_version_is_an_option_and_a_request_may_ask_for_another() -> None:
    async with served(aisdk=AisdkOptions(version=5)) as (_, client):
        kinds: list[set[str]] = []
        for number, path in enumerate(("/api/chat", "/api/chat?v=6")):
            chunks = await ask(client, chat("/permission", chat_id=f"c{number}"), path)
            kinds.append({one["type"] for one in chunks})
        assert "data-permission" in kinds[0]
        assert "tool-approval-request" in kinds[1]
        wrong = await client.post("/api/chat?v=4", json=chat())
    assert (wrong.status_code, wrong.text) == (422, "there is no version '4' of the stream: v is 5, 6, 7")


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (b"{", 422, "the request is not JSON"),
        (b"[]", 422, "the request must be an object with id and messages"),
        (json.dumps(chat("")).encode(), 422, "message 'u1' is empty"),
        (
            json.dumps({"id": "c", "messages": [{**user("x"), "parts": [{"type": "sound"}]}]}).encode(),
            422,
            "Unsupported part type: sound (messages[0].parts[0])",
        ),
        (b'{"id": "c", "messages": []}', 422, "there is nothing to answer"),
        (b"[" * 100, 422, "nested deeper"),
        (b'"' + b"x" * 40_000 + b'"', 413, "larger than 20000 bytes"),
    ],
)
async def test_what_is_refused_is_a_status_and_a_sentence(body: bytes, status: int, sentence: str) -> None:
    limits = Limits(body_bytes=10_000, history_bytes=20_000)
    async with served(limits=limits) as (_, client):
        answer = await client.post("/api/chat", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert sentence in answer.text
    assert answer.headers["content-type"] == "text/plain; charset=utf-8", "useChat shows the body"
    assert answer.headers["x-error-code"]


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "sentence"),
    [
        ("POST", "/api/chat", {"authorization": "Bearer nobody"}, 401, "a token is missing or wrong: "),
        ("POST", "/api/chat", {"origin": "http://localhost:3000"}, 403, "a page from elsewhere "),
        ("POST", "/api/chat/c1/stop", {"content-type": "text/plain"}, 415, "send JSON, "),
        ("GET", "/api/chat", {}, 405, "method not allowed here: use POST"),
    ],
)
async def test_what_the_gate_refuses_is_a_sentence_too(
    method: str, path: str, headers: dict[str, str], status: int, sentence: str
) -> None:
    async with served() as (_, client):
        answer = await client.request(method, path, headers=headers)
        other = await client.post("/agui", headers={"authorization": "Bearer nobody"})
    assert (answer.status_code, answer.text[: len(sentence)]) == (status, sentence)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8", "useChat shows the body"
    assert answer.headers["x-error-code"]
    assert other.json()["error"]["code"] == "token", "elsewhere it is JSON"


async def test_a_request_may_be_as_long_as_its_history_but_not_what_is_new_in_it() -> None:
    limits = Limits(body_bytes=2_000, history_bytes=20_000)
    async with served(make(echo), limits=limits) as (_, client):
        messages: list[Any] = []
        for number in range(5):
            messages.append(user("x" * 1_000, f"u{number}"))
            await ask(client, {"id": "c1", "messages": messages})
            messages = (await client.get("/api/chat/c1/messages")).json()
        answer = await client.post(
            "/api/chat", json={"id": "c1", "messages": [*messages, user("y" * 3_000, "n")]}
        )
    assert answer.status_code == 413
    assert "bytes that its thread does not have" in answer.text


async def test_a_chat_of_another_principal_does_not_exist() -> None:
    tokens = [SECRET, Token(secret="the-secret-of-bob", principal="bob")]
    async with served(tokens=tokens) as (_, client):
        await ask(client, chat("/permission"))
        bob = {"authorization": "Bearer the-secret-of-bob"}
        assert (await client.get("/api/chat/c1/stream", headers=bob)).status_code == 204
        for method, path in (("GET", "messages"), ("POST", "stop"), ("POST", "permissions/q")):
            body: Any = {} if method == "POST" else None
            answer = await client.request(method, f"/api/chat/c1/{path}", json=body, headers=bob)
            assert answer.status_code == 404
            assert answer.text == "there is no session 'c1'"


async def test_what_is_under_way_is_resumed_and_stopped_by_its_turn() -> None:
    async with served() as (_, client):
        assert (await client.get("/api/chat/c1/stream")).status_code == 204
        async with client.stream("POST", "/api/chat", json=chat("/slow 10000 0.01")) as response:
            turn = (await soon(anext(_chunks(response))))["messageId"]
        async with client.stream("GET", "/api/chat/c1/stream") as resumed:
            assert resumed.status_code == 200
            shown = _chunks(resumed)
            assert (await soon(anext(shown)))["messageId"] == turn
            stale = await client.post("/api/chat/c1/stop", json={"turnId": "turn_before"})
            assert (stale.status_code, stale.text) == (
                409,
                "the turn 'turn_before' does not run any more: nothing was stopped",
            )
            assert (await client.post("/api/chat/c1/stop", json={"turnId": turn})).json() == {"stopped": True}
            rest = [one async for one in shown]
        assert [one["type"] for one in rest[-2:]] == ["abort", "finish"]
        assert (await client.post("/api/chat/c1/stop", json={})).json() == {"stopped": False}
        assert (await client.post("/api/chat/c1/stop", json={"turnId": 1})).status_code == 422
        assert (await client.post("/api/chat/c1/stop", json=[])).status_code == 422
        bad = await client.post(
            "/api/chat/c1/stop", content=b"{", headers={"content-type": "application/json"}
        )
        assert (bad.status_code, bad.text[:23]) == (422, "the body is not JSON: I")


@pytest.mark.parametrize("version", [5, 6, 7])
async def test_a_turn_that_is_over_is_shown_to_who_lacks_its_end_and_to_nobody_else(version: int) -> None:
    go = asyncio.Event()

    async def waits() -> AsyncIterator[str]:
        yield "before "
        await go.wait()
        yield "after"

    stream = f"/api/chat/c1/stream?v={version}"
    async with served(make(waits)) as (app, client):
        async with client.stream("POST", f"/api/chat?v={version}", json=chat("go")) as response:
            turn_id = (await soon(anext(_chunks(response))))["messageId"]
        session = await (await app.agents.hub()).session("c1")
        await until(lambda: not session.followers)
        go.set()
        await soon(session.wait_until_idle())
        shown = chunks_of(await client.get(stream))
        assert "".join(one.get("delta", "") for one in shown) == "before after"
        assert (await client.get(stream)).status_code == 204, "it left once"
        assert chunks_of(await client.get(f"{stream}&turnId={turn_id}")) == shown
        assert (await client.get(f"{stream}&turnId=turn_before")).status_code == 204


async def test_a_path_that_a_page_puts_after_its_query_resumes_the_chat() -> None:
    async with served({"first": ScriptedAgent(), "second": ScriptedAgent()}) as (_, client):
        for path, chat_id in (("/api/chat", "c1"), ("/api/chat/second", "c/2")):
            assert (await client.get(f"{path}?v=6/{chat_id}/stream")).status_code == 204
            await ask(client, chat("/permission", chat_id=chat_id), f"{path}?v=6")
            kinds = [one["type"] for one in chunks_of(await client.get(f"{path}?v=6/{chat_id}/stream"))]
            assert "tool-approval-request" in kinds
        assert (await client.get("/api/chat?v=8/c1/stream")).status_code == 422
        for place in ("", "?v=6", "?v=6/c1", "?v=6/stream"):
            answer = await client.get(f"/api/chat{place}")
            assert (answer.status_code, answer.headers["allow"]) == (405, "POST"), place


async def test_to_stop_takes_no_body_or_json() -> None:
    async with served() as (_, client):
        for sent, status in ((None, 200), (b"{}", 415), (b"", 200)):
            async with client.stream("POST", "/api/chat", json=chat("/wait-for-cancel")) as response:
                await soon(anext(_chunks(response)))
                answer = await client.post("/api/chat/c1/stop", content=sent)
                assert answer.status_code == status, sent
                assert (await client.post("/api/chat/c1/stop")).json() == {"stopped": status != 200}
        assert (await client.post("/api/chat/c1/permissions/q")).status_code == 415


async def _chunks(response: httpx.Response) -> AsyncIterator[Any]:
    async for line in response.aiter_lines():
        if line.startswith("data: {"):
            yield json.loads(line[6:])


async def test_a_question_is_answered_beside_the_stream_once() -> None:
    async with served() as (_, client):
        asked = await ask(client, chat("/permission"))
        (question,) = [one["approvalId"] for one in asked if one["type"] == "tool-approval-request"]
        place = f"/api/chat/c1/permissions/{question}"
        wrong = await client.post(place, json={"optionId": "nonsense"})
        assert wrong.status_code == 422
        assert "give one of allow_once" in wrong.text
        first = await client.post(place, json={"approved": True})
        assert first.json() == {"answered": question}
        second = await client.post(place, json={"approved": False})
        assert second.status_code == 409
        assert second.text == f"question {question} was already answered by aisdk:local"
        gone = await client.post("/api/chat/c1/questions/nothing", json={"approved": True})
        assert (gone.status_code, gone.text) == (404, "there is no question 'nothing' in this chat")


async def test_an_approval_of_a_question_that_is_gone_streams_to_a_finish() -> None:
    async with served() as (_, client):
        await ask(client, chat("/permission"))
        messages = (await client.get("/api/chat/c1/messages")).json()
        await client.post("/api/chat/c1/stop", json={})
        chunks = await ask(client, {"id": "c1", "messages": [messages[0], answered(messages[1])]})
        assert [one["type"] for one in chunks[-2:]] == ["abort", "finish"]


async def test_each_agent_has_an_address_and_a_chat_finds_its_agent() -> None:
    agents = {"first": make(echo, name="one"), "second": ScriptedAgent()}
    async with served(agents) as (_, client):
        await ask(client, chat("hello"))
        await ask(client, chat("/text", chat_id="second/with slash"), "/api/chat/second")
        other = await client.post("/api/chat/first", json=chat(chat_id="second/with slash"))
        assert other.status_code == 409
        for place in ("second/second%2Fwith%20slash", "second%2Fwith%20slash"):
            answer = await client.get(f"/api/chat/{place}/messages")
            assert [one["role"] for one in answer.json()] == ["user", "assistant"], place
        assert (await client.get("/api/chat/first/c1/messages")).status_code == 200
        assert (await client.get("/api/chat/first/nothing/stream")).status_code == 204
        assert (await client.get("/api/chat/c1/messages")).status_code == 200
        nobody = await client.post("/api/chat/third", json=chat())
        assert (nobody.status_code, nobody.text) == (
            404,
            "there is no agent of that name; there are first, second",
        )
        assert (await client.get("/api/chat/a/b/messages")).status_code == 404


async def test_an_address_whose_escapes_are_not_known_names_a_served_agent_first() -> None:
    async with served({"first": make(echo, name="one")}) as (app, client):
        await ask(client, chat(chat_id="x/y"))
        for path, status in (("first/x/y", 200), ("x/y", 200), ("first/z", 404)):
            reply = await call(app, scope(f"/api/chat/{path}/messages"))
            assert reply.status == status, path
