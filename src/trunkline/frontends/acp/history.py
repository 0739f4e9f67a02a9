"""The history of a session as a client loads it: every event, without what was taken back."""

from __future__ import annotations

from collections.abc import AsyncIterator

from trunkline import events as ev
from trunkline.cursor import Entry
from trunkline.session.session import Session


async def replay_history(session: Session) -> AsyncIterator[Entry]:
    """Give the entries of a session, in order, without those that a rewind removed: ACP v1 has no rewind."""
    kept = await _find_kept(session)
    async for entry in session.replay():
        if kept is None or _belongs_to(entry.event, kept):
            yield entry


async def _find_kept(session: Session) -> set[str] | None:
    """The messages, calls and answered turns that are left; None when nothing was ever taken back."""
    async for entry in session.replay():
        if isinstance(entry.event, ev.Rewound):
            history = await session.history()
            answers = [message for message in history.messages if message.role == "agent"]
            turns = {part.turn_id for part in (*answers, *history.calls.values()) if part.turn_id is not None}
            return {message.message_id for message in history.messages} | set(history.calls) | turns
    return None


def _belongs_to(event: ev.AnyEvent, kept: set[str]) -> bool:
    if isinstance(event, ev.ToolCall | ev.ToolInput | ev.ToolUpdate):
        return event.call_id in kept
    if isinstance(event, ev.UserMessage | ev.Text | ev.Thought | ev.Media | ev.Source):
        return event.message_id in kept
    if isinstance(event, ev.Asked | ev.Answered):
        return event.turn_id in kept
    return True
