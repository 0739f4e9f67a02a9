"""Questions on AG-UI's wire: a question as an interrupt, and a resume entry as its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, cast

import msgspec

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.content import Content
from trunkline.errors import InvalidCommand
from trunkline.outline import CLIENT_MESSAGE_ID
from trunkline.protocols.agui import wire
from trunkline.questions import ALLOW_KINDS, REJECT_KINDS, ClientCall, Form, Link, Permission

__all__ = ["CLIENT_MESSAGE_ID", "answer_of", "interrupt_of", "outcome_of"]


def outcome_of(
    open_questions: Sequence[ev.Asked],
    content_of: Callable[[ev.Asked], tuple[Content, ...]],
    *,
    modern: bool,
) -> dict[str, Any] | None:
    """The outcome of a run that ends because of questions.

    "RunFinished carries an optional outcome field": the interrupts, or success for a run that waits for
    results of front-end tools only. (https://docs.ag-ui.com/concepts/interrupts#run-outcomes)
    """
    pending = [q.question.call_id for q in open_questions if isinstance(q.question, ClientCall)]
    interrupts = [
        msgspec.to_builtins(interrupt_of(q, modern=modern, content=content_of(q)))
        for q in open_questions
        if not isinstance(q.question, ClientCall)
    ]
    if interrupts:
        return {"type": "interrupt", "interrupts": interrupts}
    if not pending:
        return {"type": "success"}
    # For older clients (assistant-ui) a success means that no result is awaited.
    return {"type": "success", "pendingToolCallIds": pending} if modern else None


def interrupt_of(
    asked: ev.Asked, *, modern: bool = True, content: tuple[Content, ...] = ()
) -> wire.Interrupt:
    """Give a question as the interrupt that a client answers.

    ``content`` is what its call shows besides the arguments, which the client has: a diff, a command.
    """
    question = asked.question
    reason, schema = "confirmation", None
    metadata: dict[str, Any] = {}
    if isinstance(question, Permission):
        reason = "tool_call"
        schema = _permission_schema(question)
        metadata["options"] = [
            {"optionId": option.option_id, "name": option.name, "kind": option.kind}
            | ({"wantsWords": True} if option.wants_words else {})
            for option in question.options
        ]
        if content:
            metadata["content"] = msgspec.to_builtins(content)
    elif isinstance(question, Form):
        reason = "input_required"
        schema = question.answer_schema or (None if question.single_answer else question.fields)
    elif isinstance(question, Link):
        metadata["url"] = question.url
    if asked.group is not None:
        metadata["group"] = asked.group
    return wire.Interrupt(
        id=asked.question_id,
        reason=reason,
        message=question.message or None,
        tool_call_id=getattr(question, "call_id", None),
        response_schema=schema,
        expires_at=_moment(asked.expires_at),
        metadata=_metadata(metadata, getattr(question, "value", None)),
        subagent_run_id=asked.lane if modern else None,
    )


def _metadata(ours: dict[str, Any], value: Any) -> dict[str, Any] | None:
    """What else a page may want to know; the value of an interrupt is where ag-ui-langgraph has it."""
    raw = {} if value is None else {"langgraph": {"raw": value}}
    return raw | ({"trunkline": ours} if ours else {}) or None


def _moment(at: float | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


def _permission_schema(question: Permission) -> dict[str, Any]:
    # editedArgs: "Full replacement of the tool args. Not merged." Its presence in the schema "is the
    # capability signal that the client may offer edit UI".
    # (https://docs.ag-ui.com/concepts/interrupts#approve-with-edits)
    properties: dict[str, Any] = {
        "approved": {"type": "boolean", "title": "Approve"},
        "reason": {"type": "string", "title": "Why"},
        "optionId": {"type": "string", "enum": [option.option_id for option in question.options]},
    }
    if question.allows_edit:
        properties["editedArgs"] = {"type": "object", "title": "Arguments to use instead"}
    return {"type": "object", "properties": properties, "required": ["approved"]}


def answer_of(asked: ev.Asked, entry: wire.ResumeEntry, by: str | None) -> Answer:
    """Read the answer to an interrupt; one that does not fit raises InvalidCommand."""
    question, payload = asked.question, entry.payload
    made: dict[str, Any] = {"question_id": asked.question_id, "by": by, "key": f"resume:{asked.question_id}"}
    if entry.status == "cancelled":
        return Answer(outcome="declined", reason="the user dismissed it", **made)
    if isinstance(question, Permission):
        return _permission(question, payload, made)
    if isinstance(question, Form):
        if question.single_answer:
            payload = {"answer": payload}
        elif not isinstance(payload, dict):
            raise InvalidCommand(f"interrupt {asked.question_id} wants its fields: give an object as payload")
    return Answer(outcome="accepted", content=payload, **made)


def _permission(question: Permission, payload: Any, made: dict[str, Any]) -> Answer:
    fields = cast("dict[str, Any]", payload) if isinstance(payload, dict) else {"approved": payload}
    chosen, approved, reason = fields.get("optionId"), fields.get("approved"), fields.get("reason")
    if not isinstance(reason, str | None):
        raise InvalidCommand(f"the reason is {reason!r}: give a text, or leave it out")
    if chosen is not None:
        option = next((one for one in question.options if one.option_id == chosen), None)
        if option is None:
            known = ", ".join(option.option_id for option in question.options)
            raise InvalidCommand(
                f"there is no option {chosen!r} in {made['question_id']}: give one of {known}"
            )
        if approved is not None and approved is not (option.kind in ALLOW_KINDS):
            raise InvalidCommand(
                f"optionId {chosen!r} and approved {approved!r} contradict each other: leave one out"
            )
    else:
        if not isinstance(approved, bool):
            raise InvalidCommand(
                f'interrupt {made["question_id"]} wants {{"approved": true or false}} as payload'
            )
        kinds = ALLOW_KINDS if approved else REJECT_KINDS
        wanted = [option for option in question.options if option.kind in kinds]
        wanted.sort(key=lambda option: not option.kind.endswith("_once"))
        if not wanted:
            return Answer(outcome="declined", reason=reason, **made)
        chosen = wanted[0].option_id
    edited = fields.get("editedArgs")
    if edited is not None and not question.allows_edit:
        raise InvalidCommand(f"the arguments of {question.call_id} cannot be edited: leave editedArgs out")
    return Answer(outcome="selected", option_id=chosen, input=edited, reason=reason, **made)
