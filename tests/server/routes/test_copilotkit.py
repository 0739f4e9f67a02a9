"""CopilotKit's pages straight on the server: both forms of its routes, and a page that is reloaded."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.hubs import make, soon
from tests.server.running_server import frames, run_events, run_input, served

from trunkline.commands import Prompt

RUN = "/copilotkit/agent/default/run"
CONNECT = "/copilotkit/agent/default/connect"


def kinds(events: list[Any]) -> list[str]:
    return [event["type"] for event in events]


def back(**fields: Any) -> dict[str, Any]:
    """What a page sends that just opened."""
    return {**run_input(run="back"), "messages": [], **fields}


async def test_a_page_that_is_refused_is_told_why_where_it_looks_for_it() -> None:
    async with served() as (_, client):
        refused = await client.get("/copilotkit/info", headers={"authorization": "Bearer wrong"})
    assert refused.status_code == 401
    assert refused.json()["message"] == refused.json()["error"]["message"]


async def test_a_page_is_told_the_agents_and_always_a_default_one() -> None:
    async with served() as (_, client):
        one = (await client.get("/copilotkit/info")).json()
    async with served({"first": make(_tick), "second": make(_tick)}) as (_, client):
        two = (await client.get("/copilotkit/info")).json()
        single = (await client.post("/copilotkit", json={"method": "info"})).json()
    assert one["mode"] == "sse"
    assert one["audioFileTranscriptionEnabled"] is False
    assert set(one["agents"]) == {"default"}
    assert set(one["agents"]["default"]) == {"name", "className", "description"}
    assert list(two["agents"]) == ["default", "first", "second"]
    assert single == two


@pytest.mark.parametrize("single", [False, True])
async def test_a_run_is_the_same_in_both_forms(single: bool) -> None:
    body: dict[str, Any] = run_input("/tools")
    path = RUN
    if single:
        body = {"method": "agent/run", "params": {"agentId": "default"}, "body": body}
        path = "/copilotkit"
    async with served() as (_, client):
        events = kinds(await run_events(client, body, path))
    assert events[0] == "RUN_STARTED"
    assert "TOOL_CALL_RESULT" in events
    assert events[-1] == "RUN_FINISHED"


@pytest.mark.parametrize("single", [False, True])
async def test_a_page_that_comes_back_sees_the_thread_as_it_is(single: bool) -> None:
    body, path = back(), CONNECT
    if single:
        body, path = (
            {"method": "agent/connect", "params": {"agentId": "default"}, "body": body},
            "/copilotkit",
        )
    async with served() as (_, client):
        await run_events(client, run_input("/state"), RUN)
        events = await run_events(client, body, path)
    assert kinds(events) == ["RUN_STARTED", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT", "RUN_FINISHED"]
    assert events[0]["runId"] == "back"
    assert [message["role"] for message in events[1]["messages"]][:2] == ["user", "assistant"]
    assert events[2]["snapshot"]
    assert events[3]["outcome"] == {"type": "success"}


async def _tick(prompt: Prompt) -> AsyncIterator[str]:
    number = 0
    while True:
        yield f"{number} "
        number += 1
        await asyncio.sleep(0.001)


async def test_a_page_that_is_reloaded_in_the_middle_of_a_text_goes_on_where_it_was() -> None:
    async with served(make(_tick)) as (app, client):
        async with client.stream("POST", RUN, json=run_input("go")) as response:
            async for _, event in frames(response):
                if event.get("delta", "").endswith("20 "):
                    break
        session = await (await app.agents.hub()).session("t1")
        assert session.busy, "a page that is reloaded gets some time to come back"
        text, output = "", list[Any]()
        async with client.stream("POST", CONNECT, json=back()) as response:
            async for _, event in frames(response):
                output.append(event)
                text += event.get("delta", "")
                if event.get("delta", "").endswith("50 "):
                    await client.post("/copilotkit/agent/default/stop/t1", json={"runId": "back"})
    assert kinds(output)[:4] == [
        "RUN_STARTED",
        "MESSAGES_SNAPSHOT",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
    ]
    assert [message["role"] for message in output[1]["messages"]] == ["user"]
    assert len(text.split()) > 50
    assert text == "".join(f"{number} " for number in range(len(text.split()))), "nothing twice, nothing lost"
    assert output[-1]["outcome"] == {"type": "cancelled"}


async def test_stopping_says_whether_there_was_anything_to_stop() -> None:
    async with served() as (_, client):
        nothing = await client.post("/copilotkit/agent/default/stop/t1", json={"runId": "r1"})
        running = asyncio.create_task(run_events(client, run_input("/wait-for-cancel"), RUN))
        stopped: dict[str, Any] = {}
        while not stopped.get("stopped"):
            stop = {"method": "agent/stop", "params": {"agentId": "default", "threadId": "t1"}}
            stopped = (await soon(client.post("/copilotkit", json=stop))).json()
        output = await soon(running)
    assert nothing.json() == {"stopped": False}
    assert output[-1]["outcome"] == {"type": "cancelled"}


async def test_a_method_that_is_none_is_refused() -> None:
    async with served() as (_, client):
        unknown = await client.post("/copilotkit", json={"method": "agent/fly"})
        broken = await client.post("/copilotkit", json=[])
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "method")
    assert broken.status_code == 422


# -- a client of before 1.0, which CopilotKit's is ---------------------------------------------------


def old(text: str, **fields: Any) -> dict[str, Any]:
    """What a client sends that does not say which version it speaks."""
    body = run_input(text, **fields)
    del body["protocolVersion"]
    return body


async def test_an_answer_may_come_under_the_id_of_the_run_that_asked() -> None:
    async with served() as (_, client):
        asked = await run_events(client, old("/permission"), RUN)
        (interrupt,) = asked[-1]["outcome"]["interrupts"]
        # What CopilotKit makes of an answer, besides the answer itself.
        made_up = {
            "id": "made-up",
            "role": "tool",
            "toolCallId": interrupt["toolCallId"],
            "content": '{"approved":true}',
        }
        history = [*asked[-2]["messages"], made_up]
        resume = [{"interruptId": interrupt["id"], "status": "resolved", "payload": {"approved": True}}]
        answer = old("", messages=history, resume=resume)
        events = await run_events(client, answer, RUN)
        again = await run_events(client, answer, RUN)
    assert (asked[0]["runId"], events[0]["runId"]) == ("r1", "r1")
    (shown,) = (event["messages"] for event in events if event["type"] == "MESSAGES_SNAPSHOT")
    assert "made-up" not in [message["id"] for message in shown], "the result is yet to come"
    (result,) = (event for event in events if event["type"] == "TOOL_CALL_RESULT")
    assert result["toolCallId"] == interrupt["toolCallId"]
    assert events[-1]["outcome"] == {"type": "success"}
    assert kinds(again) == kinds(events), "the same request once more is the same run"


async def test_a_run_that_waits_for_the_page_claims_no_success_to_an_older_client() -> None:
    tools: list[dict[str, Any]] = [{"name": "pick_colour", "description": "", "parameters": {}}]
    async with served() as (_, client):
        events = await run_events(client, old("/client-tool", tools=tools), RUN)
    assert events[-1]["type"] == "RUN_FINISHED"
    assert "outcome" not in events[-1]
