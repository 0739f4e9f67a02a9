"""A thread as far as a request is compared with it: its ids, its last turn, and what it asked."""

from __future__ import annotations

from collections.abc import Collection
from itertools import groupby

from trunkline.conversation import Conversation, TurnState
from trunkline.outline import Outline, PresentOutline, outline_of

__all__ = ["Thread"]


class Thread:
    """What the decoder knows of a thread."""

    def __init__(
        self,
        outline: PresentOutline,
        *,
        last: TurnState | None,
        asked: Collection[str],
        said: Collection[str] = (),
    ) -> None:
        """Describe a thread; ``asked`` are its questions, ``said`` ids besides those of the outline."""
        self.outline = outline
        self.last = last
        """The last turn."""
        self.asked = asked
        self._said = said

    @classmethod
    def of(cls, conversation: Conversation, said: Collection[str] = ()) -> Thread:
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
            told = Conversation(messages=messages, calls=calls, questions=conversation.questions)
            past.extend([outline_of(turn_id or "", told)])
        last = conversation.turns[-1] if conversation.turns else None
        known = {*said, *conversation.calls}
        return cls(PresentOutline(past, ()), last=last, asked=conversation.questions.keys(), said=known)

    def was_said(self, name: str) -> bool:
        """Whether a message, a call or a result ever had this id."""
        return name in self._said or self.outline.was_said(name)

    @property
    def cut_off(self) -> str | None:
        """The last turn, if it was stopped or failed: a client may have left before it heard all of it."""
        turn = self.last
        if turn is None or not (turn.status == "failed" or turn.stop_reason == "cancelled"):
            return None
        return turn.turn_id
