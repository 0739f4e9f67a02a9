"""Small agents and folds that the LangChain tests share."""

from __future__ import annotations

from typing import Any

from langchain_core.tools import tool

from tests.agents.langchain.untyped_langchain import create_agent
from trunkline import adapt
from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.conversation import Conversation
from trunkline.folding import fold
from trunkline.testing.chat import ScriptedChatModel


@tool
def weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"It is sunny in {city}."


@tool
def broken(why: str = "no fuel") -> str:
    """Fail, always."""
    raise ValueError(why)


def agent_of(
    *answers: Any, tools: Any = (weather,), **options: Any
) -> tuple[LangChainAgent, ScriptedChatModel]:
    """An agent made by create_agent, and its model."""
    script = {
        key: options.pop(key) for key in ("by_prompt", "each_turn", "streaming", "usage") if key in options
    }
    model = ScriptedChatModel(*answers, **script)
    made = adapt(create_agent(model, list(tools), **options))
    assert isinstance(made, LangChainAgent)
    return made, model


def folded(events: list[Any]) -> Conversation:
    """What a client that kept up would show."""
    return fold(events)


def calls_of(events: list[Any]) -> dict[str, Any]:
    """The calls of a turn by id, as they stand at its end."""
    return dict(fold(events).calls)


def terminal(events: list[Any]) -> ev.TurnFinished | ev.TurnFailed:
    """The one event that ended the turn."""
    ended = [event for event in events if isinstance(event, ev.TurnFinished | ev.TurnFailed)]
    assert len(ended) == 1, ended
    return ended[0]
