"""A client that comes back: its thread as it is now, and the turn that runs or waits, from its last start.

A page that was reloaded knows nothing. It gets what was said before as one snapshot, and what the present
run says as events, so that it ends where a client that never left is: in the middle of a text, at a
question, or at the end.
"""

from __future__ import annotations

import time

from trunkline import events as ev
from trunkline.cursor import Cursor
from trunkline.errors import SessionNotFound
from trunkline.frontends.agui import wire
from trunkline.frontends.agui.endpoint import AguiRun
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.agui.standing import Place, stand
from trunkline.hub import Hub
from trunkline.session import Session

__all__ = ["AguiReplay", "open_replay"]


async def open_replay(
    hub: Hub,
    told: wire.RunAgentInput,
    options: AguiOptions,
    *,
    principal: str = "local",
    front_end: str = "agui",
) -> AguiReplay | None:
    """Show a thread to a client that comes back to it; None for a thread that does not exist."""
    try:
        session = await hub.session(options.thread_id_override or told.thread_id, principal=principal)
    except SessionNotFound:
        return None
    await session.own()
    await session.settle()
    place = await _last_start(session)
    standing = await stand(session, place)
    run_id = options.run_id_override or told.run_id
    return AguiReplay(session, told, place, options, standing, run_id=run_id, front_end=front_end)


class AguiReplay(AguiRun):
    """A run that begins with everything said before it."""

    def _opening(self) -> list[wire.AguiEvent]:
        now = time.time()
        said = self._encoder.begin(now, parent_run_id=self._told.parent_run_id)
        return said + self._standing.opening(
            self._told, self._options, int(now * 1000), modern=self.modern, whole=True
        )

    def _nothing_left(self) -> list[wire.AguiEvent]:
        self._over = True
        return [
            wire.RunFinished(
                timestamp=int(time.time() * 1000),
                thread_id=self.session.session_id,
                run_id=self._run_id,
                outcome={"type": "success"},
            )
        ]


async def _last_start(session: Session) -> Place | None:
    """Find where the present run of the running turn began: with its message, or with the last answers."""
    turn_id = session.line.grammar.turn_id if session.busy else None
    if turn_id is None:
        return None
    after: Cursor | None = None
    async for entry in session.replay(await session.start_of(turn_id)):
        if isinstance(entry.event, ev.UserMessage | ev.TurnResumed) and entry.event.turn_id == turn_id:
            after = entry.cursor
    return Place(turn_id, after)
