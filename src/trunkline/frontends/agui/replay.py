"""A client that comes back: its thread as it is now, and the turn that runs or waits, from its last start.

A page that was reloaded knows nothing. It gets what was said before as one snapshot, and what the present
run says as events, so that it ends where a client that never left is: in the middle of a text, at a
question, or at the end.
"""

from __future__ import annotations

import time
from typing import ClassVar

from trunkline.errors import SessionNotFound
from trunkline.frontends.agui.endpoint import AguiEndpoint, AguiRun
from trunkline.frontends.agui.history import last_start, stand
from trunkline.frontends.agui.options import AguiOptions
from trunkline.protocols.agui import wire

__all__ = ["AguiReplay", "open_replay"]


async def open_replay(
    endpoint: AguiEndpoint,
    told: wire.RunAgentInput,
    options: AguiOptions,
    *,
    principal: str = "local",
    front_end: str = "agui",
    page: str | None = None,
) -> AguiReplay | None:
    """Show a thread to a client that comes back to it; None for a thread that does not exist."""
    thread_id = options.thread_id_override or told.thread_id
    try:
        session = await endpoint.hub.session(thread_id, principal=principal)
    except SessionNotFound:
        return None
    await session.own()
    await session.settle()
    place = await last_start(session)
    standing = await stand(session, place)
    if turns := standing.conversation.turns:
        endpoint.pages.visit(principal, thread_id, page, is_new=False).move(None, turns[-1].turn_id)
    run_id = options.run_id_override or told.run_id
    return AguiReplay(session, told, place, options, standing, run_id=run_id, front_end=front_end)


class AguiReplay(AguiRun):
    """A run that begins with everything said before it."""

    whole: ClassVar[bool] = True

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
