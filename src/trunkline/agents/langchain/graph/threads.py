"""Threads: what a checkpointer remembers of a session, and how it is mended, taken back and copied.

With a checkpointer the thread is the truth. Everything here goes through the public ways of a graph
and its saver, and leaves a thread on which nothing waits to run: the next prompt finds it as it would
find one that ended well.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from typing import Any, cast

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.graph import END, START
from langgraph.types import StateSnapshot, StateUpdate

from trunkline.agents.langchain.graph.remembered_questions import add_questions, waits_for
from trunkline.agents.langchain.messages.history import (
    conversation_of,
    empty_answer,
    name_messages,
    read_messages,
    result_of,
    unanswered_calls,
    without_unfinished_calls,
)
from trunkline.agents.langchain.messages.mapper import ContentBlockMapper
from trunkline.agents.langchain.messages.refused_inputs import replace_attachments_in_last_turn
from trunkline.conversation import Call, Conversation
from trunkline.errors import InvalidCommand

__all__ = ["delete", "fork", "history", "is_broken", "repair", "rewind", "waits"]

_PAGE = 50

# As LangGraph's own tools do it: no values and the end as their author clear what waits to run, after
# taking the results of tasks that had finished; a copy leaves those results behind.
_CLEAR = [StateUpdate(None, END)]
_COPY = [StateUpdate(None, "__copy__")]


def _config(thread_id: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread_id}}


def _messages(state: Any) -> list[Any]:
    values = state.values
    return read_messages(cast("dict[str, Any]", values).get("messages")) if isinstance(values, dict) else []


async def history(
    graph: Any,
    thread_id: str,
    mapper: ContentBlockMapper | None = None,
    own_tools: Collection[str] | None = None,
) -> Conversation | None:
    """The conversation of a thread as its messages tell it, and what it waits for; None when there is none.

    With ``own_tools``, the graph's, a call of another one is its front end's to run.
    """
    state = await graph.aget_state(_config(thread_id))
    messages = name_messages(_messages(state))
    if not messages:
        return None
    told = conversation_of(messages, mapper)
    add_questions(told, graph, state, messages, own_tools)
    return told


async def waits(graph: Any, thread_id: str, durable_keys: Collection[str]) -> bool:
    """Whether a thread can go on with the answers to these questions."""
    state = await graph.aget_state(_config(thread_id))
    return waits_for(graph, state, _messages(state), durable_keys)


# -- after a turn that broke -------------------------------------------------------------------------


async def repair(
    graph: Any,
    thread_id: str,
    told: Callable[[], Awaitable[Conversation]] | None = None,
    mapper: ContentBlockMapper | None = None,
    *,
    refused: bool = False,
) -> None:
    """Answer the calls that a broken turn left open, or the next model call is refused.

    ``told`` gives what the session showed of it, and is asked only if the thread is broken. The thread
    then agrees with what the person has seen: a call that had come to its end before the others has its
    result, and an answer that was cut off is kept, because the next prompt may well be about it. What a
    model ``refused`` is told in words.
    """
    state = await graph.aget_state(_config(thread_id), subgraphs=True)
    if is_broken(graph, state):
        shown = await told() if told is not None else Conversation()
        await _mend(graph, _config(thread_id), state, shown, mapper or ContentBlockMapper())
    if not refused or not _replaces(graph):
        return
    if in_words := replace_attachments_in_last_turn(_messages(await graph.aget_state(_config(thread_id)))):
        await _say(graph, _config(thread_id), in_words)


def is_broken(graph: Any, state: Any) -> bool:
    """Whether the next prompt on a thread would be refused by a provider, or would forget something."""
    return _was_cut(state) or bool(_unfit(_messages(state)) and _replaces(graph))


def _was_cut(state: Any) -> bool:
    # Tasks that are left over have run, and what they gave would be forgotten.
    return bool(state.next or state.tasks or unanswered_calls(_messages(state)))


def _unfit(messages: list[Any]) -> list[Any]:
    """Give what has to be done to a last answer that its provider would not take back."""
    mended = without_unfinished_calls(messages)
    unsaid = empty_answer([*messages, *mended])
    return mended if unsaid is None else [RemoveMessage(id=unsaid.id)]


def _replaces(graph: Any) -> bool:
    """Whether a message that comes again takes the place of the one it was; some states only add."""
    try:
        channel = graph.channels["messages"].copy()
        for words in ("one", "other"):
            channel.update([[HumanMessage(words, id="the-same")]])
        return [message.content for message in channel.get()] == ["other"]
    except Exception:
        return False  # It keeps its messages in a way of its own.


async def _mend(
    graph: Any, config: dict[str, Any], state: Any, shown: Conversation, mapper: ContentBlockMapper
) -> None:
    for task in state.tasks:
        if isinstance(task.state, StateSnapshot) and (place := _own_place(task.state)) is not None:
            # A graph inside this one that keeps a memory of its own finds its open calls there again.
            await _mend(graph, place, task.state, Conversation(calls=shown.calls), mapper)
    messages, added = _name_calls(_messages(state))
    calls = {call.native_id: call for call in shown.calls.values() if call.lane is None}
    added += [
        result_of(calls.get(made["id"]) or Call(call_id=made["id"], name=made["name"]), mapper)
        for made in unanswered_calls(messages)
    ]
    added += _unfit(messages) if _replaces(graph) else []
    partial = _cut_off(shown) if _was_cut(state) else None
    if messages and partial is not None and all(message.id != partial.id for message in messages):
        added.append(partial)
    await _say(graph, config, added, finished=any(task.result is not None for task in state.tasks))


def _name_calls(messages: list[Any]) -> tuple[list[Any], list[Any]]:
    """Name the calls that a model left without an id, or nobody could answer them; and give what changed."""
    named: dict[int, Any] = {}
    for place, message in enumerate(messages):
        calls: list[Any] = message.tool_calls if isinstance(message, AIMessage) else []
        if any(call["id"] is None for call in calls):
            made = [{**call, "id": call["id"] or f"{message.id}.{at}"} for at, call in enumerate(calls)]
            named[place] = message.model_copy(update={"tool_calls": made})
    return [named.get(place, message) for place, message in enumerate(messages)], list(named.values())


def _own_place(state: StateSnapshot) -> dict[str, Any] | None:
    """Where a graph inside another keeps its memory; None when that is only for the run."""
    at = state.config.get("configurable") or {}
    space = str(at.get("checkpoint_ns") or "")
    if ":" in space.rpartition("|")[2]:
        return None
    return {"configurable": {"thread_id": at["thread_id"], "checkpoint_ns": space}}


def _cut_off(shown: Conversation) -> AIMessage | None:
    """The last thing said, if that is an answer; its calls were not made and are left out."""
    own = [message for message in shown.messages if message.lane is None]
    if not own or own[-1].role != "agent" or not own[-1].text:
        return None
    return AIMessage(content=own[-1].text, id=own[-1].message_id)


async def _say(graph: Any, config: dict[str, Any], messages: list[Any], *, finished: bool = False) -> None:
    """Add messages to a thread so that nothing runs because of them; ``finished`` tasks come first."""
    steps = [_CLEAR] if finished else []
    if messages and START in graph.nodes:
        steps.append([StateUpdate({"messages": messages}, START)])
    await graph.abulk_update_state(config, [*steps, _CLEAR])


# -- going back --------------------------------------------------------------------------------------


async def rewind(graph: Any, thread_id: str, to_message_id: str | None) -> None:
    """Go back to where this message was the last one, for good; None goes back to the beginning.

    The place is copied to the end of the thread, so what came after it is out of the way also for
    another process. Results of the message's calls belong to it.
    """
    config = _config(thread_id)
    async for snapshot in _snapshots(graph, config):
        if _last_said(_messages(snapshot)) == to_message_id:
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


def _last_said(messages: list[Any]) -> str | None:
    """The id of the last message that is not the result of a call."""
    return next((message.id for message in reversed(messages) if message.type != "tool"), None)


async def _cut(graph: Any, config: dict[str, Any], to_message_id: str | None) -> None:
    """Take messages out of a thread whose older checkpoints are gone."""
    messages = _messages(await graph.aget_state(config))
    places = [place for place, message in enumerate(messages) if message.id == to_message_id]
    if not messages and to_message_id is None:
        return
    if to_message_id is not None and not places:
        raise InvalidCommand(f"the thread has no message {to_message_id!r}: go back to another one")
    after = places[0] + 1 if places else 0
    while after < len(messages) and after and messages[after].type == "tool":
        after += 1
    await _say(graph, config, [RemoveMessage(id=message.id) for message in messages[after:]])
    await repair(graph, config["configurable"]["thread_id"])


# -- whole threads -----------------------------------------------------------------------------------


async def fork(graph: Any, thread_id: str, origin_id: str) -> None:
    """Copy a thread with everything it can go back to."""
    saver = graph.checkpointer
    try:
        await saver.acopy_thread(origin_id, thread_id)
    except NotImplementedError:
        # Every saver can list and put. All of it is read first: some read and write on one connection.
        for saved in [one async for one in saver.alist(_config(origin_id))]:
            await _put(saver, saved, thread_id)


async def _put(saver: Any, saved: Any, thread_id: str) -> None:
    place = {"thread_id": thread_id, "checkpoint_ns": saved.config["configurable"].get("checkpoint_ns", "")}
    if saved.parent_config is not None:
        place["checkpoint_id"] = saved.parent_config["configurable"]["checkpoint_id"]
    versions = saved.checkpoint["channel_versions"]
    config = await saver.aput({"configurable": place}, saved.checkpoint, saved.metadata, versions)
    tasks: dict[str, list[tuple[str, Any]]] = {}
    for task_id, channel, value in saved.pending_writes or ():
        tasks.setdefault(task_id, []).append((channel, value))
    for number, (task_id, writes) in enumerate(tasks.items()):
        # They are read back in the order of their paths: that of the original.
        await saver.aput_writes(config, writes, task_id, f"{number:09}")


async def delete(graph: Any, thread_id: str) -> None:
    """Forget a thread."""
    await graph.checkpointer.adelete_thread(thread_id)
