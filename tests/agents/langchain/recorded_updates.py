"""What a recording transport got, in few words."""

import asyncio
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler

from tests.hubs import soon
from trunkline.testing.recording import RecordingTransport

PROMPT: Any = {"messages": [("user", "go")]}


def on_thread(thread_id: str, *callbacks: BaseCallbackHandler) -> Any:
    """A config for one thread."""
    return {"configurable": {"thread_id": thread_id}, "callbacks": list(callbacks)}


async def call_graph(graph: Any, given: Any, config: Any = None, *, plain: bool, **about: Any) -> Any:
    """Run a graph by ``invoke`` in a thread, or by ``ainvoke``."""
    if plain:
        return await soon(asyncio.to_thread(graph.invoke, given, config, **about))
    return await soon(graph.ainvoke(given, config, **about))


def kinds(transport: RecordingTransport) -> list[str]:
    """The kinds of updates, in order, each run of one kind once."""
    found: list[str] = []
    for update in transport.updates:
        if not found or found[-1] != update["sessionUpdate"]:
            found.append(update["sessionUpdate"])
    return found


def pieces(transport: RecordingTransport, kind: str = "agent_message_chunk") -> list[str]:
    """The pieces of what was said, or thought, in order."""
    return [one["content"]["text"] for one in transport.updates if one["sessionUpdate"] == kind]


def text(transport: RecordingTransport, kind: str = "agent_message_chunk") -> str:
    """All that was said, or thought."""
    return "".join(pieces(transport, kind))


def statuses(transport: RecordingTransport, call_id: str) -> list[str]:
    """The statuses of a call in the order they were told."""
    calls = [one for one in transport.updates if one.get("toolCallId") == call_id]
    return [one["status"] for one in calls if "status" in one]


def call_of(transport: RecordingTransport, call_id: str) -> dict[str, Any]:
    """A call as a client knows it in the end."""
    known: dict[str, Any] = {}
    for update in transport.updates:
        if update.get("toolCallId") == call_id:
            known |= update
    return known


def states(transport: RecordingTransport) -> list[Any]:
    """The states and patches that were told."""
    output = [sent.params for sent in transport.emitted if sent.method == "_trunkline/state"]
    return [one.get("state", one.get("patch")) for one in output]


def session_ids(transport: RecordingTransport) -> set[str | None]:
    """The sessions that anything was told of."""
    return {sent.params.get("sessionId") for sent in [*transport.emitted, *transport.requested]}
