"""What the server has of a thread: its messages in outline, its last turn, what it asked."""

from __future__ import annotations

from collections.abc import Collection
from itertools import groupby

from trunkline.conversation import Conversation, TurnState
from trunkline.outline import Outline, PresentOutline, outline_of


class ThreadOutline:
    """What the decoder knows of a thread."""

    def __init__(
        self,
        outline: PresentOutline,
        *,
        last: TurnState | None,
        asked: Collection[str],
        known_ids: Collection[str] = (),
    ) -> None:
        """Describe a thread; ``asked`` are its questions, ``known_ids`` are ids that the outline lacks."""
        self.outline = outline
        self.last = last
        """The last turn."""
        self.asked = asked
        self._known_ids = known_ids

    @classmethod
    def of(cls, conversation: Conversation, known_ids: Collection[str] = ()) -> ThreadOutline:
        """Describe a conversation that is known as a whole."""
        past = Outline()
        for turn_id, group in groupby(conversation.messages, lambda message: message.turn_id):
            messages = list(group)
            ids = {message.message_id for message in messages}
            calls = {
                call.call_id: call
                for call in conversation.calls.values()
                if (call.turn_id == turn_id if call.message_id is None else call.message_id in ids)
            }
            messages_of_turn = Conversation(messages=messages, calls=calls, questions=conversation.questions)
            past.extend([outline_of(turn_id or "", messages_of_turn)])
        last = conversation.turns[-1] if conversation.turns else None
        known = {*known_ids, *conversation.calls}
        return cls(PresentOutline(past, ()), last=last, asked=conversation.questions.keys(), known_ids=known)

    def has_id(self, name: str) -> bool:
        """Whether a message, a call or a result ever had this id."""
        return name in self._known_ids or self.outline.has_id(name)

    @property
    def cut_off(self) -> str | None:
        """The last turn, if it was cancelled or failed: a client may have left before it got all of it."""
        turn = self.last
        if turn is None or not (turn.status == "failed" or turn.stop_reason == "cancelled"):
            return None
        return turn.turn_id
