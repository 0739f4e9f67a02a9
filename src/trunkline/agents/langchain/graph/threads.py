"""LangGraph's threads: read, rewind, copy and delete what a checkpointer keeps of a session.

With a checkpointer the thread has the history. Everything here uses the public methods of a graph and its
checkpointer, and leaves a thread without pending tasks: for the next prompt it is as after a normal end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from typing import Any

from langchain_core.messages import RemoveMessage
from langgraph.types import StateUpdate

from trunkline.agents.langchain.graph.remembered_questions import add_questions, waits_for
from trunkline.agents.langchain.graph.repair import CLEAR, config_of, repair, save_messages, thread_messages
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
from trunkline.agents.langchain.messages.emitter import ResultMapper
from trunkline.agents.langchain.messages.history import (
    conversation_of,
    name_messages,
)
from trunkline.conversation import Conversation
from trunkline.errors import InvalidCommand

_PAGE = 50

# LangGraph (Pregel.abulk_update_state): "__copy__" copies a checkpoint without its pending writes.
_COPY = [StateUpdate(None, "__copy__")]


def is_durable(agent: Any) -> bool:
    """Whether an agent remembers threads by itself."""
    return hasattr(agent, "aget_state") and bool(getattr(agent, "checkpointer", None))


async def history(
    graph: Any,
    thread_id: str,
    mapper: ContentBlockMapper | None = None,
    own_tools: Collection[str] | None = None,
    content_mapper: ResultMapper | None = None,
) -> Conversation | None:
    """The conversation of a thread with the questions that it waits for; None for an empty thread.

    With ``own_tools``, the names of the graph's tools, a call of another tool is the front end's to run.
    ``content_mapper`` gives what is shown of the result of a tool.
    """
    state = await graph.aget_state(config_of(thread_id))
    messages = name_messages(thread_messages(state))
    if not messages:
        return None
    conversation = conversation_of(messages, mapper, content_mapper)
    add_questions(conversation, graph, state, messages, own_tools)
    return conversation


async def waits(graph: Any, thread_id: str, durable_keys: Collection[str]) -> bool:
    """Whether a thread can be resumed with the answers to these questions."""
    state = await graph.aget_state(config_of(thread_id))
    return waits_for(graph, state, thread_messages(state), durable_keys)


# -- rewind --------------------------------------------------------------------------------------


async def rewind(graph: Any, thread_id: str, to_message_id: str | None) -> None:
    """Go back to the checkpoint in which this message was the last one; None goes back to the beginning.

    The checkpoint is copied to the end of the thread, so that other processes see the rewind, too. The
    results of the message's calls stay with it.
    """
    config = config_of(thread_id)
    async for snapshot in _snapshots(graph, config):
        if _last_message(thread_messages(snapshot)) == to_message_id:
            await graph.abulk_update_state(snapshot.config, [_COPY, CLEAR])
            await repair(graph, thread_id)
            return
    await _cut(graph, config, to_message_id)


async def _snapshots(graph: Any, config: dict[str, Any]) -> AsyncIterator[Any]:
    """The checkpoints of a thread, newest first; page by page, because a thread may be long."""
    before: Any = None
    while True:
        count = 0
        async for snapshot in graph.aget_state_history(config, before=before, limit=_PAGE):
            yield snapshot
            before, count = snapshot.config, count + 1
        if count < _PAGE:
            return


def _last_message(messages: list[Any]) -> str | None:
    """The id of the last message that is not the result of a call."""
    return next((message.id for message in reversed(messages) if message.type != "tool"), None)


async def _cut(graph: Any, config: dict[str, Any], to_message_id: str | None) -> None:
    """Remove messages from a thread whose older checkpoints are gone."""
    messages = thread_messages(await graph.aget_state(config))
    found = [index for index, message in enumerate(messages) if message.id == to_message_id]
    if not messages and to_message_id is None:
        return
    if to_message_id is not None and not found:
        raise InvalidCommand(f"the thread has no message {to_message_id!r}: go back to another one")
    after = found[0] + 1 if found else 0
    while after < len(messages) and after and messages[after].type == "tool":
        after += 1
    await save_messages(graph, config, [RemoveMessage(id=message.id) for message in messages[after:]])
    await repair(graph, config["configurable"]["thread_id"])


# -- whole threads -----------------------------------------------------------------------------------


async def fork(graph: Any, thread_id: str, origin_id: str) -> None:
    """Copy a thread with all its checkpoints."""
    saver = graph.checkpointer
    try:
        await saver.acopy_thread(origin_id, thread_id)
    except NotImplementedError:
        # Every checkpointer has alist and aput. Read all first: some use one connection for both.
        for saved in [one async for one in saver.alist(config_of(origin_id))]:
            await _put(saver, saved, thread_id)


async def _put(saver: Any, saved: Any, thread_id: str) -> None:
    target = {"thread_id": thread_id, "checkpoint_ns": saved.config["configurable"].get("checkpoint_ns", "")}
    if saved.parent_config is not None:
        target["checkpoint_id"] = saved.parent_config["configurable"]["checkpoint_id"]
    versions = saved.checkpoint["channel_versions"]
    config = await saver.aput({"configurable": target}, saved.checkpoint, saved.metadata, versions)
    tasks: dict[str, list[tuple[str, Any]]] = {}
    for task_id, channel, value in saved.pending_writes or ():
        tasks.setdefault(task_id, []).append((channel, value))
    for number, (task_id, writes) in enumerate(tasks.items()):
        # Checkpointers read writes back in the order of their task paths.
        await saver.aput_writes(config, writes, task_id, f"{number:09}")


async def delete(graph: Any, thread_id: str) -> None:
    """Delete a thread."""
    await graph.checkpointer.adelete_thread(thread_id)
