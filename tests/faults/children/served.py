"""Agents for a server under test; each notes in the file that LIFE names what it does, and when.

The prompt says what ``agent`` does: ``talk`` and ``work`` take twelve seconds, in the model or in a tool;
anything else is answered with every prompt that the model was ever given.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from functools import cache
from typing import Any

import aiosqlite
from langchain.agents import AgentState
from langchain.agents.middleware import HumanInTheLoopMiddleware, after_model
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.runtime import Runtime

import trunkline
from tests.agents.langchain.untyped_langchain import create_agent
from trunkline.commands import Prompt
from trunkline.session.context import SessionView
from trunkline.testing import ScriptedChatModel
from trunkline.testing.chat import call

TICKS = 600
TICK = 0.02


def note(what: str) -> None:
    """Write a line that survives whatever becomes of this process."""
    file = os.open(os.environ["LIFE"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{time.time()} {what}\n".encode())
    os.close(file)


async def tick(who: str) -> None:
    """Take a moment, and note it; note also that there will be no other one."""
    note(who)
    try:
        await asyncio.sleep(TICK)
    except asyncio.CancelledError:
        note(f"{who} stopped")
        raise


async def pace() -> None:
    await tick("model")


async def work() -> str:
    """Work for a long time."""
    for _ in range(TICKS):
        await tick("tool")
    return "finished"


def recall(messages: list[BaseMessage]) -> AIMessageChunk:
    """Say every prompt; in one piece, which takes no time."""
    prompts = [str(message.text) for message in messages if message.type == "human"]
    return AIMessageChunk(content=" | ".join(prompts))


agent = create_agent(
    ScriptedChatModel(
        recall,
        by_prompt={
            "talk": ["".join(f"word{number} " for number in range(TICKS))],
            "work": [call("work"), "done"],
        },
        gate=pace,
    ),
    [work],
)


@trunkline.agent(name="fluent")
async def fluent(prompt: Prompt) -> AsyncIterator[str]:
    """Say as many tokens as the prompt asks for, as fast as they are taken."""
    for number in range(int(prompt.text)):
        yield f"{number} "
        await asyncio.sleep(0)
    note("said everything")


class Fluent(ScriptedChatModel):
    """The same as a model; it makes its tokens one by one."""

    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for number in range(int(messages[-1].text)):
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{number} "))


@after_model
def note_end(state: AgentState[Any], runtime: Runtime[Any]) -> None:
    note("said everything")


model = create_agent(Fluent(), [work], middleware=[note_end])


@trunkline.agent(name="reluctant")
async def reluctant(prompt: Prompt) -> AsyncIterator[str]:
    """Take a while to stop, if the prompt is to talk."""
    yield "Well. "
    try:
        while prompt.text == "talk":
            await asyncio.sleep(TICK)
    finally:
        note("stopping")
        await asyncio.sleep(0.5)


@trunkline.agent(name="flood")
async def flood(prompt: Prompt) -> AsyncIterator[str]:
    """Write until somebody stops it, unless the prompt is short of it."""
    while prompt.text == "much":
        yield "x" * 4096
        await asyncio.sleep(0.001)
    yield "little"


def sell() -> str:
    """Sell everything."""
    return "sold"


@cache
def asker_graph() -> Any:
    saver = AsyncSqliteSaver(aiosqlite.connect(os.environ["CHECKPOINTS"]))
    return create_agent(
        ScriptedChatModel(call("sell"), "Done.", each_turn=True),
        [sell],
        middleware=[HumanInTheLoopMiddleware({"sell": True})],
        checkpointer=saver,
    )


def asker(session: SessionView) -> Any:
    """Ask before anything is sold; made in the server's loop, which its checkpointer needs."""
    return asker_graph()
