"""Attendance: whether anybody is there, and what becomes of a turn when nobody is."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from trunkline import events as ev
from trunkline.grammar import Phase

if TYPE_CHECKING:
    from trunkline.session.session import Session

__all__ = ["FollowerWatch"]


class FollowerWatch:
    """Cancels a session's turn once nobody has followed it for a while."""

    def __init__(self, session: Session) -> None:
        """Watch who reads the session's line."""
        self._session = session
        self._timer: asyncio.TimerHandle | None = None
        session.event_stream.on_readers = self.count
        session.questions.on_expired = self._expired

    def count(self, readers: int) -> None:
        """Take the number of readers as it is now."""
        self.close()
        session = self._session
        session.hub.stir()
        limit = session.settings.abandon_after
        if not readers and session.turn is not None and limit is not None:
            self._timer = asyncio.get_running_loop().call_later(limit, self._abandon)

    def close(self) -> None:
        """Stop watching the clock."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _abandon(self) -> None:
        if self._session.event_stream.grammar.phase is Phase.SUSPENDED:
            # It waits for a person, for as long as its questions stay open.
            self.count(0)
        elif self._session.turn is not None:
            self._session.turn.cancel("trunkline", "nobody followed the turn any more")

    def _expired(self, answered: ev.Answered) -> None:
        turn = self._session.turn
        if turn is None:
            return
        if not self._session.event_stream.readers:
            turn.cancel("trunkline", "a question expired and nobody was there")
        else:
            turn.answered([answered])
