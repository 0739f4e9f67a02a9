"""Twenty clients of one agent at once: each sees its own run and nothing else, and no checkpoint a client."""

import asyncio
import concurrent.futures
import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from tests.agents.langchain.agui_client import ASK, AguiPage, Page, model
from tests.agents.langchain.graphs import weather
from tests.agents.langchain.recorded_updates import PROMPT, call_of, on_thread, session_ids, statuses, text
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import soon

from trunkline.agents.langchain import (
    PermissionMiddleware,
    SessionMiddleware,
    TrunklineContext,
    acp_agent,
    acp_middleware,
    agui_agent,
    agui_middleware,
)
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.testing.recording import RecordingTransport

CLIENTS = 20


class Crowd:
    """Agents whose runs are all inside their tool at the same time, in tasks and in threads."""

    def __init__(self) -> None:
        self.everyone = threading.Barrier(CLIENTS)
        meeting = self.everyone

        @tool
        def meet(secret: str) -> str:
            """Wait for the other runs."""
            meeting.wait(30)
            return f"met {secret}"

        self.tools = [meet]

    def model(self) -> ScriptedChatModel:
        def answer(messages: list[Any]) -> Any:
            asked = next(one for one in messages if one.type == "human").text
            if messages[-1].type == "human":
                return [f"I am {asked}. ", call("meet", {"secret": asked}, "same")]
            return [f"{asked} ", "is ", "done."]

        return ScriptedChatModel(*[answer] * 2 * CLIENTS)


def wrapped_agui(crowd: Crowd) -> Any:
    return agui_agent(crowd.model(), crowd.tools, checkpointer=InMemorySaver())


def wrapped_acp(crowd: Crowd) -> Any:
    return acp_agent(crowd.model(), crowd.tools, checkpointer=InMemorySaver())


def own_agui(crowd: Crowd) -> Any:
    return create_agent(
        crowd.model(), crowd.tools, middleware=agui_middleware(), context_schema=TrunklineContext
    )


def own_acp(crowd: Crowd) -> Any:
    return create_agent(
        crowd.model(), crowd.tools, middleware=acp_middleware(), context_schema=TrunklineContext
    )


@pytest.mark.parametrize("make", [wrapped_agui, wrapped_acp, own_agui, own_acp])
async def test_twenty_clients_at_once_see_each_their_own_run(make: Any) -> None:
    agent = make(Crowd())
    secrets = [f"secret-{number:02}" for number in range(CLIENTS)]
    clients: list[Any] = [
        Page(one) if make in (wrapped_agui, own_agui) else RecordingTransport() for one in secrets
    ]

    def start(secret: str, client: Any, plain: bool) -> Any:
        prompt = {"messages": [HumanMessage(secret)]}
        context = TrunklineContext(transport=client)
        config = on_thread(secret) if make in (wrapped_agui, wrapped_acp) else None
        if plain:
            return asyncio.to_thread(agent.invoke, prompt, config, context=context)
        return agent.ainvoke(prompt, config, context=context)

    pairs = list(zip(secrets, clients, strict=True))
    runs = [start(*pair, plain=number % 2 == 0) for number, pair in enumerate(pairs)]
    pool = concurrent.futures.ThreadPoolExecutor(4 * CLIENTS)
    asyncio.get_running_loop().set_default_executor(pool)
    results = await soon(asyncio.gather(*runs))
    for secret, client, result in zip(secrets, clients, results, strict=True):
        assert result["messages"][-1].text == f"{secret} is done."
        seen = str(client.events) if isinstance(client, Page) else str(client.emitted)
        assert [other for other in secrets if other in seen] == [secret]
        said = client.text if isinstance(client, Page) else text(client)
        assert said == f"I am {secret}. {secret} is done."
        if isinstance(client, Page):
            assert (client.breaches, client.outcome) == ([], "success")
            assert client.call("same")["result"] == f"met {secret}"
        else:
            assert statuses(client, "same") == ["pending", "in_progress", "completed"]
            assert call_of(client, "same")["rawOutput"] == f"met {secret}"
            assert len(session_ids(client)) == 1


# -- checkpoints -----------------------------------------------------------------------------------


class SecretPage(AguiPage):
    """A client with something in it that must not be stored."""

    password = "open-sesame"


class SecretEditor(RecordingTransport):
    """A client with something in it that must not be stored."""

    password = "open-sesame"


@pytest.mark.parametrize("kind", ["acp_agent", "agui_agent", "acp_middleware", "agui_middleware", "pieces"])
async def test_no_checkpoint_has_anything_of_a_client(kind: str, tmp_path: Path) -> None:
    client: Any = SecretEditor(permissions=["allow_once"]) if kind.startswith("acp") else SecretPage()
    context = TrunklineContext(transport=client)
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        options: Any = {"checkpointer": saver}
        if kind == "acp_agent":
            agent: Any = acp_agent(model(), [weather], policy=ASK, **options)
        elif kind == "agui_agent":
            agent = agui_agent(model(), [weather], policy=ASK, **options)
        else:
            made: Any = {"acp_middleware": acp_middleware, "agui_middleware": agui_middleware}.get(kind)
            pieces = [SessionMiddleware(), PermissionMiddleware(ASK)]
            middleware = pieces if made is None else made(policy=ASK)
            agent = create_agent(
                model(), [weather], middleware=middleware, context_schema=TrunklineContext, **options
            )
        await soon(agent.ainvoke(PROMPT, on_thread("s1"), context=context))
        stored = [saved async for saved in saver.alist(on_thread("s1"))]
    assert len(stored) > 2
    data = _bytes_in(tmp_path)
    assert b"Let me look." in data, "the thread is stored"
    for word in ("Secret", "open-sesame", "TrunklineContext", "_trunkline_", "OwnRun", "emitter", "Channel"):
        assert word.encode() not in data


def _bytes_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())
