"""Recovery: a turn that an earlier process left open waits for its answers again, or has failed."""

from __future__ import annotations

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.session.questions import seconds_left
from trunkline.session.turns.agent_events import TurnSession
from trunkline.session.turns.turn import Turn


def recover_turn(session: TurnSession, why: str | None) -> Turn | None:
    """Settle the open turn of a session: fail it with the reason, or give it, as it waits for its answers."""
    stream, grammar = session.event_stream, session.event_stream.grammar
    turn_id = grammar.turn_id or ""
    questions = list(grammar.questions.values())
    for asked in questions:
        session.questions.reopen(asked, expires_in=seconds_left(asked, session.settings.question_ttl))
    if why is None:
        turn = Turn(session, turn_id, Prompt(), f"{turn_id}.r{stream.position.record}")
        turn.wait_for_answers(questions)
        return turn
    session.questions.withdraw_all("cancelled", why)
    advice = f"{why}; send the prompt again to retry"
    stream.emit(ev.TurnFailed(turn_id=turn_id, code="interrupted", message=advice, fault="ours"))
    return None
