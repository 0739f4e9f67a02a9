"""The interrupts of a server as questions, and answers as the request with which it goes on.

A question has a key, which is all that a later process knows of it besides the question itself: the id of
its interrupt, ``client:CALL`` for a tool of the front end, ``review:INDEX:ID`` for one of several reviews in
an interrupt, and ``command:`` before those that LangGraph takes back by its own command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypedDict, cast

import msgspec

from trunkline import events as ev
from trunkline.agents.agui.langgraph import decision_of, is_langgraph, raw_value, read_arguments, reviews_of
from trunkline.agents.agui.run_end import RunEnd
from trunkline.questions import ALLOW_KINDS, ClientCall, Form, Link, Option, OptionKind, Permission, Question

Json = dict[str, Any]

_YES = Option(option_id="approve", name="Approve", kind="allow_once")
_NO = Option(option_id="reject", name="Reject", kind="reject_once")
_ANYTHING: Json = {"type": "object", "properties": {"answer": {"type": "string", "title": "Answer"}}}
_KEY = re.compile(r"(command:)?(?:review:(\d+):)?(.*)", re.DOTALL)
_CLIENT = "client:"


class OpenQuestion(NamedTuple):
    """A question that a server waits for."""

    key: str
    question: Question
    lane: str | None = None


class AnsweredQuestion(NamedTuple):
    """A question with its answer."""

    key: str
    question: Question
    answered: ev.Answered


# -- asking ----------------------------------------------------------------------------------------


def open_questions(ending: RunEnd, calls: Mapping[str, Json], tools: Iterable[str]) -> list[OpenQuestion]:
    """Give everything that a run stopped for; nothing for one that is over."""
    questions: list[OpenQuestion] = []
    for interrupt in ending.interrupts:
        several = len(ending.interrupts) > 1 and is_langgraph(interrupt)
        prefix = "command:" if ending.as_custom or several else ""
        key, lane = f"{interrupt.get('id') or ''}", interrupt.get("subagentRunId")
        reviews = reviews_of(interrupt, calls)
        questions += [
            OpenQuestion(f"{prefix}review:{at}:{key}", review, lane) for at, review in enumerate(reviews)
        ]
        if not reviews:
            questions.append(OpenQuestion(prefix + key, question_of(interrupt), lane))
    own = set(tools)
    for call_id in ending.pending:
        call = calls.get(call_id, {})
        if call.get("name") in own:
            asked = ClientCall(call_id=call_id, name=call["name"], input=read_arguments(call["arguments"]))
            questions.append(OpenQuestion(_CLIENT + call_id, asked, call["lane"]))
    return questions


def question_of(interrupt: Json) -> Question:
    """Give an interrupt as the question it asks."""
    message = str(interrupt.get("message") or interrupt.get("reason") or "The agent asks.")
    schema = _schema(interrupt.get("responseSchema"))
    about = _about(interrupt)
    properties = cast("Json", schema.get("properties") or {})
    call_id = str(interrupt["toolCallId"]) if interrupt.get("toolCallId") else None
    if call_id and ("approved" in properties or not properties):
        options = tuple(
            Option(
                option_id=item["optionId"],
                name=item["name"],
                kind=item["kind"],
                wants_words=item.get("wantsWords") is True,
            )
            for item in about.get("options") or ()
        )
        return Permission(
            message=message,
            call_id=call_id,
            options=options or (_YES, _NO),
            allows_edit="editedArgs" in properties,
        )
    if url := about.get("url"):
        return Link(message=message, url=url, call_id=call_id)
    return Form(
        message=message,
        fields=schema if properties else _ANYTHING,
        call_id=call_id,
        value=raw_value(interrupt),
        single_answer=not properties,
    )


class _Option(TypedDict):
    optionId: str
    name: str
    kind: OptionKind


class _About(TypedDict, total=False):
    """What a server of ours adds to an interrupt."""

    options: list[_Option] | None
    url: str | None


class _Schema(TypedDict, total=False):
    """What of a form's schema is read."""

    properties: dict[str, dict[str, Any]] | None
    required: list[str] | None


def _about(interrupt: Json) -> _About:
    """Read what a server of ours adds; what cannot be read is as if it was not there."""
    metadata: Any = interrupt.get("metadata")
    about: Any = cast("Json", metadata).get("trunkline") if isinstance(metadata, dict) else None
    try:
        return msgspec.convert(about or {}, _About)
    except msgspec.ValidationError:
        return {}


def _schema(given: Any) -> Json:
    """Read the schema of an answer; one that is no form of fields is as if it was not there."""
    try:
        msgspec.convert(given or {}, _Schema)
    except msgspec.ValidationError:
        return {}
    return cast("Json", given or {})


# -- answering -------------------------------------------------------------------------------------


def resume_fields(answered_questions: Iterable[AnsweredQuestion], calls: Mapping[str, Json]) -> Json:
    """Give answers as the fields of the request that goes on; those of client tools are messages instead."""
    entries: list[Json] = []
    commands: Json = {}
    decisions: dict[str, list[Json]] = {}
    for key, question, answered in answered_questions:
        if key.startswith(_CLIENT):
            continue
        found = _KEY.fullmatch(key)
        assert found is not None
        by_command, review, interrupt_id = found.groups()
        entry: Json = {"interruptId": interrupt_id, **_answer(question, answered)}
        if review is not None and isinstance(question, Permission):
            first = interrupt_id not in decisions
            review_decisions = decisions.setdefault(interrupt_id, [])
            review_decisions.append(decision_of(answered, calls.get(question.call_id, {}).get("name", "")))
            entry = {
                "interruptId": interrupt_id,
                "status": "resolved",
                "payload": {"decisions": review_decisions},
            }
            if not first:
                continue
        if by_command:
            commands[interrupt_id] = _command(entry)
        else:
            entries.append(entry)
    fields: Json = {"resume": entries} if entries else {}
    if commands:
        # One without an id is alone, and then its answer needs none.
        fields["command"] = {"resume": commands.get("", commands)}
    return fields


def _answer(question: Question, answered: ev.Answered) -> Json:
    if isinstance(question, Permission):
        if answered.outcome != "selected":
            return {"status": "cancelled"}
        payload: Json = {"approved": answered.option_kind in ALLOW_KINDS}
        if _YES not in question.options:
            payload["optionId"] = answered.option_id
        if answered.input is not None:
            payload["editedArgs"] = answered.input
        if answered.reason:
            payload["reason"] = answered.reason
        return {"status": "resolved", "payload": payload}
    if answered.outcome != "accepted":
        return {"status": "cancelled"}
    content: Any = answered.content
    if isinstance(question, Form) and question.single_answer:
        content = cast("Json", content or {}).get("answer")
    return {"status": "resolved", "payload": content}


def _command(entry: Json) -> Any:
    """What LangGraph's command takes for an answer."""
    if entry["status"] == "cancelled":
        return {"__agui_cancelled__": True, "interrupt_id": entry["interruptId"]}
    return entry["payload"]
