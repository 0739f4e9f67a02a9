"""The questions that a thread waits for, read from the thread alone: the asking process may have ended."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from trunkline import events as ev
from trunkline.agents.langchain.graph.interrupts import OpenCalls, breakpoints, pending_questions
from trunkline.agents.langchain.messages.history import unanswered_calls
from trunkline.conversation import Call, CallPart, Conversation, Message, QuestionState
from trunkline.questions import ClientCall

_LIVE = ("client:", "permit:")
"""Prefixes of the keys of questions that are asked while a step runs; a thread does not have these."""


def waits_for(graph: Any, state: Any, messages: list[Any], durable_keys: Collection[str]) -> bool:
    """Whether a thread can be resumed with the answers to these questions."""
    configurable: dict[str, Any] = state.config.get("configurable") or {}
    if not configurable.get("checkpoint_id"):
        return False
    stops = {str(stop.id) for stop in _stops(graph, state, messages)}
    return all(key.startswith(_LIVE) or key.rpartition("#")[0] in stops for key in durable_keys)


def add_questions(
    conversation: Conversation, graph: Any, state: Any, messages: list[Any], own: Collection[str] | None
) -> None:
    """Add to a thread's conversation the questions that it waits for; their calls are open.

    An open call of the last answer that is for none of the graph's ``own`` tools is the front end's to run;
    without ``own`` the tools of the graph are not known.
    """
    open_calls = unanswered_calls(messages)
    calls = OpenCalls()
    calls.add(None, open_calls)
    shown = _Calls(conversation)
    asked = [
        ev.Asked(
            question_id=item.key,
            question=item.question,
            durable_key=item.key,
            group=item.interrupt_id,
            lane=item.lane,
        )
        for item in pending_questions(_stops(graph, state, messages), calls, shown.find)
    ]
    if not asked and own is not None:
        for call in open_calls:
            if call["name"] not in own:
                question = ClientCall(call_id=shown.find(None, call), name=call["name"], input=call["args"])
                key = f"client:{call['id']}"
                asked.append(ev.Asked(question_id=key, question=question, durable_key=key))
    if asked:
        conversation.questions = {one.question_id: QuestionState(asked=one) for one in asked}
        for call in open_calls:
            shown.open(call)


def _stops(graph: Any, state: Any, messages: list[Any]) -> list[Any]:
    return list(state.interrupts) or breakpoints(graph, state, unanswered_calls(messages))


class _Calls:
    """The calls of a conversation by the ids that the model gave; the newest call of an id counts."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._ids = {call.native_id or call.call_id: call.call_id for call in conversation.calls.values()}

    def find(self, lane: str | None, call: Mapping[str, Any]) -> str:
        """The id of a call; one that only a subagent made is added to the last answer."""
        native_id = str(call["id"])
        if native_id not in self._ids:
            last = self._last_answer()
            last.parts.append(CallPart(part_id=f"{last.message_id}:{len(last.parts)}", call_id=native_id))
            self._ids[native_id] = native_id
            self._conversation.calls[native_id] = Call(
                call_id=native_id,
                name=str(call["name"]),
                input=call["args"],
                message_id=last.message_id,
                native_id=native_id,
            )
        return self._ids[native_id]

    def open(self, call: Mapping[str, Any]) -> None:
        """Mark a call as waiting for an answer."""
        waiting = self._conversation.calls[self.find(None, call)]
        waiting.status, waiting.reason = "pending", None

    def _last_answer(self) -> Message:
        messages = self._conversation.messages
        if not messages or messages[-1].role != "agent":
            before = messages[-1].message_id if messages else "message"
            messages.append(Message(message_id=f"{before}:asks", role="agent"))
        return messages[-1]
