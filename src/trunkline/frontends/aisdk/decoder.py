"""The AI SDK decoder: what a request of a page means for a session, decided without touching it.

A page sends its messages with every request. The server's own history wins: of the page's only what is new
counts, which is a message, the answers to open questions, or a message to go back to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from trunkline import events as ev
from trunkline.commands import Answer, Prompt
from trunkline.conversation import Conversation
from trunkline.errors import InvalidCommand
from trunkline.frontends.aisdk.chat_request import ChatRequest, as_object, read_chat_request
from trunkline.frontends.aisdk.imported_history import history_events, tool_name
from trunkline.frontends.aisdk.questions import reply_to
from trunkline.frontends.aisdk.user_parts import read_meta, read_parts
from trunkline.intents import NO_REWIND, AnswerQuestions, Intent, StartTurn, TooLate
from trunkline.outline import Outline, OutlineReader, PresentOutline
from trunkline.protocols.aisdk.wire import JsonObject, UIMessage
from trunkline.questions import ClientCall, Permission

__all__ = ["ChatOutline", "ChatRequest", "client_answer", "is_answered", "read_chat_request", "read_intent"]


class ChatOutline:
    """What the decoder knows of a chat."""

    def __init__(
        self, outline: PresentOutline, prompt_of: Callable[[str], ev.UserMessage | None] = lambda _: None
    ) -> None:
        """Describe a chat; ``prompt_of`` gives what the person said in a turn."""
        self.outline = outline
        self.prompt_of = prompt_of

    @classmethod
    def of(cls, conversation: Conversation, events: Sequence[ev.Event] = ()) -> ChatOutline:
        """Describe a chat that is known as a whole."""
        prompts: dict[str, ev.UserMessage] = {}
        reader, past = OutlineReader(), Outline()
        for event in events or _events_of(conversation):
            past.extend(reader.feed(event))
        past.extend(reader.close())
        for message in conversation.messages:
            if message.role == "user" and message.turn_id is not None:
                prompts.setdefault(
                    message.turn_id,
                    ev.UserMessage(message_id=message.message_id, content=message.content),
                )
        return cls(PresentOutline(past, ()), prompts.get)


def _events_of(conversation: Conversation) -> Iterator[ev.Event]:
    """Give events that name the messages of a conversation in their order."""
    turn_id: str | None = None
    for message in conversation.messages:
        if message.turn_id != turn_id:
            turn_id = message.turn_id
            yield ev.TurnStarted(turn_id=turn_id)
        if message.role == "user":
            yield ev.UserMessage(turn_id=turn_id, message_id=message.message_id, content=message.content)
        elif message.lane is None:
            yield ev.Text(turn_id=turn_id, message_id=message.message_id, delta=message.text or " ")


# -- intents ---------------------------------------------------------------------------------------


def read_intent(
    request: ChatRequest, chat: ChatOutline, questions: Mapping[str, ev.Asked], *, by: str | None = None
) -> Intent:
    """Decide what a request means for a chat with these open questions."""
    if request.trigger == "regenerate-message":
        return _regenerate(request, chat)
    last = request.messages[-1] if request.messages else None
    if last is None or last.role == "assistant":
        return _answer(request, last, questions, by)
    if last.role != "user":
        raise InvalidCommand("there is nothing to answer: the last message must be the user's")
    rewind_to: Any = NO_REWIND
    if chat.outline.turn_of(last.id) is not None:
        # A message that was edited: it is asked again, and what followed it is taken back.
        rewind_to = chat.outline.before(last.id)
    history: tuple[ev.Event, ...] = ()
    if chat.outline.is_empty:
        history = history_events(request.messages[:-1])
    field = f"messages[{len(request.messages) - 1}].parts"
    return StartTurn(
        prompt=_prompt(request, _said(last, field)),
        rewind_to=rewind_to,
        history=history,
        cancels_waiting=bool(questions),
    )


def _said(message: UIMessage, field: str) -> ev.UserMessage:
    """Read what a person says in a message."""
    content, meta = read_parts(message.parts, field), read_meta(message.parts, message.metadata)
    return ev.UserMessage(message_id=message.id, content=content, meta=meta)


def _prompt(request: ChatRequest, message: ev.UserMessage) -> Prompt:
    if not message.content:
        raise InvalidCommand(f"message {message.message_id!r} is empty: say something, or attach something")
    return Prompt(
        content=message.content,
        message_id=message.message_id,
        tools=request.tools,
        state=request.state,
        forwarded=request.forwarded,
        meta=message.meta,
    )


def _regenerate(request: ChatRequest, chat: ChatOutline) -> StartTurn:
    """Ask the question of a turn again: what followed it is taken back.

    The assistant's message that is made anew has the id of its turn. Without one it is the last message's.
    """
    message = chat.prompt_of(request.message_id) if request.message_id is not None else None
    last = request.messages[-1] if request.messages else None
    if message is None and last is not None and last.role == "user":
        message = _said(last, f"messages[{len(request.messages) - 1}].parts")
    if message is None:
        which = "" if request.message_id is None else f" {request.message_id!r}"
        raise InvalidCommand(
            f"there is no message{which} to answer again: load the chat anew, or send the user's message last"
        )
    known = chat.outline.turn_of(message.message_id) is not None
    history: tuple[ev.Event, ...] = ()
    if chat.outline.is_empty:
        history = history_events(request.messages[:-1])
    return StartTurn(
        prompt=_prompt(request, message),
        rewind_to=chat.outline.before(message.message_id) if known else NO_REWIND,
        history=history,
        cancels_waiting=True,
    )


# -- answers ---------------------------------------------------------------------------------------


def _answer(
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
