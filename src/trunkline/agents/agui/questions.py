"""A server's interrupts as our questions, and our answers as its resume."""

from __future__ import annotations

from typing import Any, cast

from trunkline import events as ev
from trunkline.questions import ALLOW_KINDS, Form, Link, Option, Permission, Question

__all__ = ["question_of", "resume_of"]

Json = dict[str, Any]

_YES = Option(option_id="approve", name="Approve", kind="allow_once")
_NO = Option(option_id="reject", name="Reject", kind="reject_once")


def question_of(interrupt: Json) -> Question:
    """Give an interrupt as the question it asks."""
    message = str(interrupt.get("message") or interrupt.get("reason") or "The agent asks.")
    schema = cast("Json", interrupt.get("responseSchema") or {})
    about = cast("Json", cast("Json", interrupt.get("metadata") or {}).get("trunkline") or {})
    properties = cast("Json", schema.get("properties") or {})
    call_id: Any = interrupt.get("toolCallId")
    if call_id and ("approved" in properties or not properties):
        options = tuple(
            Option(option_id=item["optionId"], name=item["name"], kind=item["kind"])
            for item in cast("list[Json]", about.get("options") or [])
        )
        return Permission(
            message=message,
            call_id=str(call_id),
            options=options or (_YES, _NO),
            allows_edit="editedArgs" in properties,
        )
    if about.get("url"):
        return Link(message=message, url=str(about["url"]), call_id=call_id)
    if not properties:
        properties = {"answer": {"type": "string", "title": "Answer"}}
        schema = {"type": "object", "properties": properties}
    return Form(message=message, fields=schema, call_id=call_id)


def resume_of(interrupt: Json, question: Question, answered: ev.Answered) -> Json:
    """Give an answer as the entry that resumes a run."""
    entry: Json = {"interruptId": interrupt["id"], "status": "resolved"}
    if isinstance(question, Permission):
        if answered.outcome != "selected":
            return {**entry, "status": "cancelled"}
        payload: Json = {"approved": answered.option_kind in ALLOW_KINDS}
        if question.options and question.options[0] is not _YES:
            payload["optionId"] = answered.option_id
        if answered.input is not None:
            payload["editedArgs"] = answered.input
        if answered.reason:
            payload["reason"] = answered.reason
        return {**entry, "payload": payload}
    if answered.outcome != "accepted":
        return {**entry, "status": "cancelled"}
    if isinstance(question, Form) and "responseSchema" not in interrupt:
        content: Any = answered.content
        return {**entry, "payload": cast("Json", content or {}).get("answer")}
    return {**entry, "payload": answered.content}
