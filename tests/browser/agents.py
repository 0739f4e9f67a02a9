"""A LangChain agent as anybody writes it, with a model that plays a script."""

from typing import Any

import langchain.agents
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import BaseMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from trunkline.testing.chat import ScriptedChatModel, call


@tool
def weather(city: str) -> str:
    """Look up the weather of a city."""
    return f"22 degrees in {city}"


@tool
def send_letter(to: str) -> str:
    """Send a letter."""
    return f"sent to {to}"


def report(messages: list[BaseMessage]) -> str:
    """Say what came of the last call, so that a page shows what the model was told."""
    return f"The result was: {messages[-1].text}"


def count(messages: list[BaseMessage]) -> str:
    return f"I know {len(messages)} messages: {', '.join(message.type for message in messages)}."


model = ScriptedChatModel(
    "I know the weather and send letters.",
    by_prompt={
        "weather": [["Let me look. ", call("weather", {"city": "Paris"})], report],
        "letter": [call("send_letter", {"to": "Ada"}), report],
        "colour": [call("pick_colour", {"choices": ["red", "green", "blue"]}), report],
        "how much": [count],
    },
)
# LangChain's own generics are unknown to a strict checker.
make: Any = langchain.agents
asking = HumanInTheLoopMiddleware[Any, Any](interrupt_on={"send_letter": True})
agent = make.create_agent(model, [weather, send_letter], middleware=[asking], checkpointer=InMemorySaver())
