"""What a grammar knows of the turns before: the newest ids of each kind, and no more than that.

An id that comes again is known for as long as ``REMEMBERED`` others of its kind did not come in between.
It follows from the events alone, so a grammar that reads a journal remembers what the one that wrote it
did, and it is kept with a session's snapshot.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from trunkline.events import ToolStatus

REMEMBERED = 1000

T = TypeVar("T")


class Owner(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Whose a message is: a person's, or that of the turn that emitted it."""

    number: int
    """Messages are counted: a rewind frees those behind a place."""
    turn_id: str | None
    person: bool = False


class KnownCall(msgspec.Struct, array_like=True, gc=False):
    """A call as far as its order matters."""

    turn_id: str | None
    lane: str | None = None
    status: ToolStatus = "pending"


class KnownIds(msgspec.Struct):
    """The ids of a session that are remembered across its turns."""

    messages: dict[str, Owner] = {}
    counted: int = 0
    """How many messages there ever were."""
    calls: dict[str, KnownCall] = {}
    asked: dict[str, None] = {}
    activities: dict[str, None] = {}
    compacted: dict[str, None] = {}
    """Compactions that ended."""
    exited: dict[str, None] = {}
    """Terminals that ended."""

    def add_message(self, message_id: str, turn_id: str | None, *, person: bool = False) -> None:
        """Remember whose a message is."""
        self.counted += 1
        self._refresh(self.messages, message_id, turn_id)
        keep(self.messages, message_id, Owner(self.counted, turn_id, person))

    def add_call(self, call_id: str, call: KnownCall) -> None:
        """Remember a call."""
        self._refresh(self.calls, call_id, call.turn_id)
        keep(self.calls, call_id, call)

    def free_messages(self, after: str | None) -> None:
        """Forget the messages behind one; None forgets all, an unknown one forgets none."""
        owner = self.messages.get(after) if after is not None else None
        if after is not None and owner is None and self.counted <= REMEMBERED:
            return
        # One that is not remembered any more is older than all that are.
        number = 0 if owner is None else owner.number
        for message_id in [name for name, one in self.messages.items() if one.number > number]:
            del self.messages[message_id]

    def _refresh(self, known: dict[str, T], new_id: str, turn_id: str | None) -> None:
        """Remember for longer the id that this one is another form of: it is one that comes again."""
        name, mark, turn = new_id.rpartition("~")
        if mark and turn == str(turn_id) and name in known:
            known[name] = known.pop(name)


def keep(known: dict[str, T], name: str, value: T) -> None:
    """Remember an id; the oldest one is forgotten for it."""
    known[name] = value
    if len(known) > REMEMBERED:
        del known[next(iter(known))]
