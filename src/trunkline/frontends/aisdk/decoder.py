"""The AI SDK decoder: what a request of a page means for a session, decided without touching it.

A page sends its messages with every request. The server's own history wins: of the page's only what is new
counts, which is a message, the answers to open questions, or a message to go back to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.conversation import Conversation
from trunkline.errors import InvalidCommand
from trunkline.frontends.aisdk.chat_request import ChatRequest, read_chat_request
from trunkline.frontends.aisdk.imported_history import history_events
from trunkline.frontends.aisdk.questions import read_answers
from trunkline.frontends.aisdk.user_parts import read_meta, read_parts
from trunkline.intents import NO_REWIND, Intent, StartTurn
from trunkline.outline import Outline, OutlineReader, PresentOutline
from trunkline.protocols.aisdk.wire import UIMessage

__all__ = ["ChatOutline", "ChatRequest", "read_chat_request", "read_intent"]


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


def read_intent(
    request: ChatRequest, chat: ChatOutline, questions: Mapping[str, ev.Asked], *, by: str | None = None
) -> Intent:
    """Decide what a request means for a chat with these open questions."""
    if request.trigger == "regenerate-message":
        return _regenerate(request, chat)
    last = request.messages[-1] if request.messages else None
    if last is None or last.role == "assistant":
        return read_answers(request, last, questions, by)
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
