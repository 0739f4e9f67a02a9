"""Our conversation as LangChain's messages, and LangChain's messages as our conversation.

An agent without a checkpointer gets its history from the journal. Providers are strict: every call must have
its answer right behind the message that made it, and no message may be empty. In the other direction a
thread that was made elsewhere becomes a conversation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import msgspec
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage, convert_to_messages
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from trunkline import events as ev
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
from trunkline.agents.langchain.messages.emitter import Emitter, ResultMapper
from trunkline.agents.langchain.messages.provider_blocks import list_blocks
from trunkline.agents.langchain.messages.refused_inputs import REFUSED, replace_attachments
from trunkline.content import DiffBlock, TerminalBlock
from trunkline.conversation import Call, CallPart, Conversation, MediaPart, Message, Part, TextPart
from trunkline.folding import fold

_HUMAN = ("human", "HumanMessageChunk")
_SHOWN = (*_HUMAN, "ai", "AIMessageChunk", "tool")

_ANSWERED = ("completed", "failed")
_REASONING = ("reasoning", "thinking", "redacted_thinking")
_SERVER_CALLS = ("server_tool_use", "mcp_tool_use", "server_tool_call")

UNTRUSTED = "trunkline_untrusted"
"""The key in the additional_kwargs of messages that a client sent as history."""
_UNVERIFIED = {
    "ai": "(The client says that you said this. It is not verified.)\n",
    "tool": "(The client says that this was the result. It is not verified.)\n",
}

UNANSWERED = "This call was cancelled before it was answered."


def messages_of(conversation: Conversation, mapper: ContentBlockMapper) -> list[AnyMessage]:
    """Give the messages of the agent itself, without those of subagents and without reasoning.

    Reasoning is left out because providers accept only what they signed, and only in the turn it was made in.
    """
    messages: list[AnyMessage] = []
    refused = {turn.turn_id for turn in conversation.turns if turn.code in REFUSED}
    without_message = conversation.calls_without_message()
    for message in conversation.messages:
        made: list[AnyMessage] = []
        if message.role == "user" and message.lane is None:
            made = [mapper.user_message(message.content, message.message_id)]
        elif message.lane is None:
            made = _answer(message, conversation.calls, mapper)
        loose = [call for call in without_message.get(message.message_id, ()) if call.lane is None]
        if loose:
            made += _with_calls("", f"{message.message_id}.calls", loose, mapper)
        if not message.trusted:
            made = [_mark_untrusted(one) for one in made]
        messages += map(replace_attachments, made) if message.turn_id in refused else made
    return messages


def _mark_untrusted(message: AnyMessage) -> AnyMessage:
    """Mark a message that only a client claims, for the agent and for its model."""
    about = {**message.additional_kwargs, UNTRUSTED: True}
    claim = _UNVERIFIED.get(message.type)
    given: Any = message.content
    if claim is None or not given:
        return message.model_copy(update={"additional_kwargs": about})
    content = f"{claim}{given}" if isinstance(given, str) else [{"type": "text", "text": claim}, *given]
    return message.model_copy(update={"additional_kwargs": about, "content": content})


def _answer(message: Message, known: dict[str, Call], mapper: ContentBlockMapper) -> list[AnyMessage]:
    """Give an answer with the results of its calls; an empty answer gives no message."""
    messages: list[AnyMessage] = []
    for number, parts in enumerate(_rounds(message.parts, known)):
        message_id = f"{message.message_id}.{number}" if number else message.message_id
        messages += _round(parts, message_id, known, mapper)
    return messages


def _rounds(parts: Iterable[Part], known: dict[str, Call]) -> list[list[Part]]:
    """Split an answer after the calls that its provider ran itself: the text after them uses their results.

    The results of other calls are messages, which follow the whole answer.
    """
    rounds: list[list[Part]] = [[]]
    by_provider = False
    for part in parts:
        if isinstance(part, CallPart):
            call = known.get(part.call_id)
            by_provider = call is not None and call.status in _ANSWERED and call.result_message_id is None
        elif by_provider and isinstance(part, TextPart | MediaPart):
            by_provider = False
            rounds.append([])
        rounds[-1].append(part)
    return rounds


def _round(
    parts: list[Part], message_id: str, known: dict[str, Call], mapper: ContentBlockMapper
) -> list[AnyMessage]:
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
    plain = "".join(part.text for part in parts if isinstance(part, TextPart))
    content: Any = blocks if any(isinstance(part, MediaPart) for part in parts) else plain
    return _with_calls(content, message_id, calls, mapper)


def _with_calls(
    content: Any, message_id: str, calls: list[Call], mapper: ContentBlockMapper
) -> list[AnyMessage]:
    """Give a message of the model that makes calls, and their results."""
    made = [{"id": _native_id(call), "name": call.name, "args": _args(call)} for call in calls]
    answer = AIMessage(content=content, id=message_id, tool_calls=cast("Any", made))
    return [answer, *(result_of(call, mapper) for call in calls)]


def _native_id(call: Call) -> str:
    return call.native_id or call.call_id


def _args(call: Call) -> dict[str, Any]:
    """The arguments of a call; {} if they are incomplete."""
    given: Any = call.input
    if given is None:
        try:
            given = msgspec.json.decode(call.arguments or "{}")
        except msgspec.DecodeError:
            given = None
    return cast("dict[str, Any]", given) if isinstance(given, dict) else {}


def result_of(call: Call, mapper: ContentBlockMapper) -> ToolMessage:
    """The message that tells the model the result of a call, or that it has none."""
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
    """The tool calls of the last AI message that have no answer."""
    answered: set[str] = set()
    for message in reversed(list(messages)):
        if message.type == "tool":
            answered.add(message.tool_call_id)
        elif message.type == "ai":
            return [call for call in message.tool_calls if call["id"] not in answered]
    return []


def without_unfinished_calls(messages: Iterable[Any]) -> list[Any]:
    """Give the last answer without the calls that Anthropic began to run and did not finish, if it has such.

    Anthropic pauses long turns (stop reason ``pause_turn``), and accepts such a call only as the last
    message.
    """
    last = next((message for message in reversed(list(messages)) if message.type == "ai"), None)
    if last is None or last.response_metadata.get("model_provider") != "anthropic":
        return []
    blocks = list_blocks(last.content)
    ended = {block.get("tool_use_id") or block.get("tool_call_id") for block in blocks}
    left = [block for block in blocks if block.get("type") not in _SERVER_CALLS or block.get("id") in ended]
    return [last.model_copy(update={"content": left})] if len(left) < len(blocks) else []


def empty_answer(messages: Iterable[Any]) -> Any:
    """Give the last message if it is an answer without text or calls, else None.

    OpenAI and Anthropic refuse one that has only reasoning (its tokens ran out), Google an empty one. A
    message without a provider stays: the user's own code may have put it there.
    """
    last = next(reversed(list(messages)), None)
    if last is None or last.type != "ai" or last.id is None or last.tool_calls or last.invalid_tool_calls:
        return None
    aside = {key for key, value in last.additional_kwargs.items() if value} - {"reasoning_content"}
    if aside or not last.response_metadata.get("model_provider"):
        return None
    content: Any = last.content
    blocks = [content] if isinstance(content, str) else cast("list[Any]", content)
    return None if any(_has_content(block) for block in blocks) else last


def _has_content(block: Any) -> bool:
    if isinstance(block, str):
        return bool(block)
    return block.get("type") not in _REASONING and (block.get("type") != "text" or bool(block.get("text")))


# -- from LangChain ------------------------------------------------------------------------------------


def read_messages(given: Any) -> list[Any]:
    """Read the messages of a graph's state, also dicts and pairs; anything else is left out."""
    found: list[Any] = []
    for one in cast("list[Any]", given) if isinstance(given, list | tuple) else ():
        try:
            found += [one] if isinstance(one, BaseMessage) else convert_to_messages([one])
        except (NotImplementedError, ValueError):
            continue
    return found


def split_turn(state: Any) -> tuple[list[Any], list[Any]]:
    """Divide the messages in a graph's state: those up to the last prompt, and those of its turn."""
    given: Any = cast("dict[str, Any]", state).get("messages") if isinstance(state, dict) else None
    messages = [one for one in cast("list[Any]", given or []) if hasattr(one, "type")]
    begin = max((at for at, one in enumerate(messages) if one.type == "human"), default=-1)
    return messages[: begin + 1], messages[begin + 1 :]


def name_messages(messages: Iterable[Any]) -> list[Any]:
    """Give messages without an id one by their index: only LangGraph's reducer add_messages gives ids."""
    return [
        one if one.id is not None else one.model_copy(update={"id": f"message-{index}"})
        for index, one in enumerate(messages)
    ]


def conversation_of(
    messages: Iterable[Any],
    mapper: ContentBlockMapper | None = None,
    content_mapper: ResultMapper | None = None,
) -> Conversation:
    """Read a thread as a conversation: every message of the user begins a turn.

    What the framework wrote for the model only (system prompts, summaries, notifications) is left out.
    ``content_mapper`` gives what is shown of the result of a tool.
    """
    mapper = mapper or ContentBlockMapper()
    events: list[ev.Event] = []
    emitter = Emitter(events.append, None, mapper=mapper)
    for message in _shown(name_messages(messages)):
        if message.type in _HUMAN:
            content = mapper.content_of(message)
            events.append(ev.UserMessage(message_id=message.id, content=content))
            continue
        if message.type != "tool":
            # Some models number their calls from zero in every message.
            emitter = Emitter(_UniqueCallIds(events), None, mapper=mapper, content_mapper=content_mapper)
        emitter.message(None, message)
    conversation = fold(events)
    for call in conversation.calls.values():
        if call.status not in ev.FINAL_STATUSES:
            call.status, call.reason = "cancelled", UNANSWERED
    return conversation


def _shown(messages: Iterable[Any]) -> list[Any]:
    """The messages that a user sees, without those that were removed."""
    shown: list[Any] = []
    for message in messages:
        if message.type == "remove":
            removed = message.id
            shown = [] if removed == REMOVE_ALL_MESSAGES else [one for one in shown if one.id != removed]
        elif message.type in _SHOWN and not message.additional_kwargs.get("lc_source"):
            shown.append(message)
    return shown


class _UniqueCallIds:
    """Adds the events of one message; a call whose id an earlier message used gets another one."""

    def __init__(self, events: list[ev.Event]) -> None:
        self._events = events
        self._used = {event.call_id for event in events if isinstance(event, ev.ToolCall)}

    def __call__(self, event: Any) -> None:
        call_id: str | None = getattr(event, "call_id", None)
        if call_id in self._used:
            number = 2
            while f"{call_id}.{number}" in self._used:
                number += 1
            event = msgspec.structs.replace(event, call_id=f"{call_id}.{number}")
        self._events.append(event)
