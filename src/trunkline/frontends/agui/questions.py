"""Questions on AG-UI's wire: a question as an interrupt; a resume, or the result of a tool, as its answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

import msgspec

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.content import Content
from trunkline.errors import InvalidCommand
from trunkline.frontends.agui.thread_outline import ThreadOutline
from trunkline.intents import AnswerQuestions, Intent, TooLate
from trunkline.outline import CLIENT_MESSAGE_ID
from trunkline.protocols.agui import wire
from trunkline.questions import ALLOW_KINDS, REJECT_KINDS, ClientCall, Form, Link, Permission


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


# -- answering ---------------------------------------------------------------------------------------


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


def read_resume(
    entries: Sequence[wire.ResumeEntry],
    thread: ThreadOutline,
    questions: Mapping[str, ev.Asked],
    by: str | None,
    tool_results: Iterable[Answer],
) -> Intent:
    """Answer every open interrupt, and the calls of front-end tools whose results came with them.

    "A single resume array must address every open interrupt from the interrupted run. Partial resumes are not
    supported." (https://docs.ag-ui.com/concepts/interrupts#contract-rules)
    """
    given = {entry.interrupt_id: entry for entry in entries}
    unknown = sorted(set(given) - set(thread.asked) - questions.keys())
    if unknown and not thread.outline.is_empty:
        raise InvalidCommand(f"no run of this thread asked {', '.join(unknown)}")
    wanted = {key for key, asked in questions.items() if not isinstance(asked.question, ClientCall)}
    if not wanted & given.keys():
        return TooLate(question_ids=tuple(given))
    missing = sorted(wanted - given.keys())
    if missing:
        raise InvalidCommand(
            f"the resume leaves out {', '.join(missing)}: give an entry for every open interrupt at once"
        )
    answers = [answer_of(questions[key], given[key], by) for key in sorted(wanted)]
    return AnswerQuestions(answers=(*answers, *tool_results))


def read_tool_results(
    messages: Sequence[wire.Message], waiting: Mapping[str, ev.Asked], by: str | None
) -> dict[str, Answer]:
    """Read the results of the front end's own tools."""
    found: dict[str, Answer] = {}
    for message in messages:
        asked = waiting.get(message.tool_call_id or "") if message.role == "tool" else None
        if asked is None:
            continue
        failed = message.error is not None
        found[message.tool_call_id or ""] = Answer(
            question_id=asked.question_id,
            outcome="declined" if failed else "accepted",
            content=message.content,
            reason=message.error,
            by=by,
            key=f"result:{asked.question_id}",
            meta={CLIENT_MESSAGE_ID: message.id},
        )
    return found


def check_tool_results(
    messages: Sequence[wire.Message], thread: ThreadOutline, waiting: Collection[str]
) -> None:
    """Refuse results of calls that the agent never made; other results are compared by their ids only."""
    if thread.outline.is_empty:
        return
    for message in messages:
        call_id = message.tool_call_id or ""
        if message.role == "tool" and not (thread.has_id(call_id) or call_id in waiting):
            raise InvalidCommand(
                f"message {message.id!r} answers the call {call_id!r}, which the agent did not make"
            )
