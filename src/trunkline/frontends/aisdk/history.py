"""The history of a chat where a response begins: what a request is compared with, and what its page has."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, cast

from trunkline import events as ev
from trunkline.cursor import Cursor
from trunkline.frontends.aisdk.chat_request import ChatRequest
from trunkline.frontends.aisdk.decoder import ChatOutline
from trunkline.frontends.aisdk.messages import MessageFolder, client_tools_of
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.frontends.aisdk.questions import is_answered
from trunkline.intents import Intent, StartTurn, TooLate
from trunkline.protocols.aisdk.wire import JsonObject, StreamVersion, UIMessage, encode
from trunkline.questions import ClientCall
from trunkline.session.session import Session

__all__ = [
    "answered_ids",
    "count_new_bytes",
    "find_seen",
    "given_outputs",
    "page_answers",
    "read_client_tools",
    "read_messages",
    "read_outline",
    "was_taken_back",
]


async def read_outline(session: Session, request: ChatRequest, *, sees_history: bool = True) -> ChatOutline:
    """Read what a request is compared with."""
    outline = await session.earlier_turns.present()
    prompts: dict[str, ev.UserMessage] = {}
    turn_id = request.message_id
    if request.trigger == "regenerate-message" and turn_id is not None and sees_history:
        prompts = await _find_prompt(session, turn_id)
    return ChatOutline(outline, prompts.get)


async def _find_prompt(session: Session, turn_id: str) -> dict[str, ev.UserMessage]:
    """Find the message that started a turn; nothing for an id that is none of a turn."""
    start = session.turn_start(turn_id)
    if start is None and not turn_id.startswith("turn_"):
        return {}
    async for entry in session.replay(start or 1):
        event = entry.event
        if event.turn_id == turn_id and isinstance(event, ev.UserMessage):
            return {turn_id: event}
    return {}


def count_new_bytes(request: ChatRequest, has_id: Callable[[str], bool]) -> int:
    """Count the bytes of the messages that a chat does not have; the last one may be an edited one."""
    last = request.messages[-1:]
    new = [one for one in request.messages[:-1] if not has_id(one.id)]
    new += [one for one in last if one.role == "user" or not has_id(one.id)]
    return sum(len(encode(one)) for one in new)


def answered_ids(last: UIMessage | None, intent: Intent) -> set[str]:
    """Give the questions that a page takes for answered just now: those of the response that it saw last."""
    if isinstance(intent, StartTurn):
        return set()
    if isinstance(intent, TooLate):
        return set(intent.question_ids)
    found = {answer.question_id for answer in intent.answers}
    return found | set(page_answers(last, "approval-responded"))


def page_answers(message: UIMessage | None, *states: str) -> dict[str, bool]:
    """Give how a page has answered the approvals of a message, by their ids; of calls in some states only."""
    found: dict[str, bool] = {}
    for part in () if message is None else message.parts:
        approval: Any = part.get("approval")
        if isinstance(approval, dict) and (not states or part.get("state") in states):
            about = cast("JsonObject", approval)
            if isinstance(about.get("approved"), bool):
                found[str(about.get("id"))] = about["approved"]
    return found


def given_outputs(last: UIMessage | None) -> set[str]:
    """Give the calls in the last step of a message that its page ran itself, and has outputs for."""
    found: set[str] = set()
    for part in () if last is None else last.parts:
        if part.get("type") == "step-start":
            found = set()
        elif is_answered(part) and not part.get("providerExecuted"):
            found.add(str(part.get("toolCallId")))
    return found


async def find_seen(
    session: Session, turn_id: str, answered: Collection[str], outputs: Collection[str] = ()
) -> Cursor | None:
    """Find up to where a page has a message: to the suspension whose questions it has just answered.

    Another client may have answered one of them earlier, and the turn may have gone on and stopped again:
    so it is the first suspension with no other questions than these, or the last one with any of them, or
    the last one. ``outputs`` are the calls that the page has run. None: there is no such suspension, or the
    turn waits there and nothing follows.
    """
    done = set(answered)
    last: Cursor | None = None
    shared: Cursor | None = None
    start = session.turn_start(turn_id)
    if start is None or not (done or outputs):
        return None
    async for entry in session.replay(start):
        event = entry.event
        if isinstance(event, ev.Asked) and isinstance(event.question, ClientCall):
            done |= {event.question_id} if event.question.call_id in outputs else set()
        elif event.turn_id == turn_id and isinstance(event, ev.TurnSuspended):
            last, asked = entry.cursor, set(event.question_ids)
            if asked <= done:
                return last
            if not asked.isdisjoint(done):
                shared = last
    waits_there = session.is_suspended and session.running_turn_id == turn_id
    return shared or (None if waits_there else last)


async def was_taken_back(session: Session, turn_id: str) -> bool:
    """Whether the last turn, or a part of it, does not count any more."""
    start = await session.start_of(turn_id)
    async for entry in session.replay(start):
        if isinstance(entry.event, ev.Rewound):
            return True
    return False


async def read_client_tools(session: Session, from_seq: int = 1) -> frozenset[str]:
    """Give the names of the page's own tools, as its messages brought them along."""
    found: set[str] = set()
    async for entry in session.replay(from_seq):
        if isinstance(entry.event, ev.UserMessage):
            found.update(client_tools_of(entry.event))
    return frozenset(found)


async def read_messages(
    session: Session, options: AisdkOptions, version: StreamVersion, *, leaves_out: str | None = None
) -> list[JsonObject]:
    """Give the messages of a chat as a page holds them, without that of one turn if need be."""
    tools = await read_client_tools(session)
    folder = MessageFolder(options, version=version.number, client_tools=tools)
    async for entry in session.replay():
        folder.feed(entry)
    return [message for message in folder.messages if leaves_out is None or message["id"] != leaves_out]
