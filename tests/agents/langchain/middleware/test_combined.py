"""Several middlewares as one: the same order, the same hooks, one place in the agent."""

from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware

from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import soon
from trunkline.agents.langchain import Mode, acp_middleware
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.agents.langchain.middleware._combined import CombinedMiddleware
from trunkline.agents.langchain.middleware._hooks import MODEL_HOOKS, TOOL_HOOKS
from trunkline.testing.chat import ScriptedChatModel, call

PROMPT: dict[str, Any] = {"messages": [{"role": "user", "content": "go"}]}


def look_up(word: str) -> str:
    """Look a word up."""
    return f"{word}: a star"


class Named(AgentMiddleware[Any, Any, Any]):
    """Notes when a call comes in and goes out."""

    def __init__(self, label: str, notes: list[str]) -> None:
        super().__init__()
        self._label = label
        self._notes = notes

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        self._notes.append(f"{self._label} asks")
        response = handler(request)
        self._notes.append(f"{self._label} hears")
        return response

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        self._notes.append(f"{self._label} asks")
        response = await handler(request)
        self._notes.append(f"{self._label} hears")
        return response

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        self._notes.append(f"{self._label} calls {request.tool_call['name']}")
        return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        self._notes.append(f"{self._label} calls {request.tool_call['name']}")
        return await handler(request)


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_the_first_piece_is_the_outermost_of_every_call(way: str) -> None:
    notes: list[str] = []
    pieces = [Named("first", notes), Named("second", notes)]
    model = ScriptedChatModel(call("look_up", {"word": "sun"}), "Done.")
    agent = create_agent(model, [look_up], middleware=[CombinedMiddleware(pieces)])
    told = agent.invoke(PROMPT) if way == "invoke" else await soon(agent.ainvoke(PROMPT))
    assert [message.text for message in told["messages"][2:]] == ["sun: a star", "Done."]
    asking = ["first asks", "second asks", "second hears", "first hears"]
    calling = ["first calls look_up", "second calls look_up"]
    assert notes == [*asking, *calling, *asking]


def test_a_hook_that_no_piece_has_is_no_hook_of_theirs_together() -> None:
    together = CombinedMiddleware([AgentMiddleware[Any, Any, Any]()])
    for name in (*MODEL_HOOKS, *TOOL_HOOKS):
        assert getattr(type(together), name) is getattr(AgentMiddleware, name), name


def test_a_session_finds_each_piece() -> None:
    line = acp_middleware(modes={"plain": Mode(), "quiet": Mode(allowed_tools=())})
    agent = LangChainAgent(create_agent(ScriptedChatModel("Hello."), [], middleware=line))
    assert set(line.pieces) <= set(agent.middleware)
    (option,) = agent.card.options
    assert [choice.value for choice in option.choices] == ["plain", "quiet"]
