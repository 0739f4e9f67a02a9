"""What a thread waits for, told by the thread alone: the turn that asked may have ended with its process."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from trunkline import events as ev
from trunkline.agents.langchain.graph.interrupts import OpenCalls, breakpoints, pending_questions
from trunkline.agents.langchain.messages.history import unanswered_calls
from trunkline.conversation import Call, CallPart, Conversation, Message, QuestionState
from trunkline.questions import ClientCall

__all__ = ["add_questions", "waits_for"]

_LIVE = ("client:", "permit:")
"""How the keys of questions begin that are asked while a step runs: a thread knows nothing of these."""


def waits_for(graph: Any, state: Any, messages: list[Any], durable_keys: Collection[str]) -> bool:
    """Whether a thread can go on with the answers to these questions."""
    place: dict[str, Any] = state.config.get("configurable") or {}
    if not place.get("checkpoint_id"):
        return False
    stops = {str(stop.id) for stop in _stops(graph, state, messages)}
    return all(key.startswith(_LIVE) or key.rpartition("#")[0] in stops for key in durable_keys)


def add_questions(
    told: Conversation, graph: Any, state: Any, messages: list[Any], own: Collection[str] | None
) -> None:
    """Add to a thread's conversation the questions that it waits for; their calls are open.

    A call of the last answer that is of none of the graph's ``own`` tools is its front end's to run, if these
    are all tools there are.
    """
    left = unanswered_calls(messages)
    calls = OpenCalls()
    calls.add(None, left)
    there = _Calls(told)
    asked = [
        ev.Asked(
            question_id=item.key,
            question=item.question,
            durable_key=item.key,
            group=item.interrupt_id,
            lane=item.lane,
        )
        for item in pending_questions(_stops(graph, state, messages), calls, there.find)
    ]
    if not asked and own is not None:
        for call in left:
            if call["name"] not in own:
                question = ClientCall(call_id=there.find(None, call), name=call["name"], input=call["args"])
                key = f"client:{call['id']}"
                asked.append(ev.Asked(question_id=key, question=question, durable_key=key))
    if asked:
        told.questions = {one.question_id: QuestionState(asked=one) for one in asked}
        for call in left:
            there.open(call)


def _stops(graph: Any, state: Any, messages: list[Any]) -> list[Any]:
    return list(state.interrupts) or breakpoints(graph, state, unanswered_calls(messages))


class _Calls:
    """The calls of a conversation by the ids that the model gave them; the newest of an id counts."""

    def __init__(self, told: Conversation) -> None:
        self._told = told
        self._ids = {call.native_id or call.call_id: call.call_id for call in told.calls.values()}

    def find(self, lane: str | None, call: Mapping[str, Any]) -> str:
        """The id of a call; one that only a subagent made is added to the last answer."""
        native_id = str(call["id"])
        if native_id not in self._ids:
            last = self._last_answer()
            last.parts.append(CallPart(part_id=f"{last.message_id}:{len(last.parts)}", call_id=native_id))
            self._ids[native_id] = native_id
            self._told.calls[native_id] = Call(
                call_id=native_id,
                name=str(call["name"]),
                input=call["args"],
                message_id=last.message_id,
                native_id=native_id,
            )
        return self._ids[native_id]

    def open(self, call: Mapping[str, Any]) -> None:
        """Let a call wait, which would be over otherwise."""
        waiting = self._told.calls[self.find(None, call)]
        waiting.status, waiting.reason = "pending", None

    def _last_answer(self) -> Message:
        messages = self._told.messages
        if not messages or messages[-1].role != "agent":
            before = messages[-1].message_id if messages else "message"
            messages.append(Message(message_id=f"{before}:asks", role="agent"))
        return messages[-1]
