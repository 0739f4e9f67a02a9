"""History: our conversation as LangChain's messages, and LangChain's messages as our conversation.

An agent without a checkpointer is fed by the journal, and providers are strict readers: every call
must have its answer right behind the message that made it, and no message may be empty. The other
way round, a thread that was made elsewhere is told as if it had been said here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import msgspec
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage, convert_to_messages
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from trunkline import events as ev
from trunkline.agents.langchain.content import ContentBlockMapper
from trunkline.agents.langchain.emitter import Emitter
from trunkline.content import DiffBlock, TerminalBlock
from trunkline.conversation import Call, CallPart, Conversation, MediaPart, Message, TextPart
from trunkline.folding import fold

__all__ = [
    "UNANSWERED",
    "conversation_of",
    "messages_of",
    "name_messages",
    "read_messages",
    "result_of",
    "unanswered_calls",
]

_HUMAN = ("human", "HumanMessageChunk")
_SHOWN = (*_HUMAN, "ai", "AIMessageChunk", "tool")

UNANSWERED = "This call was cancelled before it was answered."


def messages_of(conversation: Conversation, mapper: ContentBlockMapper) -> list[AnyMessage]:
    """Give the messages of the agent itself: subagents keep theirs, and reasoning belongs to its turn.

    Reasoning is left out because providers take back only what they signed, and only while the turn
    it was made in goes on.
    """
    told: list[AnyMessage] = []
    for message in conversation.messages:
        if message.lane is not None:
            continue
        if message.role == "user":
            told.append(mapper.user_message(message.content, message.message_id))
        else:
            told += _answer(message, conversation.calls, mapper)
    return told


def _answer(message: Message, known: dict[str, Call], mapper: ContentBlockMapper) -> list[AnyMessage]:
    """Give an answer with the results of its calls; one without words and calls is none."""
    parts = message.parts
    blocks = [
        {"type": "text", "text": part.text}
        if isinstance(part, TextPart)
        else mapper.from_neutral(part.content)
        for part in parts
        if isinstance(part, TextPart | MediaPart)
    ]
    calls = [known[part.call_id] for part in parts if isinstance(part, CallPart) and part.call_id in known]
    if not blocks and not calls:
        return []
    content: Any = blocks if any(isinstance(part, MediaPart) for part in parts) else message.text
    made = [{"id": _native_id(call), "name": call.name, "args": _args(call)} for call in calls]
    answer = AIMessage(content=content, id=message.message_id, tool_calls=cast("Any", made))
    return [answer, *(result_of(call, mapper) for call in calls)]


def _native_id(call: Call) -> str:
    return call.native_id or call.call_id


def _args(call: Call) -> dict[str, Any]:
    """The arguments of a call; those of one that was cut off while it was made are lost."""
    given: Any = call.input
    if given is None:
        try:
            given = msgspec.json.decode(call.arguments or "{}")
        except msgspec.DecodeError:
            given = None
    return cast("dict[str, Any]", given) if isinstance(given, dict) else {}


def result_of(call: Call, mapper: ContentBlockMapper) -> ToolMessage:
    """What a model is told of a call, whatever became of it."""
    done = call.status == "completed"
    shown = [block for block in call.content if not isinstance(block, DiffBlock | TerminalBlock)]
    content: Any = mapper.message_content(shown) if shown else None
    if content is None:
        content = call.raw_output if isinstance(call.raw_output, str) else call.output
    if not content and call.raw_output is not None:
        content = msgspec.json.encode(call.raw_output).decode()
    return ToolMessage(
        content=content or ("" if done else call.reason or UNANSWERED),
        tool_call_id=_native_id(call),
        name=call.name,
        status="success" if done else "error",
        id=call.result_message_id,
    )


def unanswered_calls(messages: Iterable[Any]) -> list[dict[str, Any]]:
    """The tool calls of the last answer that nobody answered."""
    answered: set[str] = set()
    for message in reversed(list(messages)):
        if message.type == "tool":
            answered.add(message.tool_call_id)
        elif message.type == "ai":
            return [call for call in message.tool_calls if call["id"] not in answered]
    return []


# -- the way back ------------------------------------------------------------------------------------


def read_messages(given: Any) -> list[Any]:
    """Give the messages that a graph's state holds, as dicts and pairs too; what is none is left out."""
    found: list[Any] = []
    for one in cast("list[Any]", given) if isinstance(given, list | tuple) else ():
        try:
            found += [one] if isinstance(one, BaseMessage) else convert_to_messages([one])
        except (NotImplementedError, ValueError):
            continue
    return found


def name_messages(messages: Iterable[Any]) -> list[Any]:
    """Name messages that have no id by their places: a reducer other than LangGraph's own gives none."""
    return [
        one if one.id is not None else one.model_copy(update={"id": f"message-{place}"})
        for place, one in enumerate(messages)
    ]


def conversation_of(messages: Iterable[Any], mapper: ContentBlockMapper | None = None) -> Conversation:
    """Tell a thread as a conversation: every message of a person begins a turn.

    What the framework wrote for the model only (system prompts, summaries, notifications) is not shown.
    """
    mapper = mapper or ContentBlockMapper()
    said: list[ev.Event] = []
    emitter = Emitter(said.append, None, mapper=mapper)
    for message in _left(name_messages(messages)):
        if message.type in _HUMAN:
            content = mapper.content_of(message)
            said.append(ev.UserMessage(message_id=message.id, content=content))
            continue
        if message.type != "tool":
            # Some models count their calls anew in every message.
            emitter = Emitter(_Renaming(said), None, mapper=mapper)
        emitter.message(None, message)
    told = fold(said)
    for call in told.calls.values():
        if call.status not in ev.FINAL_STATUSES:
            call.status, call.reason = "cancelled", UNANSWERED
    return told


def _left(messages: Iterable[Any]) -> list[Any]:
    """The messages that a person sees, without those that were taken out again."""
    left: list[Any] = []
    for message in messages:
        if message.type == "remove":
            gone = message.id
            left = [] if gone == REMOVE_ALL_MESSAGES else [one for one in left if one.id != gone]
        elif message.type in _SHOWN and not message.additional_kwargs.get("lc_source"):
            left.append(message)
    return left


class _Renaming:
    """Says the events of one message; a call whose id an earlier message used gets another one."""

    def __init__(self, said: list[ev.Event]) -> None:
        self._said = said
        self._used = {event.call_id for event in said if isinstance(event, ev.ToolCall)}

    def __call__(self, event: Any) -> None:
        call_id: str | None = getattr(event, "call_id", None)
        if call_id in self._used:
            number = 2
            while f"{call_id}.{number}" in self._used:
                number += 1
            event = msgspec.structs.replace(event, call_id=f"{call_id}.{number}")
        self._said.append(event)
