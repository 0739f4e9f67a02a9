"""An agent that says nothing in a turn: the person is told after a while, and the turn is stopped later."""

from __future__ import annotations

import asyncio
from typing import Any

from trunkline.agents.acp.turn_events import TurnEvents
from trunkline.agents.interface import AgentCard
from trunkline.session.context import TurnContext

_LOOK_EVERY, _LOOK_AFTER = 60.0, 0.05
"""How often to look whether the agent is silent, in seconds: at least, and at most."""


class SilenceWatch:
    """Waits for the answer to a prompt for as long as the agent is not silent for too long."""

    def __init__(self, events: TurnEvents, notice_after: float | None, stop_after: float | None) -> None:
        """Give the seconds until a notice says so, and until it is too long (None: never)."""
        self._events = events
        self._notice_after = notice_after
        self._stop_after = stop_after

    async def wait(self, answer: asyncio.Future[Any], ctx: TurnContext, card: AgentCard) -> bool:
        """Wait for an answer of the agent of this card; False if it was silent for too long."""
        told_at: float | None = None
        while not answer.done():
            notice_after = self._notice_after if told_at is None else None
            limits = [limit for limit in (notice_after, self._stop_after) if limit]
            left = min(limits) - (self._events.silent_for or 0.0) if limits else _LOOK_EVERY
            await asyncio.wait({answer}, timeout=max(left, _LOOK_AFTER))
            silent = self._events.silent_for
            if told_at != self._events.heard_at:
                told_at = None
            if answer.done() or silent is None:
                continue
            if self._stop_after is not None and silent >= self._stop_after:
                return False
            if self._notice_after is not None and told_at is None and silent >= self._notice_after:
                told_at = self._events.heard_at
                ctx.notice(
                    f"{card.title} has said nothing for {silent:.0f} s; its process still runs",
                    "Wait, or cancel the turn.",
                    severity="warning",
                )
        return True
