"""The AG-UI endpoint: runs of a client as windows on the turns of a session.

It knows sessions and events, not HTTP. ``open`` decides everything that can be refused, before a byte
is sent; the run it gives is iterated for events and closed whatever happens.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable

import msgspec

from trunkline import events as ev
from trunkline.errors import AlreadyAnswered, SessionBusy, SessionNotFound
from trunkline.frontends.agui.decoder import (
    count_new_bytes,
    last_seen_turn,
    read_intent,
)
from trunkline.frontends.agui.history import RunStart, ThreadSnapshot, find_run_start, read_thread
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.agui.pages import Pages
from trunkline.frontends.agui.run import AguiReplay, AguiRun
from trunkline.protocols.agui import wire
from trunkline.session.hub import Hub
from trunkline.session.intents import NO_REWIND, AnswerQuestions, Intent, StartTurn
from trunkline.session.session import Session

__all__ = ["AguiEndpoint"]

_REMEMBERED_RUNS = 1024


class AguiEndpoint:
    """Opens runs on the sessions of one agent."""

    def __init__(self, hub: Hub, options: AguiOptions | None = None) -> None:
        """Serve the sessions of a hub."""
        self.hub = hub
        self.options = options or AguiOptions()
        self._runs: OrderedDict[tuple[str, ...], RunStart] = OrderedDict()
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}
        self._starters: OrderedDict[str, str] = OrderedDict()
        self.pages = Pages()

    async def open(
        self,
        told: wire.RunAgentInput,
        *,
        principal: str = "local",
        options: AguiOptions | None = None,
        front_end: str = "agui",
        starter: str | None = None,
        page: str | None = None,
        check_new: Callable[[int], None] | None = None,
    ) -> AguiRun:
        """Begin a run, or refuse it: InvalidCommand, SessionBusy, or whatever the agent says.

        ``page`` is the name that the client has given itself, if it has. ``check_new`` is told how many bytes
        of the request its thread does not have yet, and may refuse it.
        ``starter`` is somebody who sees only the turns that they started; None sees the whole thread.
        """
        chosen = options or self.options
        thread_id = chosen.thread_id_override or told.thread_id
        run_id = chosen.run_id_override or told.run_id
        lock = self._locks.setdefault((principal, thread_id), asyncio.Lock())
        try:
            async with lock:
                session = await self._session(thread_id, principal)
                key = (principal, thread_id, run_id, *_brought(told))
                drops = chosen.import_history == "drop"
                place, standing = await self._enter(
                    session, told, key, starter, page, drops=drops, check_new=check_new
                )
        finally:
            if not lock.locked():
                self._locks.pop((principal, thread_id), None)
        return AguiRun(
            session,
            told,
            place,
            chosen,
            standing,
            run_id=run_id,
            front_end=front_end,
            sees_history=starter is None,
        )

    async def open_replay(
        self,
        told: wire.RunAgentInput,
        *,
        principal: str = "local",
        options: AguiOptions | None = None,
        front_end: str = "agui",
        page: str | None = None,
    ) -> AguiReplay | None:
        """Show a thread to a client that comes back to it; None for a thread that does not exist.

        A page that was reloaded knows nothing. It gets what was said before as one snapshot, and what the
        present run says as events, so that it ends where a client that never left is: in the middle of a
        text, at a question, or at the end.
        """
        chosen = options or self.options
        thread_id = chosen.thread_id_override or told.thread_id
        try:
            session = await self.hub.session(thread_id, principal=principal)
        except SessionNotFound:
            return None
        await session.own()
        await session.settle()
        place = await find_run_start(session)
        standing = await read_thread(session, place)
        if turns := standing.conversation.turns:
            self.pages.visit(principal, thread_id, page, is_new=False).move(None, turns[-1].turn_id)
        run_id = chosen.run_id_override or told.run_id
        return AguiReplay(session, told, place, chosen, standing, run_id=run_id, front_end=front_end)

    async def _session(self, thread_id: str, principal: str) -> Session:
        try:
            return await self.hub.session(thread_id, principal=principal)
        except SessionNotFound:
            with contextlib.suppress(SessionBusy):
                return await self.hub.create(thread_id, principal=principal)
            return await self.hub.session(thread_id, principal=principal)

    async def _enter(
        self,
        session: Session,
        told: wire.RunAgentInput,
        key: tuple[str, ...],
        starter: str | None,
        page: str | None,
        *,
        drops: bool,
        check_new: Callable[[int], None] | None,
    ) -> tuple[RunStart | None, ThreadSnapshot]:
        """Do what the request means; give where its run begins, and what was said before that."""
        await session.own()
        if (again := self._runs.get(key)) is not None:
            self._check_starter(again.turn_id, starter)
            return again, await read_thread(session, again)
        await session.settle()
        standing = await read_thread(session)
        if (turn_id := standing.turn_of(told)) is not None:
            self._check_starter(turn_id, starter)
            again = RunStart(turn_id, None)
            self._remember(key, again)
            return again, await read_thread(session, again)
        if check_new is not None:
            check_new(count_new_bytes(told, standing.has_id))
        questions = dict(session.open_questions)
        by = f"agui:{key[0]}"
        known = standing.thread(session.question_ids)
        visitor = self.pages.visit(key[0], key[1], page, is_new=known.last is None)
        asked = told
        if drops and known.last is None:
            # Of a thread that is new here, only what is asked counts.
            asked = msgspec.structs.replace(told, messages=told.messages[-1:])
        intent = read_intent(asked, known, questions, by=by, page=visitor)
        before = last_seen_turn(told.messages, known)
        place, standing = await self._carry_out(session, told, key, starter, intent, standing)
        last = None if known.last is None else known.last.turn_id
        visitor.move(before, last if place is None else place.turn_id)
        return place, standing

    async def _carry_out(
        self,
        session: Session,
        told: wire.RunAgentInput,
        key: tuple[str, ...],
        starter: str | None,
        intent: Intent,
        standing: ThreadSnapshot,
    ) -> tuple[RunStart | None, ThreadSnapshot]:
        by = f"agui:{key[0]}"
        if isinstance(intent, AnswerQuestions):
            # Where the standing ends, not where the agent is by now: it may have gone on talking.
            place = RunStart(session.last_turn_id or "", standing.at)
            if not told.resume:
                self._check_starter(place.turn_id, starter)
            try:
                await session.answer(*intent.answers)
            except AlreadyAnswered:
                return await self._follow(session, key, standing, starter)
            for answer in intent.answers:
                # What the client brought along is in its messages already.
                standing.feed(
                    ev.Answered(
                        question_id=answer.question_id,
                        outcome=answer.outcome,
                        content=answer.content,
                        reason=answer.reason,
                        meta=answer.meta,
                    )
                )
        elif isinstance(intent, StartTurn):
            place, standing = await self._start(session, intent, standing, by)
            self._note_starter(place.turn_id, starter)
        else:
            return await self._follow(session, key, standing, starter)
        if not self._is_seen(place.turn_id, starter):
            # To answer is not to follow: what becomes of the answers is for whoever started the turn.
            return None, standing
        self._remember(key, place)
        return place, standing

    async def _follow(
        self, session: Session, key: tuple[str, ...], standing: ThreadSnapshot, starter: str | None
    ) -> tuple[RunStart | None, ThreadSnapshot]:
        """Somebody else answered: the turn goes on, and this client with it, from those answers on."""
        place = await find_run_start(session)
        if place is not None:
            self._check_starter(place.turn_id, starter)
            self._remember(key, place)
            standing = await read_thread(session, place)
        return place, standing

    def _remember(self, key: tuple[str, ...], place: RunStart) -> None:
        self._runs[key] = place
        while len(self._runs) > _REMEMBERED_RUNS:
            self._runs.popitem(last=False)

    def _note_starter(self, turn_id: str, starter: str | None) -> None:
        if starter is not None:
            self._starters[turn_id] = starter
            while len(self._starters) > _REMEMBERED_RUNS:
                self._starters.popitem(last=False)

    def _is_seen(self, turn_id: str, starter: str | None) -> bool:
        return starter is None or self._starters.get(turn_id) == starter

    def _check_starter(self, turn_id: str, starter: str | None) -> None:
        if not self._is_seen(turn_id, starter):
            raise SessionBusy("somebody else began this run: to see it takes a token with the scope 'follow'")

    async def _start(
        self, session: Session, intent: StartTurn, standing: ThreadSnapshot, by: str
    ) -> tuple[RunStart, ThreadSnapshot]:
        if intent.cancels_waiting:
            await session.cancel(by=by)
        if session.busy:
            raise SessionBusy("a run of this thread is on its way: wait for it, or stop it first")
        if intent.history and not session.stored_seq:
            await session.import_history(intent.history)
        if intent.rewind_to is not NO_REWIND:
            await session.rewind(intent.rewind_to, by=by)
        prompt = msgspec.structs.replace(intent.prompt, by=by, busy="reject")
        receipt = await session.prompt(prompt)
        place = RunStart(receipt.turn_id or "", None)
        if intent.cancels_waiting or intent.history or intent.rewind_to is not NO_REWIND:
            return place, await read_thread(session, place)
        standing.feed(ev.TurnStarted(turn_id=place.turn_id))
        standing.feed(
            ev.UserMessage(
                turn_id=place.turn_id,
                message_id=receipt.message_id or prompt.message_id or "",
                content=prompt.content,
            )
        )
        return place, standing

    async def stop(self, thread_id: str, *, principal: str = "local") -> bool:
        """Cancel the running turn of a thread; False if there was none."""
        session = await self.hub.session(thread_id, principal=principal)
        return await session.cancel(by=f"agui:{principal}")


def _brought(told: wire.RunAgentInput) -> list[str]:
    """What tells a request from one under the same run id: CopilotKit answers in the run that was asked."""
    last = [message.id for message in told.messages[-1:]]
    return last + sorted(entry.interrupt_id for entry in told.resume or ())
