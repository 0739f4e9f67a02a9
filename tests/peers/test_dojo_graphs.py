"""Graphs written for ag-ui-langgraph, on it and here: the official client ends with the same in both."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tests.agents.langchain.dojo_graphs import FLIGHTS, GRAPHS, HOTELS, SCRIPTS
from tests.peers.agui import Browser, Page, open_page
from tests.peers.test_python_sdk import driver_in
from tests.server.running_server import served
from trunkline.testing.chat import ScriptedChatModel

pytestmark = pytest.mark.slow

TOOLS = [
    {"name": "generate_haiku", "description": "Show it.", "parameters": {"type": "object"}},
    {"name": "confirm_changes", "description": "Confirm it.", "parameters": {"type": "object"}},
]
CONTEXT = [{"description": "The user", "value": "Ada"}]
STATES: dict[str, Any] = {
    "shared_state": {"recipe": {"title": "", "ingredients": [], "instructions": ["Boil"]}},
    "subgraphs": {"itinerary": {}, "flights": [], "hotels": [], "experiences": []},
}
ANSWERS: dict[str, list[Any]] = {
    "human_in_the_loop": ["The user selected the following steps: Dig"],
    "subgraphs": [json.dumps(asdict(FLIGHTS[1])), json.dumps(asdict(HOTELS[0]))],
}
RUN_BY_PAGE = ("tool_based_generative_ui", "predictive_state_updates")


@pytest.fixture(scope="module")
def peer(root: Path) -> Generator[str]:
    """The address of ag-ui-langgraph."""
    python, _ = driver_in("agui-peers", root)
    (packages,) = Path(python).parent.parent.glob("lib/python*/site-packages")
    program = [sys.executable, str(root / "tests/peers/python/serve_dojo.py"), str(packages)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "src")])}
    with subprocess.Popen(program, stdout=subprocess.PIPE, env=env) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


@asynccontextmanager
async def ours() -> AsyncGenerator[str]:
    graphs = {
        name: made(ScriptedChatModel(*SCRIPTS[name], chunk_size=12), InMemorySaver())
        for name, made in GRAPHS.items()
    }
    async with served(graphs) as (_, client):
        yield f"{client.base_url}".rstrip("/")


async def play(browser: Browser, address: str, name: str, version: str = "1.0") -> Page:
    """Talk to a graph until it waits for nothing any more."""
    page = await open_page(browser, address, name, version, state=STATES.get(name), version=version)
    report = await page.say("Go!", tools=TOOLS, context=CONTEXT)
    for payload in ANSWERS.get(name, ()):
        assert report["error"] is None
        report = await page.run(tools=TOOLS, **answer_to(page, payload))
    if waiting := page.pending if name in RUN_BY_PAGE else []:
        results = [{"id": f"r-{key}", "role": "tool", "toolCallId": key, "content": "ok"} for key in waiting]
        report = await page.run(*results, tools=TOOLS)
    assert report["error"] is None
    return page


def answer_to(page: Page, payload: Any) -> dict[str, Any]:
    """The fields of the run that answers: to interrupts, or to the event of older pages."""
    events = [one["value"] for one in page.frames if one.get("name") == "on_interrupt"]
    assert len(events) == 1, "a graph's own interrupt is always an event"
    if not page.interrupts:
        return {"forwardedProps": {"command": {"resume": payload, "interruptEvent": events[0]}}}
    return {"resume": page.resume(payload)}


def said(page: Page) -> list[Any]:
    """What a page shows: texts, and calls with their arguments and results."""
    results = {one["toolCallId"]: one["content"] for one in page.messages if one["role"] == "tool"}
    shown: list[Any] = []
    for message in page.messages:
        if message["role"] != "tool" and message.get("content"):
            shown.append((message["role"], message["content"]))
        for call in message.get("toolCalls", ()):
            made = call["function"]
            if made["name"] == "route":
                continue  # The graph keeps no message of it, so it has no result.
            shown.append((made["name"], json.loads(made["arguments"]), results.get(call["id"])))
    return shown


def shared(page: Page) -> dict[str, Any]:
    """The state without what the page itself sent."""
    hidden = ("messages", "tools", "ag-ui", "copilotkit")
    return {key: value for key, value in page.report["state"].items() if key not in hidden}


@pytest.mark.parametrize("name", GRAPHS)
async def test_the_page_ends_with_what_it_has_on_ag_ui_langgraph(
    name: str, browser: Browser, peer: str
) -> None:
    there = await play(browser, f"{peer}/{name}", name)
    async with ours() as address:
        here = await play(browser, f"{address}/agui/{name}", name)
    async with ours() as address:
        # As CopilotKit's pages come: with an older client, and at their own address.
        older = await play(browser, f"{address}/copilotkit/agent/{name}/run", name, "0.x")
    for page in (here, older):
        # The results of ag-ui-langgraph come out of order.
        assert sorted(map(str, said(page))) == sorted(map(str, said(there)))
        assert shared(page) == shared(there)
        assert page.report["written"] == []
