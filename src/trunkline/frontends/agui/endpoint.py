"""The AG-UI endpoint: opens the runs of clients as windows on the turns of a session.

It knows sessions and events, not HTTP. ``open`` decides everything that can be refused, before a byte
is sent; the run it gives is iterated for events, and must be closed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable
from weakref import WeakValueDictionary

import msgspec

from trunkline import events as ev
from trunkline.errors import AlreadyAnswered, SessionBusy, SessionNotFound
from trunkline.frontends.agui.decoder import count_new_bytes, read_intent, read_prompt
from trunkline.frontends.agui.following import AguiFollower
from trunkline.frontends.agui.history import ThreadSnapshot, read_thread
from trunkline.frontends.agui.legacy_interrupts import ignores_question, with_resume
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.agui.rewind import last_seen_turn
from trunkline.frontends.agui.run import AguiReplay, AguiRun
from trunkline.frontends.agui.seen_turns import Pages
from trunkline.frontends.agui.steering import SteeringRun, steering_key, wants_to_steer
from trunkline.intents import NO_REWIND, AnswerQuestions, Intent, StartTurn
from trunkline.protocols.agui import wire
from trunkline.session.hub import Hub
from trunkline.session.imported_history import import_client_history
from trunkline.session.receipts import Receipt
from trunkline.session.run_start import RunStart, find_run_start
from trunkline.session.session import Session
from trunkline.session.turn_starters import TurnStarters

_REMEMBERED_RUNS = 1024

_Entered = tuple[RunStart | None, ThreadSnapshot]
"""Where a run begins, and the thread before that; no start: the run has nothing to show."""


class _RunKey(msgspec.Struct, frozen=True):
    """Identifies a request: one that is sent again opens the same run."""

    principal: str
    thread_id: str
    run_id: str
    answers: tuple[str, ...]
    """The last message and the interrupts it answers: CopilotKit answers under the run id that asked."""

    @classmethod
    def of(cls, request: wire.RunAgentInput, principal: str, thread_id: str, run_id: str) -> _RunKey:
        last = [message.id for message in request.messages[-1:]]
        answered = sorted(entry.interrupt_id for entry in request.resume or ())
        return cls(principal, thread_id, run_id, (*last, *answered))

    @property
    def by(self) -> str:
        return f"agui:{self.principal}"


class AguiEndpoint:
    """Opens runs on the sessions of one agent."""

    def __init__(self, hub: Hub, options: AguiOptions | None = None) -> None:
        self.hub = hub
        self.options = options or AguiOptions()
        self._runs: OrderedDict[_RunKey, RunStart] = OrderedDict()
        # A lock lives as long as somebody holds it or waits for it.
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self._starters = TurnStarters()
        self.pages = Pages()

    async def open(
        self,
        request: wire.RunAgentInput,
        *,
        principal: str = "local",
        options: AguiOptions | None = None,
        front_end: str = "agui",
        starter: str | None = None,
        page: str | None = None,
        check_new: Callable[[int], None] | None = None,
    ) -> AguiRun:
        """Begin a run, or refuse it: InvalidCommand, SessionBusy, or an error of the agent.

        ``page`` is the name that the client has given itself, if it has. ``check_new`` gets the number of
        bytes of the request that its thread does not have yet, and may refuse it. ``starter`` is the name of
        a client that sees only the turns it started; None sees the whole thread.
        """
        chosen = options or self.options
        thread_id = chosen.thread_id_override or request.thread_id
        run_id = chosen.run_id_override or request.run_id
        lock = self._locks.setdefault((principal, thread_id), asyncio.Lock())
        async with lock:
            session = await self._session(thread_id, principal)
            await session.own()
            request = with_resume(request, session.open_questions, session.question_ids)
            key = _RunKey.of(request, principal, thread_id, run_id)
            steers = wants_to_steer(request)
            if steers and (receipt := await self._steer(session, request, key, starter, check_new)):
                return SteeringRun(
                    session,
                    request,
                    receipt,
                    chosen,
                    run_id=run_id,
                    front_end=front_end,
                    sees_history=starter is None,
                )
            drops = chosen.import_history == "drop"
            start, thread = await self._enter(
                session,
                request,
                key,
                starter,
                page,
                drops_history=drops,
                repeats_question=chosen.interrupts == "event",
                check_new=check_new,
            )
        return AguiRun(
            session,
            request,
            start,
            chosen,
            thread,
            run_id=run_id,
            front_end=front_end,
            sees_history=starter is None,
        )

    async def open_replay(
        self,
        request: wire.RunAgentInput,
        *,
        principal: str = "local",
        options: AguiOptions | None = None,
        front_end: str = "agui",
        page: str | None = None,
    ) -> AguiReplay | None:
        """Show a thread to a client that comes back to it; None for a thread that does not exist.

        A page that was reloaded knows nothing. It gets everything before the present run as one snapshot, and
        the present run as events. So it ends where a client that never left is: in the middle of a text, at a
        question, or at the end.
        """
        chosen = options or self.options
        thread_id = chosen.thread_id_override or request.thread_id
        try:
            session = await self.hub.session(thread_id, principal=principal)
        except SessionNotFound:
            return None
        await session.own()
        await session.wait_for_ending_turn()
        start = await find_run_start(session)
        thread = await read_thread(session, start)
        thread.is_shown_whole = True
        if turns := thread.conversation.turns:
            self.pages.visit(principal, thread_id, page, is_new=False).note_shown(None, turns[-1].turn_id)
        run_id = chosen.run_id_override or request.run_id
        return AguiReplay(session, request, start, chosen, thread, run_id=run_id, front_end=front_end)

    async def follow(
        self, request: wire.RunAgentInput, *, principal: str = "local", options: AguiOptions | None = None
    ) -> AguiFollower | None:
        """Show a thread, and every run that comes in it; None for a thread that does not exist.

        The runs have the id of the request, and from the second on their number behind it.
        """

        async def open_next(number: int) -> AguiReplay | None:
            again = msgspec.structs.replace(request, run_id=f"{request.run_id}:{number}")
            return await self.open_replay(again, principal=principal, options=options)

        first = await self.open_replay(request, principal=principal, options=options)
        return None if first is None else AguiFollower(first, open_next)

    async def stop(self, thread_id: str, *, principal: str = "local") -> bool:
        """Cancel the running turn of a thread; False if there was none."""
        session = await self.hub.session(thread_id, principal=principal)
        return await session.cancel(by=f"agui:{principal}")

    async def _session(self, thread_id: str, principal: str) -> Session:
        try:
            return await self.hub.session(thread_id, principal=principal)
        except SessionNotFound:
            with contextlib.suppress(SessionBusy):
                return await self.hub.create(thread_id, principal=principal)
            return await self.hub.session(thread_id, principal=principal)

    async def _steer(
        self,
        session: Session,
        request: wire.RunAgentInput,
        key: _RunKey,
        starter: str | None,
        check_new: Callable[[int], None] | None,
    ) -> Receipt | None:
        """Give the message of a run to the running turn; None without one, or if the run is known."""
        prompt_key = steering_key(request, key.run_id)
        if (known := session.receipt(prompt_key)) is not None:
            return known
        await session.wait_for_ending_turn()
        if not session.busy or session.open_questions or key in self._runs:
            return None
        self._starters.check(session.running_turn_id or "", starter)
        prompt = read_prompt(request)
        if check_new is not None:
            check_new(count_new_bytes(request, (await read_thread(session)).has_id))
        return await session.prompt(
            msgspec.structs.replace(
                prompt, key=prompt_key, by=key.by, busy="steer", step_kinds=self.options.step_kinds
            )
        )

    # -- carrying out a request --------------------------------------------------------------------

    async def _enter(
        self,
        session: Session,
        request: wire.RunAgentInput,
        key: _RunKey,
        starter: str | None,
        page_name: str | None,
        *,
        drops_history: bool,
        repeats_question: bool,
        check_new: Callable[[int], None] | None,
    ) -> _Entered:
        """Do what the request means."""
        if (again := self._runs.get(key)) is not None:
            self._starters.check(again.turn_id, starter)
            return again, await read_thread(session, again)
        await session.wait_for_ending_turn()
        thread = await read_thread(session)
        if (turn_id := thread.turn_of(request)) is not None:
            self._starters.check(turn_id, starter)
            again = RunStart(turn_id, None)
            self._remember(key, again)
            return again, await read_thread(session, again)
        if check_new is not None:
            check_new(count_new_bytes(request, thread.has_id))
        if repeats_question and starter is None and ignores_question(request, session.open_questions):
            start, thread = await self._follow(session, key, thread, starter)
            thread.is_shown_whole = True
            return start, thread
        outline = thread.thread_outline(session.question_ids)
        page = self.pages.visit(key.principal, key.thread_id, page_name, is_new=outline.last is None)
        read = request
        if drops_history and outline.last is None:
            # Of a thread that is new here, only the last message counts.
            read = msgspec.structs.replace(request, messages=request.messages[-1:])
        intent = read_intent(read, outline, dict(session.open_questions), by=key.by, page=page)
        seen = last_seen_turn(request.messages, outline)
        start, thread = await self._carry_out(session, request, key, starter, intent, thread)
        last = None if outline.last is None else outline.last.turn_id
        page.note_shown(seen, last if start is None else start.turn_id)
        return start, thread

    async def _carry_out(
        self,
        session: Session,
        request: wire.RunAgentInput,
        key: _RunKey,
        starter: str | None,
        intent: Intent,
        thread: ThreadSnapshot,
    ) -> _Entered:
        if isinstance(intent, AnswerQuestions):
            # Where the snapshot ends, not where the agent is by now: it may have gone on talking.
            start = RunStart(session.last_turn_id or "", thread.read_up_to)
            if not request.resume:
                self._starters.check(start.turn_id, starter)
            try:
                await session.answer(*intent.answers)
            except AlreadyAnswered:
                return await self._follow(session, key, thread, starter)
            for answer in intent.answers:
                # The client has these results in its messages already.
                thread.add_answer(answer)
        elif isinstance(intent, StartTurn):
            start, thread = await self._start(session, intent, thread, key.by)
            self._starters.note(start.turn_id, starter)
        else:
            return await self._follow(session, key, thread, starter)
        if not self._starters.may_see(start.turn_id, starter):
            # To answer is not to follow: what comes of the answers is for the client that started the turn.
            return None, thread
        self._remember(key, start)
        return start, thread

    async def _follow(
        self, session: Session, key: _RunKey, thread: ThreadSnapshot, starter: str | None
    ) -> _Entered:
        """Another client answered: show the turn that goes on, from those answers."""
        start = await find_run_start(session)
        if start is not None:
            self._starters.check(start.turn_id, starter)
            self._remember(key, start)
            thread = await read_thread(session, start)
        return start, thread

    async def _start(
        self, session: Session, intent: StartTurn, thread: ThreadSnapshot, by: str
    ) -> tuple[RunStart, ThreadSnapshot]:
        if intent.cancels_waiting:
            await session.cancel(by=by)
        if session.busy:
            raise SessionBusy("a run of this thread is on its way: wait for it, or stop it first")
        if intent.history and not session.stored_seq:
            await import_client_history(session, intent.history)
        if intent.rewind_to is not NO_REWIND:
            await session.rewind(intent.rewind_to, by=by)
        prompt = msgspec.structs.replace(
            intent.prompt, by=by, busy="reject", step_kinds=self.options.step_kinds
        )
        receipt = await session.prompt(prompt)
        start = RunStart(receipt.turn_id or "", None)
        if intent.cancels_waiting or intent.history or intent.rewind_to is not NO_REWIND:
            return start, await read_thread(session, start)
        thread.feed(ev.TurnStarted(turn_id=start.turn_id))
        thread.feed(
            ev.UserMessage(
                turn_id=start.turn_id,
                message_id=receipt.message_id or prompt.message_id or "",
                content=prompt.content,
            )
        )
        return start, thread

    def _remember(self, key: _RunKey, start: RunStart) -> None:
        self._runs[key] = start
        while len(self._runs) > _REMEMBERED_RUNS:
            self._runs.popitem(last=False)
