"""A client that comes back: its thread as it is now, and the turn that runs or waits, from its last start.

A page that was reloaded knows nothing. It gets what was said before as one snapshot, and what the present
run says as events, so that it ends where a client that never left is: in the middle of a text, at a
question, or at the end.
"""

from __future__ import annotations

import time

from trunkline import events as ev
from trunkline.conversation import Conversation
from trunkline.cursor import Cursor
from trunkline.errors import SessionNotFound
from trunkline.folding import Folder
from trunkline.frontends.agui import wire
from trunkline.frontends.agui.decoder import is_modern
from trunkline.frontends.agui.encoder import AguiEncoder
from trunkline.frontends.agui.endpoint import AguiRun, Place
from trunkline.frontends.agui.messages import snapshot_of
from trunkline.frontends.agui.options import AguiOptions
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
    conversation = await _folded(session, place.after if place is not None else None)
    return AguiReplay(session, told, place, options, conversation, front_end=front_end)


class AguiReplay(AguiRun):
    """A run that begins with everything said before it."""

    def __init__(
        self,
        session: Session,
        told: wire.RunAgentInput,
        place: Place | None,
        options: AguiOptions,
        conversation: Conversation,
        *,
        front_end: str,
    ) -> None:
        """Show the conversation, then the turn from its place on, if there is one."""
        run_id = options.run_id_override or told.run_id
        super().__init__(session, told, place, options, run_id=run_id, known=[], front_end=front_end)
        self._conversation = conversation
        self._encoder = AguiEncoder(
            session.session_id, run_id, options, modern=is_modern(told), state=conversation.state
        )

    async def _opening(self) -> list[wire.AguiEvent]:
        said = self._encoder.begin(time.time(), parent_run_id=self._told.parent_run_id)
        now = int(time.time() * 1000)
        limit = self._options.max_ui_payload_size
        messages = snapshot_of(self._conversation, limit, modern=self._modern)
        said.append(wire.MessagesSnapshot(timestamp=now, messages=messages))
        if self._conversation.state is not None:
            said.append(wire.StateSnapshot(timestamp=now, snapshot=self._conversation.state))
        return said

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


async def _folded(session: Session, until: Cursor | None) -> Conversation:
    folder = Folder()
    async for entry in session.replay():
        folder.feed(entry.event)
        if until is not None and (entry.seq, entry.offset) >= (until.record, until.offset):
            break
    return folder.conversation
