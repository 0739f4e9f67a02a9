"""An AG-UI client folds the same, however a LangChain agent is brought to it.

A: ``agui_agent``. B: ``agui_middleware`` in one's own ``create_agent`` and ``ainvoke``, with the callbacks
and without. C: the agent in a session of ours.
"""

import asyncio
import contextlib
import json
from itertools import groupby
from typing import Any

from hypothesis import Phase, example, given, settings
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from tests.agents.langchain import oracle
from tests.agents.langchain.agui_client import Page
from tests.agents.langchain.model_scripts import conversations
from tests.agents.langchain.recorded_updates import on_thread
from tests.agents.langchain.untyped_langchain import create_agent
from tests.frontends.agui.client_runs import client_of, comparable, run
from tests.hubs import soon

from trunkline import adapt
from trunkline.agents.langchain import agui_agent, agui_middleware
from trunkline.conformance.agui.reference_client import ReferenceClient

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)  # To shrink a script takes minutes.


def fold(client: ReferenceClient) -> Any:
    """What a client holds, lane by lane; results of calls side by side have no order, and lanes neither."""
    lanes: dict[str | None, list[Any]] = {}
    for one in comparable(client.messages):
        lane, content = lanes.setdefault(one.get("subagentRunId"), []), one.get("content")
        if one["role"] == "tool":
            lane.append((one["toolCallId"], content))
        elif one["role"] != "user":
            lane.append(
                (one["role"], content, [(call["id"], call["function"]) for call in one.get("toolCalls", ())])
            )
    ordered: dict[str | None, list[Any]] = {}
    for name, messages in lanes.items():
        groups = [(size, list(group)) for size, group in groupby(messages, key=len)]
        ordered[name] = [sorted(group, key=str) if size == 2 else group for size, group in groups]
    return ordered, client.state, client.terminal.get("type"), client.terminal.get("outcome")


def answer_all(client: ReferenceClient) -> Any:
    """Answer every interrupt; of the permissions only those of calls with an even number get a yes."""
    answers: list[Any] = []
    for one in client.interrupts:
        payload: Any = "yes"
        if (call_id := one.get("toolCallId")) is not None:
            payload = {"approved": call_id[-1] in "02468"}
        answers.append({"interruptId": one["id"], "status": "resolved", "payload": payload})
    return answers


async def play_a(prompts: list[str]) -> ReferenceClient:
    page = Page()
    review = HumanInTheLoopMiddleware({"guarded": True}, interrupt_mode="per_call")
    options: Any = {"middleware": [review], "checkpointer": InMemorySaver()}
    agent = agui_agent(oracle.Player(), oracle.TOOLS, transport=page, **options)
    for prompt in prompts:
        with contextlib.suppress(RuntimeError):  # A model fails that was told to.
            await soon(agent.ainvoke(page.request(prompt)))
            while page.interrupts:
                await soon(agent.ainvoke(page.request(resume=answer_all(page))))
    assert page.breaches == []
    return page


async def play_b(prompts: list[str], *, callbacks: bool) -> ReferenceClient:
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


async def play_c(prompts: list[str]) -> ReferenceClient:
    agent = oracle.make("per_call", checkpointer=InMemorySaver())
    async with client_of(adapt(agent)) as (endpoint, client):
        for prompt in prompts:
            await run(endpoint, client, prompt)
            while client.interrupts:
                await run(endpoint, client, resume=answer_all(client))
        return client


@settings(max_examples=20, phases=QUICK)
@given(conversations(nested=False, asking=False))
def test_a_client_folds_the_same_in_every_approach(prompts: list[str]) -> None:
    async def play() -> None:
        expected = fold(await play_c(prompts))
        assert fold(await play_a(prompts)) == expected
        assert fold(await play_b(prompts, callbacks=True)) == expected
        assert fold(await play_b(prompts, callbacks=False)) == expected

    asyncio.run(play())


ASKS: Any = {"name": "ask", "id": "c", "index": 0, "args": '{"text": "x"}'}
FAILS_AFTER_ANSWER = [
    {"chunks": [{"content": "", "tool_call_chunks": [ASKS]}]},
    {"chunks": [{"content": ".", "id": "m"}], "raises": "overloaded"},
]


@settings(max_examples=20, phases=QUICK)
@given(conversations(nested=False))
@example([json.dumps(FAILS_AFTER_ANSWER)])
def test_a_client_folds_the_same_when_it_is_asked(prompts: list[str]) -> None:
    async def play() -> None:
        assert fold(await play_a(prompts)) == fold(await play_c(prompts))

    asyncio.run(play())
