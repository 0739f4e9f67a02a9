"""What readers see instead of an event that could not be stored."""

from __future__ import annotations

import msgspec

from trunkline.errors import TrunklineError
from trunkline.events import Answered, AnyEvent, TurnFailed, TurnFinished


def failed_turn(turn_id: str | None, error: TrunklineError) -> TurnFailed:
    """Give the end of a turn that ``error`` broke off."""
    return TurnFailed(turn_id=turn_id, code=error.code, message=str(error), fault="ours")


def shown_instead(event: AnyEvent, error: TrunklineError) -> AnyEvent:
    """Give the event that stands for one that is not stored: an end failed, an answer counts for none."""
    if isinstance(event, Answered):
        lost = Answered(question_id=event.question_id, outcome="cancelled", reason=str(error), by="trunkline")
        return msgspec.structs.replace(lost, turn_id=event.turn_id, lane=event.lane)
    return failed_turn(event.turn_id, error) if isinstance(event, TurnFinished | TurnFailed) else event
