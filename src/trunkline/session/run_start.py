"""Where a wire run begins in its turn, found in the records of the session."""

from __future__ import annotations

import msgspec

from trunkline import events as ev
from trunkline.cursor import Cursor, Entry
from trunkline.errors import SessionBusy
from trunkline.session.receipts import Receipt
from trunkline.session.session import Session

__all__ = ["RunStart", "find_run_start", "wait_for_start"]


class RunStart(msgspec.Struct, frozen=True):
    """Where in its turn a run begins: at a cursor, or else right after the message that started the turn."""

    turn_id: str
    after: Cursor | None


async def find_run_start(session: Session) -> RunStart | None:
    """Find where the present run of the running turn began: with its message, or with the last answers."""
    turn_id = session.running_turn_id
    if turn_id is None:
        return None
    after: Cursor | None = None
    async for entry in session.replay(await session.start_of(turn_id)):
        if isinstance(entry.event, ev.UserMessage | ev.TurnResumed) and entry.event.turn_id == turn_id:
            after = entry.cursor
    return RunStart(turn_id, after)


async def wait_for_start(session: Session, receipt: Receipt) -> RunStart:
    """Wait until a prompt is in a turn: at the start of its own, or at a cursor inside a running one.

    One that is taken out of the queue raises SessionBusy.
    """
    # It was decided in the running turn, or will be.
    turn_id = receipt.turn_id or session.last_turn_id
    first = 1 if turn_id is None else await session.start_of(turn_id)
    async with session.subscribe_from(first) as reader:
        async for entry in reader:
            if (start := _start_in(entry, receipt.prompt_id)) is not None:
                return start
    raise SessionBusy("the message was not taken")


def _start_in(entry: Entry, prompt_id: str) -> RunStart | None:
    """Where the run begins, if this is the event that decides it."""
    event = entry.event
    if isinstance(event, ev.TurnStarted) and event.prompt_id == prompt_id:
        return RunStart(event.turn_id or "", None)
    if isinstance(event, ev.UserMessage) and event.prompt_id == prompt_id:
        return RunStart(event.turn_id or "", entry.cursor)
    if isinstance(event, ev.PromptDropped) and event.prompt_id == prompt_id:
        raise SessionBusy(f"the message was taken out of the queue: {event.reason or 'no reason is known'}")
    return None
