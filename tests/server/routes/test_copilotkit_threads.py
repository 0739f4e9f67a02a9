"""The threads that a page of CopilotKit lists: those of its agent and of its principal, page by page."""

from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from tests.hubs import make
from tests.server.running_server import BEARER, SECRET, run_events, run_input, served

from trunkline.commands import Prompt

OTHER = {"authorization": "Bearer another-secret-here"}


async def _echo(prompt: Prompt, ctx: Any) -> Any:
    yield prompt.text


AGENTS = {"first": make(_echo), "second": make(_echo)}


async def talk(client: httpx.AsyncClient, *threads: str, agent: str = "first") -> None:
    for thread in threads:
        await run_events(
            client, run_input(f"hello {thread}", thread=thread), f"/copilotkit/agent/{agent}/run"
        )


async def threads(client: httpx.AsyncClient, *, single: bool = False, **query: Any) -> Any:
    path = f"/threads?{urlencode(query)}"
    if single:
        body = {"method": "resource/request", "params": {"path": path, "httpMethod": "GET"}}
        answer = await client.post("/copilotkit", json=body)
    else:
        answer = await client.get(f"/copilotkit{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("single", [False, True])
async def test_a_page_gets_the_threads_of_its_agent_newest_first(single: bool) -> None:
    async with served(AGENTS, tokens=[SECRET, "bob=another-secret-here"]) as (_, client):
        await talk(client, "a", "b")
        await talk(client, "elsewhere", agent="second")
        page = await threads(client, single=single, agentId="first")
        nobody = await client.get("/copilotkit/threads?agentId=first", headers=OTHER)
        info = (await client.get("/copilotkit/info", headers=BEARER)).json()
    assert [(one["id"], one["agentId"], one["archived"]) for one in page["threads"]] == [
        ("b", "first", False),
        ("a", "first", False),
    ]
    assert page["nextCursor"] is None
    newest = page["threads"][0]
    assert newest["createdAt"] <= newest["updatedAt"] == newest["lastRunAt"]
    assert nobody.json()["threads"] == [], "of another principal"
    assert info["threadEndpoints"] == {"list": True, "inspect": False, "mutations": False}


async def test_the_pages_of_the_list_have_each_thread_once() -> None:
    async with served(AGENTS) as (_, client):
        for number in range(5):
            await talk(client, f"a{number}")
            await talk(client, f"b{number}", agent="second")
        found: list[str] = []
        query: dict[str, Any] = {"agentId": "first", "limit": 2}
        while True:
            page = await threads(client, **query)
            found += [one["id"] for one in page["threads"]]
            if page["nextCursor"] is None:
                break
            query["cursor"] = page["nextCursor"]
    assert found == ["a4", "a3", "a2", "a1", "a0"]


@pytest.mark.parametrize(
    ("query", "status", "why"),
    [
        ("agentId=nobody", 404, "there is no agent of that name"),
        ("limit=0", 422, "at least 1"),
        ("limit=many", 422, "give a whole number"),
        ("cursor=x", 422, "send the `nextCursor`"),
    ],
)
async def test_a_list_that_there_is_not_is_refused_with_the_reason(query: str, status: int, why: str) -> None:
    async with served(AGENTS) as (_, client):
        answer = await client.get(f"/copilotkit/threads?{query}")
        change = {"method": "resource/request", "params": {"path": "/threads/a", "httpMethod": "DELETE"}}
        changed = await client.post("/copilotkit", json=change)
    assert (answer.status_code, why in answer.text) == (status, True), answer.text
    assert (changed.status_code, "only GET /threads" in changed.text) == (404, True)
