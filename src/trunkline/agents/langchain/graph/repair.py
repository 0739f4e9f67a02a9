"""Repair of a thread that a cancelled or failed turn left open: providers refuse a history with open calls.

For the next prompt the thread is as after a normal end: without pending tasks, and every call has a result.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.graph import END, START
from langgraph.types import StateSnapshot, StateUpdate

from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
from trunkline.agents.langchain.messages.history import (
    empty_answer,
    read_messages,
    result_of,
    unanswered_calls,
    without_unfinished_calls,
)
from trunkline.agents.langchain.messages.refused_inputs import replace_attachments_in_last_turn
from trunkline.conversation import Call, Conversation

# LangGraph (Pregel.abulk_update_state): an update without values as node END applies the writes of finished
# tasks and clears the pending ones.
CLEAR = [StateUpdate(None, END)]


def config_of(thread_id: str) -> dict[str, Any]:
    """The config that names a thread."""
    return {"configurable": {"thread_id": thread_id}}


def thread_messages(state: Any) -> list[Any]:
    """The messages of a checkpoint; none where a state has no such field."""
    values = state.values
    return read_messages(cast("dict[str, Any]", values).get("messages")) if isinstance(values, dict) else []


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
    state = await graph.aget_state(config_of(thread_id), subgraphs=True)
    if is_broken(graph, state):
        conversation = await shown() if shown is not None else Conversation()
        await _repair(graph, config_of(thread_id), state, conversation, mapper or ContentBlockMapper())
    if not refused or not _replaces_by_id(graph):
        return
    if replaced := replace_attachments_in_last_turn(
        thread_messages(await graph.aget_state(config_of(thread_id)))
    ):
        await save_messages(graph, config_of(thread_id), replaced)


def is_broken(graph: Any, state: Any) -> bool:
    """Whether a provider would refuse the next prompt on a thread, or finished work would be lost."""
    return _was_cut(state) or bool(_fix_last_answer(thread_messages(state)) and _replaces_by_id(graph))


def _was_cut(state: Any) -> bool:
    # Tasks that are still listed may have run, and their results would be lost.
    return bool(state.next or state.tasks or unanswered_calls(thread_messages(state)))


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
    messages, added = _name_calls(thread_messages(state))
    calls = {call.native_id: call for call in shown.calls.values() if call.lane is None}
    added += [
        result_of(calls.get(made["id"]) or Call(call_id=made["id"], name=made["name"]), mapper)
        for made in unanswered_calls(messages)
    ]
    added += _fix_last_answer(messages) if _replaces_by_id(graph) else []
    partial = _cut_off_answer(shown) if _was_cut(state) else None
    if messages and partial is not None and all(message.id != partial.id for message in messages):
        added.append(partial)
    await save_messages(graph, config, added, finished=any(task.result is not None for task in state.tasks))


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


async def save_messages(
    graph: Any, config: dict[str, Any], messages: list[Any], *, finished: bool = False
) -> None:
    """Add messages to a thread without running anything; the writes of ``finished`` tasks come first."""
    steps = [CLEAR] if finished else []
    if messages and START in graph.nodes:
        steps.append([StateUpdate({"messages": messages}, START)])
    await graph.abulk_update_state(config, [*steps, CLEAR])
