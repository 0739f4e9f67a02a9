"""The AG-UI endpoint: runs of a client as windows on the turns of a session.

It knows sessions and events, not HTTP. ``open`` decides everything that can be refused, before a byte
is sent; the run it gives is iterated for events and closed whatever happens.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator

import msgspec

from trunkline.cursor import Cursor
from trunkline.errors import SessionBusy, SessionNotFound, TrunklineError
from trunkline.frontends.agui import wire
from trunkline.frontends.agui.codes import ErrorCode
from trunkline.frontends.agui.decoder import GoOn, NoRewind, Start, intent_of, is_modern
from trunkline.frontends.agui.encoder import AguiEncoder
from trunkline.frontends.agui.messages import snapshot_of
from trunkline.frontends.agui.options import AguiOptions
from trunkline.hub import Hub
from trunkline.session import Session
from trunkline.window import Window

__all__ = ["AguiEndpoint", "AguiRun", "Place"]

log = logging.getLogger("trunkline.agui")

Batch = tuple[Cursor | None, list[wire.AguiEvent]]

_REMEMBERED_RUNS = 1024


class Place(msgspec.Struct, frozen=True):
    """Where in its turn a run begins."""

    turn_id: str
    after: Cursor | None


class AguiEndpoint:
    """Opens runs on the sessions of one agent."""

    def __init__(self, hub: Hub, options: AguiOptions | None = None) -> None:
        """Serve the sessions of a hub."""
        self.hub = hub
        self.options = options or AguiOptions()
        self._runs: OrderedDict[tuple[str, str, str], Place] = OrderedDict()
        self._locks: dict[str, asyncio.Lock] = {}

    async def open(
        self,
        told: wire.RunAgentInput,
        *,
        principal: str = "local",
        options: AguiOptions | None = None,
        front_end: str = "agui",
    ) -> AguiRun:
        """Begin a run, or refuse it: InvalidCommand, SessionBusy, or whatever the agent says."""
        chosen = options or self.options
        thread_id = chosen.thread_id_override or told.thread_id
        run_id = chosen.run_id_override or told.run_id
        lock = self._locks.setdefault(f"{principal}\n{thread_id}", asyncio.Lock())
        try:
            async with lock:
                session = await self._session(thread_id, principal)
                place, known = await self._enter(session, told, principal, (principal, thread_id, run_id))
        finally:
            if not lock.locked():
                self._locks.pop(f"{principal}\n{thread_id}", None)
        return AguiRun(session, told, place, chosen, run_id=run_id, known=known, front_end=front_end)

    async def _session(self, thread_id: str, principal: str) -> Session:
        try:
            return await self.hub.session(thread_id, principal=principal)
        except SessionNotFound:
            with contextlib.suppress(SessionBusy):
                return await self.hub.create(thread_id, principal=principal)
            return await self.hub.session(thread_id, principal=principal)

    async def _enter(
        self, session: Session, told: wire.RunAgentInput, principal: str, key: tuple[str, str, str]
    ) -> tuple[Place | None, list[str]]:
        """Do what the request means; give where its run begins, and the messages there were before it."""
        if (again := self._runs.get(key)) is not None:
            return again, []
        await session.own()
        await session.settle()
        conversation = await session.history()
        questions = dict(session.desk.open)
        intent = intent_of(told, conversation, questions, by=f"agui:{principal}")
        known = [message.message_id for message in conversation.messages if message.lane is None]
        place: Place | None = None
        if isinstance(intent, GoOn):
            turn = session.turn
            record, offset, fence = session.line.place_now()
            await session.answer(*intent.answers)
            place = Place(turn.turn_id if turn is not None else "", Cursor(fence, record, offset))
        elif isinstance(intent, Start):
            place = await self._start(session, intent, key)
        if place is not None:
            self._runs[key] = place
            while len(self._runs) > _REMEMBERED_RUNS:
                self._runs.popitem(last=False)
        return place, known

    async def _start(self, session: Session, intent: Start, key: tuple[str, str, str]) -> Place:
        by = f"agui:{key[0]}"
        if intent.gives_up:
            await session.cancel(by=by)
        if session.busy:
            raise SessionBusy("a run of this thread is on its way: wait for it, or stop it first")
        if intent.history:
            await session.import_history(intent.history)
        elif intent.rewind_to is not NoRewind:
            await session.rewind(intent.rewind_to, by=by)
        prompt = msgspec.structs.replace(intent.prompt, by=by, busy="reject")
        receipt = await session.prompt(prompt)
        return Place(receipt.turn_id or "", None)

    async def stop(self, thread_id: str, *, principal: str = "local") -> bool:
        """Cancel the running turn of a thread; False if there was none."""
        session = await self.hub.session(thread_id, principal=principal)
        return await session.cancel(by=f"agui:{principal}")


class AguiRun:
    """One run: iterate for batches of events; ``close`` when the client is gone."""

    def __init__(
        self,
        session: Session,
        told: wire.RunAgentInput,
        place: Place | None,
        options: AguiOptions,
        *,
        run_id: str,
        known: list[str],
        front_end: str,
    ) -> None:
        """Look at a turn from a place on; without a place there is nothing left to show."""
        self.session = session
        self._told = told
        self._place = place
        self._options = options
        self._run_id = run_id
        self._known = known
        self._front_end = front_end
        self._modern = is_modern(told)
        self._over = False
        self._encoder = AguiEncoder(
            session.session_id, run_id, options, modern=self._modern, state=told.state
        )

    async def __aiter__(self) -> AsyncGenerator[Batch]:
        """Give the run from its start to its one terminal."""
        try:
            yield None, await self._opening()
            if self._place is None:
                yield None, self._nothing_left()
                return
            window = Window(
                self.session,
                self._encoder,
                turn_id=self._place.turn_id,
                run_id=self._run_id,
                front_end=self._front_end,
                after=self._place.after,
                ends_on_suspend=True,
            )
            # Closed by name: one that is only dropped would still count as a reader for a while.
            async with contextlib.aclosing(aiter(window)) as batches:
                async for place, said in batches:
                    yield place, await self._with_snapshot(said)
            self._over = True
        except TrunklineError as error:
            log.warning("a run of thread %s failed: %s", self.session.session_id, error)
            yield None, self._failed(str(error))
        except Exception:
            log.exception("a run of thread %s failed", self.session.session_id)
            yield None, self._failed("something went wrong in Trunkline; its log says what")

    def _failed(self, message: str) -> list[wire.AguiEvent]:
        self._over = True
        *closing, _ = self._encoder.close() or [None]
        error = wire.RunError(message=message, code=ErrorCode.INTERNAL_ERROR, timestamp=_now())
        return [event for event in closing if event is not None] + [error]

    async def _opening(self) -> list[wire.AguiEvent]:
        """Start the run, and say what the client does not know of its thread."""
        said = self._encoder.begin(time.time(), parent_run_id=self._told.parent_run_id)
        theirs = [
            message.id
            for message in self._told.messages
            if message.role in ("user", "assistant") and message.subagent_run_id is None
        ]
        if self._known and [key for key in theirs if key in self._known] != self._known:
            said.append(await self._messages())
        state, mode = self.session.view.state, self._options.emit_state_snapshots
        if state is not None and state != self._told.state and mode in ("initial", "all"):
            said.append(wire.StateSnapshot(timestamp=_now(), snapshot=state))
        return said

    async def _messages(self) -> wire.MessagesSnapshot:
        conversation = await self.session.history()
        limit = self._options.max_ui_payload_size
        return wire.MessagesSnapshot(
            timestamp=_now(), messages=snapshot_of(conversation, limit, modern=self._modern)
        )

    async def _with_snapshot(self, said: list[wire.AguiEvent]) -> list[wire.AguiEvent]:
        """Before a client is asked, let it know all there is to know."""
        last = said[-1]
        if isinstance(last, wire.RunFinished) and (last.outcome or {}).get("type") == "interrupt":
            return [*said[:-1], await self._messages(), last]
        return said

    def _nothing_left(self) -> list[wire.AguiEvent]:
        """End a run that came too late: the thread is free for the next message."""
        self._over = True
        finished = wire.RunFinished(
            timestamp=_now(),
            thread_id=self.session.session_id,
            run_id=self._run_id,
            outcome={"type": "success"},
            result={"stopReason": "too_late"},
        )
        return [finished]

    async def close(self) -> None:
        """Let go of the run; a turn that nobody follows any more is cancelled, if that is wanted."""
        if self._over or self._place is None or self._options.on_disconnect != "cancel":
            return
        turn = self.session.turn
        if turn is None or turn.turn_id != self._place.turn_id or self.session.line.readers:
            return
        if self._options.disconnect_grace:
            loop = asyncio.get_running_loop()
            loop.call_later(self._options.disconnect_grace, self._cancel_unless_followed, turn.turn_id)
        else:
            self._cancel_unless_followed(turn.turn_id)

    def _cancel_unless_followed(self, turn_id: str) -> None:
        session = self.session
        turn = session.turn
        if turn is not None and turn.turn_id == turn_id and not session.line.readers and not session.closed:
            turn.cancel("agui", "the client left")


def _now() -> int:
    return int(time.time() * 1000)
