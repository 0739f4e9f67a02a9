"""Questions on the AI SDK's wire: approvals and data parts, and the answers in the requests of a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.content import Content
from trunkline.errors import InvalidCommand
from trunkline.frontends.aisdk.chat_request import ChatRequest, as_object
from trunkline.frontends.aisdk.content_parts import block_part
from trunkline.frontends.aisdk.imported_history import tool_name
from trunkline.frontends.aisdk.tool_calls import CallView
from trunkline.intents import AnswerQuestions, TooLate
from trunkline.protocols.aisdk.wire import Chunk, JsonObject, UIMessage
from trunkline.questions import ALLOW_KINDS, REJECT_KINDS, ClientCall, Form, Link, Permission

__all__ = [
    "approval_about",
    "client_answer",
    "is_answered",
    "is_approved",
    "permission_answer",
    "permission_part",
    "question_part",
    "read_answers",
    "reply_to",
]


def approval_about(asked: ev.Asked, content: tuple[Content, ...]) -> JsonObject:
    """What a page may show beside the call it asks approval for: the words, and the options by kind."""
    question = asked.question
    assert isinstance(question, Permission)
    about: JsonObject = {"approvalDescriptor": _descriptor(asked, question, content)}
    return {**about, "reason": question.message} if question.message else about


def permission_part(asked: ev.Asked, call: CallView | None, answered: ev.Answered | None) -> Chunk:
    """Give a permission as a data part, where a call cannot carry it; with what is decided on."""
    question = asked.question
    assert isinstance(question, Permission)
    data: JsonObject = {
        "questionId": asked.question_id,
        "toolCallId": question.call_id,
        **_descriptor(asked, question, () if call is None else call.content),
        **_state(answered),
    }
    if call is not None:
        data["input"] = call.whole_input()
    if answered is not None:
        data["approved"] = is_approved(question, answered)
        if answered.option_id is not None:
            data["optionId"] = answered.option_id
    return {"type": "data-permission", "id": asked.question_id, "data": data}


def question_part(asked: ev.Asked, answered: ev.Answered | None) -> Chunk:
    """Give a form or a link as a data part; what the person filled in is not repeated."""
    question = asked.question
    data: JsonObject = {"questionId": asked.question_id, "kind": "form", "message": question.message}
    if isinstance(question, Form):
        data["schema"] = question.answer_schema or question.fields
        data["fields"] = question.fields
        if question.single_answer:
            data["singleAnswer"] = True
        if question.value is not None:
            data["value"] = question.value
    elif isinstance(question, Link):
        data |= {"kind": "link", "url": question.url}
    if (call_id := getattr(question, "call_id", None)) is not None:
        data["toolCallId"] = call_id
    data |= {**_common(asked), **_state(answered)}
    return {"type": "data-question", "id": asked.question_id, "data": data}


def is_approved(question: Permission, answered: ev.Answered) -> bool:
    """Whether an answer lets a call run."""
    if answered.outcome == "accepted":
        return True
    if answered.outcome != "selected":
        return False
    kinds = {option.option_id: str(option.kind) for option in question.options}
    return (answered.option_kind or kinds.get(answered.option_id or "", "")) in ALLOW_KINDS


def _descriptor(asked: ev.Asked, question: Permission, content: tuple[Content, ...]) -> JsonObject:
    about: JsonObject = {
        "message": question.message,
        "options": [
            {"optionId": option.option_id, "name": option.name, "kind": option.kind}
            | ({"wantsWords": True} if option.wants_words else {})
            for option in question.options
        ],
    }
    if question.allows_edit:
        about["allowsEdit"] = True
    if content:
        about["content"] = [block_part(block) for block in content]
    return {**about, **_common(asked)}


def _common(asked: ev.Asked) -> JsonObject:
    about: JsonObject = {}
    if asked.group is not None:
        about["group"] = asked.group
    if asked.expires_at is not None:
        about["expiresAt"] = int(asked.expires_at * 1000)
    if asked.lane is not None:
        about["subagent"] = asked.lane
    return about


def _state(answered: ev.Answered | None) -> JsonObject:
    if answered is None:
        return {"state": "open"}
    found: JsonObject = {"state": "answered", "outcome": answered.outcome}
    return {**found, "reason": answered.reason} if answered.reason else found


# -- one answer ------------------------------------------------------------------------------------


def reply_to(asked: ev.Asked, given: Mapping[str, Any], by: str | None) -> Answer:
    """Read the answer to a question as a page gives it; one that does not fit raises InvalidCommand.

    A permission takes ``approved`` or ``optionId``, with ``reason`` and ``input``. A form takes ``content``,
    a link nothing; either takes ``declined``.
    """
    question = asked.question
    if isinstance(question, Permission):
        return permission_answer(asked, given, by)
    reason = _text(given, "reason")
    made: dict[str, Any] = {"question_id": asked.question_id, "by": by, "key": f"aisdk:{asked.question_id}"}
    if given.get("declined") is True:
        return Answer(outcome="declined", reason=reason or "the user dismissed it", **made)
    content = given.get("content")
    if isinstance(question, Form):
        if question.single_answer:
            content = {"answer": content}
        elif not isinstance(content, dict):
            raise InvalidCommand(
                f"the question {asked.question_id} wants its fields: give an object as content, or "
                '{"declined": true}'
            )
    return Answer(outcome="accepted", content=content, reason=reason, **made)


def permission_answer(asked: ev.Asked, given: Mapping[str, Any], by: str | None) -> Answer:
    """Read the answer to a permission: yes or no, or one of its options."""
    question = asked.question
    assert isinstance(question, Permission)
    made: dict[str, Any] = {"question_id": asked.question_id, "by": by, "key": f"aisdk:{asked.question_id}"}
    approved, reason = given.get("approved"), _text(given, "reason")
    option = _chosen(asked, question, _text(given, "optionId"), approved)
    if option is None:
        if not isinstance(approved, bool):
            raise InvalidCommand(
                f'the question {asked.question_id} wants {{"approved": true or false}}, or an optionId'
            )
        kinds = ALLOW_KINDS if approved else REJECT_KINDS
        wanted = [one for one in question.options if one.kind in kinds]
        wanted.sort(key=lambda one: not one.kind.endswith("_once"))
        if not wanted and approved and question.options:
            raise InvalidCommand(f"the question {asked.question_id} has no option that allows the call")
        if not wanted:
            return Answer(outcome="accepted" if approved else "declined", reason=reason, **made)
        option = wanted[0].option_id
    edited = given.get("input")
    if edited is not None and not question.allows_edit:
        raise InvalidCommand(f"the arguments of {question.call_id} cannot be edited: leave input out")
    return Answer(outcome="selected", option_id=option, input=edited, reason=reason, **made)


def _chosen(asked: ev.Asked, question: Permission, chosen: str | None, approved: Any) -> str | None:
    """Check an option that was chosen by its id."""
    if chosen is None:
        return None
    option = next((one for one in question.options if one.option_id == chosen), None)
    if option is None:
        known = ", ".join(one.option_id for one in question.options)
        raise InvalidCommand(f"there is no option {chosen!r} in {asked.question_id}: give one of {known}")
    if isinstance(approved, bool) and approved is not (option.kind in ALLOW_KINDS):
        raise InvalidCommand(
            f"optionId {chosen!r} and approved {approved!r} contradict each other: leave one out"
        )
    return option.option_id


def _text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidCommand(f"{name} is {value!r}: give a text, or leave it out")
    return value


# -- answers in a request --------------------------------------------------------------------------


def read_answers(
    request: ChatRequest, last: UIMessage | None, questions: Mapping[str, ev.Asked], by: str | None
) -> AnswerQuestions | TooLate:
    """Read the answers that a page sends with the assistant's message they belong to, or beside it."""
    metadata: Any = None if last is None else last.metadata
    beside = cast("JsonObject", metadata).get("answers") if isinstance(metadata, dict) else None
    given = {**as_object(beside, "metadata.answers"), **request.answers}
    waiting = {
        asked.question.call_id: asked
        for asked in questions.values()
        if isinstance(asked.question, ClientCall)
    }
    answers: dict[str, Answer] = {}
    late: list[str] = []
    for part in () if last is None else last.parts:
        approval = _approval(part)
        if approval is not None:
            question_id, replied = approval
            asked = questions.get(question_id)
            if asked is None:
                late.append(question_id)
            elif isinstance(asked.question, Permission):
                more = as_object(given.get(question_id), f"answers.{question_id}")
                answers[question_id] = reply_to(asked, _with_option(asked.question, {**replied, **more}), by)
        asked = waiting.get(str(part.get("toolCallId"))) if tool_name(part) is not None else None
        if asked is not None and (result := _result(asked, part, by)) is not None:
            answers[asked.question_id] = result
    for question_id, reply in given.items():
        asked = questions.get(question_id)
        if asked is None:
            late.append(question_id)
        elif question_id not in answers:
            fields = as_object(reply, f"answers.{question_id}")
            answers[question_id] = (
                client_answer(asked, fields, by)
                if isinstance(asked.question, ClientCall)
                else reply_to(asked, fields, by)
            )
    if answers:
        return AnswerQuestions(answers=tuple(answers.values()))
    if questions and not late:
        open_ids = ", ".join(sorted(questions))
        raise InvalidCommand(
            f"the chat waits for an answer to {open_ids}: respond to its approvals, add the outputs of its "
            "tools, or send `answers` with an entry for each"
        )
    if not late and not any(is_answered(part) for part in (() if last is None else last.parts)):
        raise InvalidCommand("there is nothing to answer: the last message must be the user's")
    return TooLate(question_ids=tuple(dict.fromkeys(late)))


def _approval(part: JsonObject) -> tuple[str, JsonObject] | None:
    """Read how a page answered an approval; None for a part without one, or with one that is settled."""
    if part.get("state") != "approval-responded" or tool_name(part) is None:
        return None
    approval = as_object(part.get("approval"), "approval")
    question_id, approved = approval.get("id"), approval.get("approved")
    if not isinstance(question_id, str) or not isinstance(approved, bool):
        raise InvalidCommand("an approval must have an id, and approved must be true or false")
    reply: JsonObject = {"approved": approved}
    if approval.get("reason") is not None:
        reply["reason"] = approval["reason"]
    return question_id, reply


def _with_option(question: Permission, reply: JsonObject) -> JsonObject:
    """Take a reason that is the id of an option for the choice of it: a page can send no more than that."""
    chosen = next((one for one in question.options if one.option_id == reply.get("reason")), None)
    if chosen is None or "optionId" in reply:
        return reply
    return {
        **{name: value for name, value in reply.items() if name != "reason"},
        "optionId": chosen.option_id,
    }


def _result(asked: ev.Asked, part: JsonObject, by: str | None) -> Answer | None:
    """Read the output of one of the page's own tools."""
    if part.get("state") == "output-available" and not part.get("preliminary"):
        return client_answer(asked, {"output": part.get("output")}, by)
    if part.get("state") == "output-error":
        return client_answer(asked, {"errorText": str(part.get("errorText") or "it failed")}, by)
    return None


def client_answer(asked: ev.Asked, given: JsonObject, by: str | None) -> Answer:
    """Read what one of the page's own tools gave: its ``output``, or ``errorText``."""
    made: dict[str, Any] = {"question_id": asked.question_id, "by": by, "key": f"aisdk:{asked.question_id}"}
    if "errorText" in given:
        return Answer(outcome="declined", reason=str(given["errorText"]), **made)
    if "output" not in given:
        raise InvalidCommand(f"the question {asked.question_id} wants the output of the tool, or errorText")
    return Answer(outcome="accepted", content=given["output"], **made)


def is_answered(part: JsonObject) -> bool:
    """Whether a part is a call with its output or its error."""
    return tool_name(part) is not None and part.get("state") in ("output-available", "output-error")
