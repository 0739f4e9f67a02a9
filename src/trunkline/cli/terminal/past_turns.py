"""What was said before in a session, drawn as it was when it happened, but shorter."""

from __future__ import annotations

from trunkline.cli.terminal.call_text import card_title
from trunkline.cli.terminal.display import Display
from trunkline.content import text_of
from trunkline.conversation import CallPart, Conversation, Message, TextPart, ThoughtPart, TurnState
from trunkline.exports.status_marks import describe_plan
from trunkline.safe_text import one_line

_LONGEST_PROMPT = 2000
LAST_TURNS = 3
"""How many turns a session that is opened again shows."""


def draw_turns(display: Display, conversation: Conversation, last: int | None = LAST_TURNS) -> None:
    """Draw the last turns of a conversation; None draws all."""
    turns = conversation.turns[-last:] if last else conversation.turns
    hidden = len(conversation.turns) - len(turns)
    if hidden:
        display.note(f"… {hidden} earlier turn{'' if hidden == 1 else 's'}; /history shows all")
    shown = {turn.turn_id for turn in turns}
    loose = conversation.calls_without_message()
    for message in conversation.messages:
        if message.turn_id is None or message.turn_id in shown:
            _draw_message(display, message, conversation)
            for call in loose.get(message.message_id, ()):
                display.note(card_title(call), style="")
            _draw_end(display, message, conversation)


def _draw_message(display: Display, message: Message, conversation: Conversation) -> None:
    if message.role == "user":
        display.echo("> ", text_of(message.content)[:_LONGEST_PROMPT])
    elif message.lane is None:
        for part in message.parts:
            if isinstance(part, TextPart):
                display.say(part.text)
            elif isinstance(part, ThoughtPart):
                display.think(part.text)
            elif isinstance(part, CallPart) and part.call_id in conversation.calls:
                display.note(card_title(conversation.calls[part.call_id]), style="")


def _draw_end(display: Display, message: Message, conversation: Conversation) -> None:
    """Draw how a turn ended, below its last message."""
    last = next(one for one in reversed(conversation.messages) if one.turn_id == message.turn_id)
    if last is not message:
        return
    turn = next((one for one in conversation.turns if one.turn_id == message.turn_id), None)
    if turn is None or turn.status in ("running", "suspended"):
        return  # It goes on: what comes next belongs to the same answer.
    display.end_answer()
    if (line := _end_of(turn)) is not None:
        display.note(line, style="red" if turn.status == "failed" else "yellow")
    if turn is conversation.turns[-1] and conversation.plan:
        display.note(describe_plan(conversation.plan))
    display.end_turn()


def _end_of(turn: TurnState) -> str | None:
    if turn.status == "failed":
        return f"error: {one_line(turn.message or '', 1000)}"
    if turn.stop_reason in (None, "end_turn"):
        return None
    return f"stopped: {one_line(turn.stop_reason).replace('_', ' ')}"
