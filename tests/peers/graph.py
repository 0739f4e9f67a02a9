"""A graph that asks a person three things, and whose memory is a file beside the cache folder."""

import os
import sqlite3
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt


def welcome(state: MessagesState) -> dict[str, Any]:
    """Ask for a name, and then for a town."""
    name = interrupt("What is your name?")
    town = interrupt({"question": "Where do you live?", "hint": "A town will do."})
    return {"messages": [AIMessage(f"{name} of {town}. ")]}


def serve(state: MessagesState) -> dict[str, Any]:
    """Ask for a drink."""
    drink = interrupt({"question": "Tea or coffee?", "options": ["tea", "coffee"]})
    return {"messages": [AIMessage(f"Here is your {drink}.")]}


builder: Any = StateGraph(MessagesState)
builder.add_node("welcome", welcome)
builder.add_node("serve", serve)
builder.add_edge(START, "welcome")
builder.add_edge("welcome", "serve")

memory = Path(os.environ["XDG_CACHE_HOME"]).with_name("graph.db")
agent = builder.compile(SqliteSaver(sqlite3.connect(memory, check_same_thread=False)), name="waiter")
