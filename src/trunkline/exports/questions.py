"""What was asked in a conversation and what came of it, as lines."""

from __future__ import annotations

import json
from collections.abc import Iterator

from trunkline.conversation import Conversation, QuestionState
from trunkline.questions import ClientCall, Link, Permission
from trunkline.safe_text import one_line

_KINDS = {
    "allow_once": "allowed once",
    "allow_always": "always allowed",
    "reject_once": "rejected",
    "reject_always": "always rejected",
}
_OUTCOMES = {
    "selected": "answered",
    "accepted": "answered",
    "cancelled": "withdrawn",
    "expired": "not answered in time",
}


class AskedQuestions:
    """The questions of a conversation, found by the call or the turn that they are about."""

    def __init__(self, conversation: Conversation) -> None:
        self._of_call: dict[str, list[QuestionState]] = {}
        self._of_turn: dict[str | None, list[QuestionState]] = {}
        for state in conversation.questions.values():
            call_id = _call_of(state)
            if call_id is not None and call_id in conversation.calls:
                self._of_call.setdefault(call_id, []).append(state)
            else:
                self._of_turn.setdefault(state.asked.turn_id, []).append(state)

    def of_call(self, call_id: str) -> list[str]:
        """Describe what was asked about a call."""
        return [_describe(state) for state in self._of_call.get(call_id, ())]

    def of_turn(self, turn_id: str | None) -> list[str]:
        """Describe what was asked in a turn about no call that is shown."""
        return [_describe(state) for state in self._of_turn.get(turn_id, ())]


def _call_of(state: QuestionState) -> str | None:
    return state.asked.question.call_id


def _describe(state: QuestionState) -> str:
    question = state.asked.question
    address = f" {question.url}" if isinstance(question, Link) else ""
    name = question.name if isinstance(question, ClientCall) else ""
    asked = one_line(f"{question.message or name or type(question).__name__.lower()}{address}", 1000)
    return f"? {asked} " + one_line(" ".join(_outcome(state)), 2000)


def _outcome(state: QuestionState) -> Iterator[str]:
    question, answered = state.asked.question, state.answered
    if answered is None:
        yield "(not answered yet)"
        return
    options = question.options if isinstance(question, Permission) else ()
    name = next((one.name for one in options if one.option_id == answered.option_id), None)
    word = _KINDS.get(answered.option_kind or "") or name or _OUTCOMES.get(answered.outcome)
    yield f"({word or answered.outcome})"
    if answered.reason:
        yield answered.reason
    given = answered.content if answered.input is None else answered.input
    if given is not None:
        yield given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
