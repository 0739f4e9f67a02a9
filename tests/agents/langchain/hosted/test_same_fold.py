"""An AG-UI client folds the same, however a LangChain agent is brought to it.

A: ``agui_agent``. B: ``agui_middleware`` in one's own ``create_agent`` and ``ainvoke``, with the callbacks
and without. C: the agent in a session of ours.
"""

from __future__ import annotations

import asyncio
import contextlib
from itertools import groupby
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from tests.agents.langchain import oracle
from tests.agents.langchain.agui_client import Page
from tests.agents.langchain.model_scripts import conversations
from tests.agents.langchain.recorded_updates import on_thread
from tests.agents.langchain.untyped_langchain import create_agent
from tests.frontends.agui.client_runs import client_of, run
from tests.frontends.agui.reference_client import Client
from tests.hubs import soon

from trunkline import adapt
from trunkline.agents.langchain import agui_agent, agui_middleware


def fold(client: Client) -> Any:
    """What a client holds, with ids in the order of their coming; side by side, results have no order."""
    numbers: dict[str, int] = {}

    def number(given: str | None) -> int:
        return -1 if given is None else numbers.setdefault(given, len(numbers))

    messages: list[Any] = []
    for one in client.messages:
        calls = [(number(call["id"]), call["function"]) for call in one.get("toolCalls", ())]
        lane, content = number(one.get("subagentRunId")), one.get("content")
        if one["role"] == "tool":
            messages.append((number(one["toolCallId"]), lane, content))
        elif one["role"] != "user":
            messages.append((one["role"], number(one["id"]), lane, content, calls))
    groups = [list(group) for _, group in groupby(messages, key=len)]
    ordered = [sorted(group) if len(group[0]) == 3 else group for group in groups]
    return ordered, client.state, client.terminal.get("type"), client.terminal.get("outcome")


async def play_a(prompts: list[str]) -> Client:
    page = Page()
    agent = agui_agent(oracle.Player(), oracle.TOOLS, transport=page, checkpointer=InMemorySaver())
    for prompt in prompts:
        with contextlib.suppress(RuntimeError):  # A model fails that was told to.
            await soon(agent.ainvoke(page.request(prompt)))
    assert page.breaches == []
    return page


async def play_b(prompts: list[str], *, callbacks: bool) -> Client:
    page = Page()
    own = agui_middleware(page)
    agent = create_agent(oracle.Player(), oracle.TOOLS, middleware=own, checkpointer=InMemorySaver())
    for prompt in prompts:
        page.say(prompt)
        with contextlib.suppress(RuntimeError):  # A model fails that was told to.
            config = on_thread("t1", *(own.callbacks if callbacks else ()))
            await soon(agent.ainvoke({"messages": [HumanMessage(prompt)]}, config))
    assert page.breaches == []
    return page


async def play_c(prompts: list[str]) -> Client:
    agent = create_agent(oracle.Player(), oracle.TOOLS, checkpointer=InMemorySaver())
    async with client_of(adapt(agent)) as (endpoint, client):
        for prompt in prompts:
            await run(endpoint, client, prompt)
        return client


@settings(max_examples=25)
@given(st.booleans().flatmap(lambda nested: conversations(nested=nested, asking=False)))
def test_a_client_folds_the_same_in_every_approach(prompts: list[str]) -> None:
    async def play() -> None:
        expected = fold(await play_c(prompts))
        assert fold(await play_a(prompts)) == expected
        assert fold(await play_b(prompts, callbacks=True)) == expected
        assert fold(await play_b(prompts, callbacks=False)) == expected

    asyncio.run(play())
