"""Suspension: emits that a turn waits for its questions, once it was quiet for ``Settings.suspend_after``.

Each event and each question begins the wait anew: so parallel questions are seen together. An adapter whose
framework has stopped says so at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from trunkline import events as ev


class Suspension:
    """Suspends one turn, as often as it has to wait."""

    def __init__(
        self, turn_id: str, questions: Mapping[str, object], emit: Callable[[ev.Event], None], after: float
    ) -> None:
        """Suspend after so many seconds without an event; ``questions`` are those that are open, by id."""
        self._turn_id = turn_id
        self._questions = questions
        self._emit = emit
        self._after = after
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def suspend(self) -> None:
        """Emit that the turn waits for its questions, if there are any."""
        self._stop_timer()
        ids = tuple(self._questions)
        if ids and not self._closed:
            self._emit(ev.TurnSuspended(turn_id=self._turn_id, question_ids=ids))

    def suspend_when_quiet(self) -> None:
        """Begin to wait for the turn to be quiet, or begin anew."""
        self._stop_timer()
        self._timer = asyncio.get_running_loop().call_later(self._after, self.suspend)

    def close(self) -> None:
        """Emit nothing any more: the turn is over."""
        self._closed = True
        self._stop_timer()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
