"""Interrupts: what a graph stops for becomes questions, and their answers become its resume.

Three shapes are known: LangChain's human-in-the-loop middleware, batched (many actions in one
interrupt, answered by position) and per call (one action each), and the free-form ``interrupt()`` of
LangGraph, which is a form made from its response schema, or one text field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from trunkline import events as ev
from trunkline.questions import ALLOW_KINDS, Form, Option, Permission, Question

__all__ = ["Pending", "pending_questions", "resume_value"]

_DECISIONS = ("approve", "edit", "reject", "respond")


class Pending:
    """One question of one interrupt; ``key`` finds it again after a restart."""

    def __init__(self, interrupt: Any, number: int, question: Question, action: dict[str, Any] | None) -> None:
        """The ``number``-th question of an interrupt."""
        self.interrupt_id = str(interrupt.id)
        self.number = number
        self.question = question
        self.action = action

    @property
    def key(self) -> str:
        """The durable key of the question."""
        return f"{self.interrupt_id}#{self.number}"


def pending_questions(interrupts: Iterable[Any], calls: Iterable[dict[str, Any]]) -> list[Pending]:
    """Make the questions of these interrupts; ``calls`` are the tool calls that wait for an answer."""
    waiting = [dict(call) for call in calls]
    found: list[Pending] = []
    for interrupt in interrupts:
        value: Any = interrupt.value
        told = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        if "action_requests" in told:
            configs = {c["action_name"]: c for c in told.get("review_configs", ())}
            for number, action in enumerate(told["action_requests"]):
                allowed = configs.get(action["name"], {}).get("allowed_decisions", ("approve", "reject"))
                call_id = _take(waiting, action)
                found.append(_permission(interrupt, number, action, call_id, allowed))
        elif told.get("type") == "tool_approval":
            allowed = told.get("allowed_decisions") or _allowed_in(interrupt) or ("approve", "reject")
            found.append(_permission(interrupt, 0, told, str(told.get("tool_call_id")), allowed))
        else:
            found.append(Pending(interrupt, 0, _form(interrupt, value), None))
    return found


def _take(waiting: list[dict[str, Any]], action: dict[str, Any]) -> str:
    """Find the call an action means: the interrupt itself does not name it."""
    for exact in (True, False):
        for call in waiting:
            if call["name"] == action["name"] and (not exact or call["args"] == action.get("args")):
                waiting.remove(call)
                return str(call["id"])
    return f"action:{action['name']}"


def _permission(
    interrupt: Any, number: int, action: dict[str, Any], call_id: str, allowed: Iterable[str]
) -> Pending:
    decisions = [word for word in allowed if word in _DECISIONS]
    options = [Option(option_id="approve", name="Approve", kind="allow_once")] if "approve" in decisions else []
    if "reject" in decisions:
        options.append(Option(option_id="reject", name="Reject", kind="reject_once"))
    if "respond" in decisions:
        options.append(Option(option_id="respond", name="Answer instead", kind="reject_once"))
    if not options:
        options.append(Option(option_id="approve", name="Approve", kind="allow_once"))
    message = str(action.get("description") or f"Run {action['name']}?")
    question = Permission(
        message=message, call_id=call_id, options=tuple(options), allows_edit="edit" in decisions
    )
    return Pending(interrupt, number, question, action)


def _allowed_in(interrupt: Any) -> list[str]:
    """Read the allowed decisions from the response schema of a per-call interrupt."""
    text = str(getattr(interrupt, "response_schema", None) or "")
    return [word for word in _DECISIONS if f"'{word}'" in text]


def _form(interrupt: Any, value: Any) -> Form:
    schema: Any = getattr(interrupt, "response_schema", None)
    message = value if isinstance(value, str) else _message_in(value)
    if isinstance(schema, dict) and cast("dict[str, Any]", schema).get("properties"):
        return Form(message=message, fields=cast("dict[str, Any]", schema))
    return Form(
        message=message,
        fields={
            "type": "object",
            "properties": {"answer": {"type": "string", "title": "Answer"}},
            "required": ["answer"],
        },
    )


def _message_in(value: Any) -> str:
    if isinstance(value, dict):
        told = cast("dict[str, Any]", value)
        for key in ("question", "message", "prompt", "description", "title"):
            if isinstance(told.get(key), str):
                return told[key]
    return str(value)


def resume_value(pending: list[Pending], answers: Mapping[str, ev.Answered]) -> dict[str, Any]:
    """Give LangGraph's resume map: one value per interrupt id."""
    by_interrupt: dict[str, list[Pending]] = {}
    for item in pending:
        by_interrupt.setdefault(item.interrupt_id, []).append(item)
    values: dict[str, Any] = {}
    for interrupt_id, items in by_interrupt.items():
        if isinstance(items[0].question, Form):
            values[interrupt_id] = _form_value(items[0], answers.get(items[0].key))
            continue
        decisions = [_decision(item, answers.get(item.key)) for item in items]
        batched = "tool_call_id" not in (items[0].action or {})
        values[interrupt_id] = {"decisions": decisions} if batched else decisions[0]
    return values


def _form_value(item: Pending, answered: ev.Answered | None) -> Any:
    if answered is None or answered.outcome != "accepted":
        return None
    content: Any = answered.content
    asked = cast("Form", item.question).fields.get("properties", {})
    return content.get("answer") if list(asked) == ["answer"] else content


def _decision(item: Pending, answered: ev.Answered | None) -> dict[str, Any]:
    action = item.action or {}
    if answered is not None and answered.option_kind in ALLOW_KINDS:
        if answered.input is not None:
            return {"type": "edit", "edited_action": {"name": action["name"], "args": answered.input}}
        return {"type": "approve"}
    reason = (answered.reason if answered is not None else None) or "The user refused this call."
    if answered is not None and answered.option_id == "respond":
        return {"type": "respond", "message": reason}
    return {"type": "reject", "message": reason}


