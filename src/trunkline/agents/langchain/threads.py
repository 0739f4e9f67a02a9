"""Threads: what a checkpointer remembers of a session, and how it is mended."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import ToolMessage

from trunkline.agents.langchain.history import unanswered_calls

__all__ = ["repair"]

_CANCELLED = "This call was cancelled before it was answered."


async def repair(graph: Any, thread_id: str) -> None:
    """Answer the calls that a broken turn left open, or the next model call is refused."""
    config = {"configurable": {"thread_id": thread_id}}
    state = await graph.aget_state(config)
    open_calls = unanswered_calls(state.values.get("messages", []))
    if not open_calls:
        return
    answers = [
        ToolMessage(content=_CANCELLED, tool_call_id=call["id"], name=call["name"], status="error")
        for call in open_calls
    ]
    node = "tools" if "tools" in graph.nodes else None
    await graph.aupdate_state(config, {"messages": answers}, as_node=node)
