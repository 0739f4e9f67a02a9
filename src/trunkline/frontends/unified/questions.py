"""Questions as permission requests, and their answers; both ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.errors import InvalidCommand
from trunkline.frontends.unified.tool_calls import CallView
from trunkline.questions import ALLOW_KINDS, ClientCall, Form, Link, Option, Permission

__all__ = ["answer_metadata", "question_metadata", "read_answer"]


def question_metadata(asked: ev.Asked, call: CallView | None) -> dict[str, Any]:
    """Give what a permission request says; forms, links and client tools have subtypes of their own."""
    question = asked.question
    about: dict[str, Any] = {"request_id": asked.question_id, "description": question.message}
    call_id: str | None = getattr(question, "call_id", None)
    if call_id is not None:
        about["tool_use_id"] = call_id
    if call is not None:
        title = question.message or call.title or call.name
        about |= {"tool_name": call.name, "input": call.input, "description": title}
        about["toolCall"] = call.described()
    elif call_id is not None:
        about["toolCall"] = {"toolCallId": call_id}
    if asked.expires_at is not None:
        about["expires_at"] = int(asked.expires_at * 1000)
    if asked.group is not None:
        about["group"] = asked.group
    if isinstance(question, Permission):
        options = [_option(option) for option in question.options]
        return about | {"subtype": "permission", "options": options, "allows_edit": question.allows_edit}
    if isinstance(question, Form):
        return about | {"subtype": "form", "requestedSchema": question.fields}
    if isinstance(question, Link):
        return about | {"subtype": "link", "url": question.url}
    tool = question.name or about.get("tool_name", "")
    return about | {"subtype": "client_call", "tool_name": tool, "input": question.input}


def _option(option: Option) -> dict[str, Any]:
    return {"optionId": option.option_id, "name": option.name, "kind": option.kind}


def answer_metadata(answered: ev.Answered, asked: ev.Asked | None) -> dict[str, Any]:
    """Give what everyone is told of an answer: what it was, and whose."""
    allowed = answered.outcome == "accepted" or (
        answered.outcome == "selected" and answered.option_kind in ALLOW_KINDS
    )
    about: dict[str, Any] = {
        "request_id": answered.question_id,
        "behavior": "allow" if allowed else "deny",
        "outcome": answered.outcome,
    }
    call_id = getattr(asked.question, "call_id", None) if asked is not None else None
    optional = {
        "tool_use_id": call_id,
        "optionId": answered.option_id,
        "option_kind": answered.option_kind,
        "updated_input": answered.input,
        "content": answered.content,
        "message": answered.reason,
        "by": answered.by,
    }
    return about | {name: value for name, value in optional.items() if value is not None}


# -- answers of clients ----------------------------------------------------------------------------


def read_answer(metadata: Mapping[str, Any], open_questions: Mapping[str, ev.Asked], key: str) -> Answer:
    """Read a permission response; ``behavior`` or ``optionId`` says what is chosen."""
    question_id, asked = _question(metadata, open_questions)
    behavior, option_id = metadata.get("behavior"), _text(metadata, "optionId", "option_id")
    if option_id is None and behavior not in ("allow", "deny"):
        raise InvalidCommand("a permission_response has behavior allow or deny, or an optionId")
    reason = _text(metadata, "message", "reason")
    answer = Answer(question_id=question_id, key=f"unified:{key}", reason=reason)
    replace = msgspec.structs.replace
    if asked is None:
        # It is gone: the session knows whether it was ever there, and who answered.
        return replace(answer, outcome="selected", option_id=option_id or str(behavior))
    edited = metadata.get("updated_input", metadata.get("updatedInput"))
    question = asked.question
    if isinstance(question, Permission):
        if option_id is None and behavior == "deny" and _refusal(question.options) is None:
            return replace(answer, outcome="declined")
        chosen = option_id or _chosen(question.options, behavior == "allow")
        edits = None if behavior == "deny" else edited
        return replace(answer, outcome="selected", option_id=chosen, input=edits)
    if behavior == "deny":
        return replace(answer, outcome="declined")
    content = metadata.get("content", edited)
    if isinstance(question, Form | ClientCall):
        return replace(answer, outcome="accepted", content=content)
    return replace(answer, outcome="accepted")


def _question(
    metadata: Mapping[str, Any], open_questions: Mapping[str, ev.Asked]
) -> tuple[str, ev.Asked | None]:
    """Find the question by its id, or by its call where no other question is about that."""
    given = _text(metadata, "request_id", "requestId", "question_id")
    call_id = given or _text(metadata, "tool_use_id", "toolCallId")
    if call_id is None:
        raise InvalidCommand("a permission_response names its request: send the request_id of the request")
    if call_id in open_questions:
        return call_id, open_questions[call_id]
    about = [key for key, asked in open_questions.items() if _is_about(asked, call_id)]
    if len(about) > 1:
        raise InvalidCommand(f"{len(about)} questions are about {call_id!r}: send the request_id of one")
    return (about[0], open_questions[about[0]]) if about else (call_id, None)


def _is_about(asked: ev.Asked, call_id: str) -> bool:
    return getattr(asked.question, "call_id", None) == call_id


def _chosen(options: Iterable[Option], allowed: bool) -> str:
    """Choose by kind, since ids are the agent's own. Nothing is allowed for good unless it is named."""
    if not allowed:
        refusal = _refusal(options)
        assert refusal is not None, "the caller has looked"
        return refusal.option_id
    once = next((option for option in options if option.kind == "allow_once"), None)
    if once is None:
        known = ", ".join(f"{option.option_id} ({option.kind})" for option in options) or "none"
        raise InvalidCommand(f"no option allows it once: send the optionId of one of these: {known}")
    return once.option_id


def _refusal(options: Iterable[Option]) -> Option | None:
    return next((option for option in options if option.kind == "reject_once"), None)


def _text(metadata: Mapping[str, Any], *names: str) -> str | None:
    found = (metadata.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value), None)
