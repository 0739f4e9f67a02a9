"""LangGraph's threads: read, repair, rewind, copy and delete what a checkpointer keeps of a session.

With a checkpointer the thread has the history. Everything here uses the public methods of a graph and its
checkpointer, and leaves a thread without pending tasks: for the next prompt it is as after a normal end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from typing import Any, cast

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.graph import END, START
from langgraph.types import StateSnapshot, StateUpdate

from trunkline.agents.langchain.graph.remembered_questions import add_questions, waits_for
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
from trunkline.agents.langchain.messages.emitter import ResultMapper
from trunkline.agents.langchain.messages.history import (
    conversation_of,
    empty_answer,
    name_messages,
    read_messages,
    result_of,
    unanswered_calls,
    without_unfinished_calls,
)
from trunkline.agents.langchain.messages.refused_inputs import replace_attachments_in_last_turn
from trunkline.conversation import Call, Conversation
from trunkline.errors import InvalidCommand

_PAGE = 50

# LangGraph (Pregel.abulk_update_state): an update without values as node END applies the writes of finished
# tasks and clears the pending ones; "__copy__" copies a checkpoint without its pending writes.
_CLEAR = [StateUpdate(None, END)]
_COPY = [StateUpdate(None, "__copy__")]


def _config(thread_id: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread_id}}


def _messages(state: Any) -> list[Any]:
    values = state.values
    return read_messages(cast("dict[str, Any]", values).get("messages")) if isinstance(values, dict) else []


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
    state = await graph.aget_state(_config(thread_id))
    messages = name_messages(_messages(state))
    if not messages:
        return None
    conversation = conversation_of(messages, mapper, content_mapper)
    add_questions(conversation, graph, state, messages, own_tools)
    return conversation


async def waits(graph: Any, thread_id: str, durable_keys: Collection[str]) -> bool:
    """Whether a thread can be resumed with the answers to these questions."""
    state = await graph.aget_state(_config(thread_id))
    return waits_for(graph, state, _messages(state), durable_keys)


# -- repair -------------------------------------------------------------------------


async def repair(
    graph: Any,
    thread_id: str,
    shown: Callable[[], Awaitable[Conversation]] | None = None,
    mapper: ContentBlockMapper | None = None,
    *,
    refused: bool = False,
) -> None:
    """Answer the calls that a broken turn left open: providers refuse a history with open calls.

    ``shown`` gives what the session showed of the turn, and is called only if the thread is broken. The
    thread then has what the user has seen: the results of calls that ended, and an answer that was cut off,
    because the next prompt may be about it. With ``refused``, a text replaces each attachment of the last
    turn.
    """
    state = await graph.aget_state(_config(thread_id), subgraphs=True)
    if is_broken(graph, state):
        conversation = await shown() if shown is not None else Conversation()
        await _repair(graph, _config(thread_id), state, conversation, mapper or ContentBlockMapper())
    if not refused or not _replaces_by_id(graph):
        return
    if replaced := replace_attachments_in_last_turn(_messages(await graph.aget_state(_config(thread_id)))):
        await _add_messages(graph, _config(thread_id), replaced)


def is_broken(graph: Any, state: Any) -> bool:
    """Whether a provider would refuse the next prompt on a thread, or finished work would be lost."""
    return _was_cut(state) or bool(_fix_last_answer(_messages(state)) and _replaces_by_id(graph))


def _was_cut(state: Any) -> bool:
    # Tasks that are still listed may have run, and their results would be lost.
    return bool(state.next or state.tasks or unanswered_calls(_messages(state)))


def _fix_last_answer(messages: list[Any]) -> list[Any]:
    """The messages that replace or remove a last answer which its provider would refuse."""
    fixed = without_unfinished_calls(messages)
    empty = empty_answer([*messages, *fixed])
    return fixed if empty is None else [RemoveMessage(id=empty.id)]


def _replaces_by_id(graph: Any) -> bool:
    """Whether a message replaces the one with the same id, as add_messages does; some only append."""
    try:
        channel = graph.channels["messages"].copy()
        for text in ("one", "other"):
            channel.update([[HumanMessage(text, id="the-same")]])
        return [message.content for message in channel.get()] == ["other"]
    except Exception:
        return False  # The state keeps its messages in another way.


async def _repair(
    graph: Any, config: dict[str, Any], state: Any, shown: Conversation, mapper: ContentBlockMapper
) -> None:
    for task in state.tasks:
        if isinstance(task.state, StateSnapshot) and (config_inside := _own_thread(task.state)) is not None:
            # A subgraph with a checkpointer of its own has open calls there.
            await _repair(graph, config_inside, task.state, Conversation(calls=shown.calls), mapper)
    messages, added = _name_calls(_messages(state))
    calls = {call.native_id: call for call in shown.calls.values() if call.lane is None}
    added += [
        result_of(calls.get(made["id"]) or Call(call_id=made["id"], name=made["name"]), mapper)
        for made in unanswered_calls(messages)
    ]
    added += _fix_last_answer(messages) if _replaces_by_id(graph) else []
    partial = _cut_off_answer(shown) if _was_cut(state) else None
    if messages and partial is not None and all(message.id != partial.id for message in messages):
        added.append(partial)
    await _add_messages(graph, config, added, finished=any(task.result is not None for task in state.tasks))


def _name_calls(messages: list[Any]) -> tuple[list[Any], list[Any]]:
    """Give calls without an id one, so that they can be answered; also give the messages that changed."""
    named: dict[int, Any] = {}
    for index, message in enumerate(messages):
        calls: list[Any] = message.tool_calls if isinstance(message, AIMessage) else []
        if any(call["id"] is None for call in calls):
            made = [{**call, "id": call["id"] or f"{message.id}.{at}"} for at, call in enumerate(calls)]
            named[index] = message.model_copy(update={"tool_calls": made})
    return [named.get(index, message) for index, message in enumerate(messages)], list(named.values())


def _own_thread(state: StateSnapshot) -> dict[str, Any] | None:
    """The config of a subgraph that keeps its own thread; None when its state lives only for the run.

    LangGraph names the namespace of such a run ``node:task``, and that of a lasting one ``node``.
    """
    configurable = state.config.get("configurable") or {}
    namespace = str(configurable.get("checkpoint_ns") or "")
    if ":" in namespace.rpartition("|")[2]:
        return None
    return {"configurable": {"thread_id": configurable["thread_id"], "checkpoint_ns": namespace}}


def _cut_off_answer(shown: Conversation) -> AIMessage | None:
    """The last message, if that is an answer; its calls did not run and are left out."""
    own = [message for message in shown.messages if message.lane is None]
    if not own or own[-1].role != "agent" or not own[-1].text:
        return None
    return AIMessage(content=own[-1].text, id=own[-1].message_id)


async def _add_messages(
    graph: Any, config: dict[str, Any], messages: list[Any], *, finished: bool = False
) -> None:
    """Add messages to a thread without running anything; the writes of ``finished`` tasks come first."""
    steps = [_CLEAR] if finished else []
    if messages and START in graph.nodes:
        steps.append([StateUpdate({"messages": messages}, START)])
    await graph.abulk_update_state(config, [*steps, _CLEAR])


# -- rewind --------------------------------------------------------------------------------------


async def rewind(graph: Any, thread_id: str, to_message_id: str | None) -> None:
    """Go back to the checkpoint in which this message was the last one; None goes back to the beginning.

    The checkpoint is copied to the end of the thread, so that other processes see the rewind, too. The
    results of the message's calls stay with it.
    """
    config = _config(thread_id)
    async for snapshot in _snapshots(graph, config):
        if _last_message(_messages(snapshot)) == to_message_id:
            await graph.abulk_update_state(snapshot.config, [_COPY, _CLEAR])
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
    messages = _messages(await graph.aget_state(config))
    found = [index for index, message in enumerate(messages) if message.id == to_message_id]
    if not messages and to_message_id is None:
        return
    if to_message_id is not None and not found:
        raise InvalidCommand(f"the thread has no message {to_message_id!r}: go back to another one")
    after = found[0] + 1 if found else 0
    while after < len(messages) and after and messages[after].type == "tool":
        after += 1
    await _add_messages(graph, config, [RemoveMessage(id=message.id) for message in messages[after:]])
    await repair(graph, config["configurable"]["thread_id"])


# -- whole threads -----------------------------------------------------------------------------------


async def fork(graph: Any, thread_id: str, origin_id: str) -> None:
    """Copy a thread with all its checkpoints."""
    saver = graph.checkpointer
    try:
        await saver.acopy_thread(origin_id, thread_id)
    except NotImplementedError:
        # Every checkpointer has alist and aput. Read all first: some use one connection for both.
        for saved in [one async for one in saver.alist(_config(origin_id))]:
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
