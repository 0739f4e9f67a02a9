"""The graphs of AG-UI's dojo, each with a model that plays its script at the pace of a person's eye."""

import asyncio
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

from tests.agents.langchain.dojo_graphs import GRAPHS, SCRIPTS
from trunkline.testing.chat import Answer, ScriptedChatModel, call


def _prompt(messages: list[BaseMessage]) -> str:
    return f"I was told: {messages[0].text}"


def _last(messages: list[BaseMessage]) -> str:
    return f"I got: {messages[-1].text}"


_ANSWERS: dict[str, tuple[Answer, ...]] = {
    "agentic_chat": (_prompt, call("change_background", {"background": "blue"}), _last),
    "human_in_the_loop": (SCRIPTS["human_in_the_loop"][0], _last),
    "shared_state": (*SCRIPTS["shared_state"], _prompt),
}


async def _pause() -> None:
    await asyncio.sleep(0.02)


def _agent(name: str) -> Any:
    answers = _ANSWERS.get(name, SCRIPTS[name])
    return GRAPHS[name](ScriptedChatModel(*answers, chunk_size=12, gate=_pause), InMemorySaver())


agentic_chat = _agent("agentic_chat")
backend_tool_rendering = _agent("backend_tool_rendering")
human_in_the_loop = _agent("human_in_the_loop")
agentic_generative_ui = _agent("agentic_generative_ui")
tool_based_generative_ui = _agent("tool_based_generative_ui")
shared_state = _agent("shared_state")
predictive_state_updates = _agent("predictive_state_updates")
subgraphs = _agent("subgraphs")
