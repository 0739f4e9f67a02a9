"""What a session in a list is doing: a turn runs in it, or waits for a person's answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from trunkline.events import Answered, AnyEvent, Asked, TurnFailed, TurnFinished, TurnStarted
from trunkline.journal import Journal, SessionInfo

SessionStatus = Literal["running", "asking"]

_LOOKED_AT = (16, 256)
"""How many of the newest records are read for it: more, where the first say only that something goes on."""


async def read_status(journal: Journal, info: SessionInfo) -> SessionStatus | None:
    """Read what a session does now; None for one that rests, or that no process has open."""
    if info.owner is None:
        return None
    status: SessionStatus | None = None
    for count in _LOOKED_AT:
        records = await journal.read(info.key, after=max(0, info.last_seq - count), limit=2 * count)
        status = status_of([record.event for record in records if record.event is not None])
        if status != "running" or count >= info.last_seq:
            break
    return status


def status_of(events: Sequence[AnyEvent]) -> SessionStatus | None:
    """Give what the newest events of a session mean, which are in their order."""
    answered: set[str] = set()
    for event in reversed(events):
        if isinstance(event, (TurnFinished, TurnFailed)):
            return None
        if isinstance(event, TurnStarted):
            return "running"
        if isinstance(event, Answered):
            answered.add(event.question_id)
        elif isinstance(event, Asked) and event.question_id not in answered:
            return "asking"
    # What is said between two turns belongs to none.
    return "running" if any(event.turn_id is not None for event in events) else None
