"""One AG-UI run: a window on a turn, from RUN_STARTED to its one terminal."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator

import msgspec

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.cursor import Cursor
from trunkline.errors import AlreadyAnswered, TrunklineError
from trunkline.frontends.agui.decoder import has_state, is_modern
from trunkline.frontends.agui.early_results import add_early_results, early_answers, find_early_results
from trunkline.frontends.agui.encoder import AguiEncoder
from trunkline.frontends.agui.history import ThreadSnapshot, read_thread
from trunkline.frontends.agui.late_answers import explain_too_late
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.agui.snapshot_size import clearing, fits_frame
from trunkline.frontends.agui.substitute_messages import notice_message
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.codes import ErrorCode, code_for
from trunkline.session.run_start import RunStart
from trunkline.session.session import Session
from trunkline.session.window import Window

log = logging.getLogger("trunkline.agui")

Events = list[wire.AguiEvent]
Batch = tuple[Cursor | None, Events]


class AguiRun:
    """One run: iterate for batches of events; ``close`` when the client is gone."""

    def __init__(
        self,
        session: Session,
        request: wire.RunAgentInput,
        start: RunStart | None,
        options: AguiOptions,
        thread: ThreadSnapshot,
        *,
        run_id: str,
        front_end: str,
        sees_history: bool = True,
    ) -> None:
        """Show a turn from ``start``; without one there is nothing left to show.

        ``thread`` is the thread before that, which only a client that ``sees_history`` gets.
        """
        self.session = session
        self._request = request
        self._start = start
        self._options = options
        self._run_id = run_id
        self._thread = thread
        self._front_end = front_end
        self.modern = is_modern(request)
        """Whether the client speaks 1.0 or later."""
        self._over = False
        self._sees_history = sees_history
        early = [] if start is None else find_early_results(request.messages, thread.conversation)
        self._early_results = early
        add_early_results(thread, early)
        self._began = time.time()
        self._inside_turn = start is not None and start.after is not None
        state = thread.state_before if sees_history else None
        if start is not None and not self._inside_turn and has_state(request.state):
            state = request.state
        self._encoder = AguiEncoder(
            session.session_id, run_id, options, modern=self.modern, state=state, resumes=bool(request.resume)
        )

    async def __aiter__(self) -> AsyncGenerator[Batch]:
        """Give the run from its start to its one terminal."""
        try:
            yield None, self._encoder.begin(self._began, parent_run_id=self._request.parent_run_id)
            await self._load_messages()
            if not self._inside_turn and (opening := self._opening()):
                yield None, opening
            if self._start is None:
                yield None, self._nothing_to_show()
                return
            window = Window(
                self.session,
                self._encoder,
                turn_id=self._start.turn_id,
                run_id=self._run_id,
                front_end=self._front_end,
                after=self._start.after,
                ends_on_suspend=True,
                announce=self._announce,
                holds=self._waits_for_client,
            )
            # Closed by name: one that is only dropped would still count as a reader for a while.
            async with contextlib.aclosing(aiter(window)) as batches:
                async for cursor, events in batches:
                    sent = await self._with_snapshot(cursor, events)
                    # From here on the client may leave: one that has seen the end need not stay for more.
                    self._over = isinstance(sent[-1], wire.RunFinished | wire.RunError)
                    yield cursor, sent
            self._over = True
        except TrunklineError as error:
            log.warning("a run of thread %s failed: %s", self.session.session_id, error)
            yield None, self._fail(str(error), code_for(error.code))
        except Exception:
            log.exception("a run of thread %s failed", self.session.session_id)
            message = "something went wrong in Trunkline; its log says what"
            yield None, self._fail(message, ErrorCode.INTERNAL_ERROR)

    def _fail(self, message: str, code: str) -> Events:
        self._over = True
        message = message if self._options.shows_error_messages else "the run failed"
        return self._encoder.fail(message, None if self._options.error_detail_level == "none" else code)

    # -- what the client has to know first ---------------------------------------------------------

    async def _load_messages(self) -> None:
        """Read the messages of the thread, if the client gets them."""
        thread, options, modern = self._thread, self._options, self.modern
        if self._sees_history and (
            thread.is_shown_whole
            or thread.sends_messages(self._request, options, modern=modern, inside_turn=self._inside_turn)
        ):
            await thread.load(self.session, options, modern=modern)

    def _announce(self) -> Events:
        """Give what is open where the run begins; inside a turn, after everything before it."""
        announced = self._encoder.announce()
        if not self._sees_history:
            # This client has the arguments, and nothing takes them back: they must not be sent again.
            kept: Events = [event for event in announced if not isinstance(event, wire.ToolCallArgs)]
            announced = kept
        events = self._opening(announced) + announced if self._inside_turn else announced
        # The messages of the request have been read: a long run need not hold its photos.
        self._request = msgspec.structs.replace(self._request, messages=[])
        return events

    def _opening(self, announced: Events | None = None) -> Events:
        if not self._sees_history:
            return []
        request, at = self._request, int(self._began * 1000)
        if not self._inside_turn and self._start is not None and has_state(request.state):
            # The state that the client sent counts from here on.
            request = msgspec.structs.replace(request, state=self._thread.conversation.state)
        return self._thread.opening(
            request,
            self._options,
            at,
            modern=self.modern,
            sends_everything=self._thread.is_shown_whole,
            announced=announced,
        )

    # -- questions and the end ---------------------------------------------------------------------

    def _waits_for_client(self, event: ev.TurnSuspended) -> bool:
        """Whether a question is left that no result in the request answers."""
        known = self.session.open_questions
        questions = {key: known[key] for key in event.question_ids if key in known}
        answers = early_answers(self._early_results, questions, f"agui:{self.session.info.principal}")
        if answers:
            self.session.spawn(self._answer(answers))
        return len(answers) < len(questions)

    async def _answer(self, answers: tuple[Answer, ...]) -> None:
        # Another client may have been faster, and then the turn goes on all the same.
        with contextlib.suppress(AlreadyAnswered):
            await self.session.answer(*answers)

    async def _with_snapshot(self, cursor: Cursor, events: Events) -> Events:
        """Add the messages where the client needs them: when one joined the turn, or before the run ends.

        "At the moment of interrupt, the agent must emit any state required for resume via StateSnapshot and
        MessagesSnapshot events before the RunFinished event that carries the interrupt."
        (https://docs.ag-ui.com/concepts/interrupts#state-at-the-interrupt-boundary) And some changes have no
        event: the arguments of a call that were edited, a result that got another id.
        """
        last, encoder = events[-1], self._encoder
        ends = isinstance(last, wire.RunFinished | wire.RunError)
        if not self._sees_history or not (ends or encoder.has_joined):
            return events
        asks = isinstance(last, wire.RunFinished) and (last.outcome or {}).get("type") == "interrupt"
        changed = encoder.has_joined or encoder.needs_snapshot or encoder.result_renamed
        if not (asks or self._early_results or changed):
            return events
        thread = await read_thread(self.session, RunStart("", cursor))
        add_early_results(thread, find_early_results(self._early_results, thread.conversation))
        await thread.load(self.session, self._options, modern=self.modern)
        messages = thread.messages(self._options, modern=self.modern)
        if not fits_frame(messages):
            return events
        sent = [clearing(messages), messages] if encoder.result_renamed else [messages]
        snapshots = [wire.MessagesSnapshot(timestamp=last.timestamp, messages=one) for one in sent]
        if not ends:
            encoder.note_snapshot()
            return [*events, *snapshots[-1:]]
        return [*events[:-1], *snapshots, last]

    def _nothing_to_show(self) -> Events:
        """End a run that came too late: the thread is free for the next message, and the client knows why."""
        self._over = True
        why = explain_too_late(self._request, self._thread.conversation) if self._sees_history else None
        reason = "too_late" if self._sees_history else "not_followed"
        result = {"stopReason": reason, **({"message": why} if why else {})}
        if why is None:
            return [self._finished(result)]
        at, message_id = int(self._began * 1000), f"{self._run_id}:{reason}"
        return [*notice_message(message_id, reason, why, at, modern=self.modern), self._finished(result)]

    def _finished(self, result: dict[str, str] | None) -> wire.RunFinished:
        return wire.RunFinished(
            timestamp=int(time.time() * 1000),
            thread_id=self.session.session_id,
            run_id=self._run_id,
            outcome={"type": "success"},
            result=result,
        )

    async def close(self) -> None:
        """Detach the client; a turn without followers is cancelled, if the options say so."""
        if self._over or self._start is None or self._options.on_disconnect != "cancel":
            return
        turn_id = self._start.turn_id
        if self.session.running_turn_id != turn_id or self.session.followers:
            return
        if self._options.disconnect_grace:
            loop = asyncio.get_running_loop()
            loop.call_later(self._options.disconnect_grace, self._cancel_unless_followed, turn_id)
        else:
            self._cancel_unless_followed(turn_id)

    def _cancel_unless_followed(self, turn_id: str) -> None:
        if not self.session.followers:
            self.session.cancel_soon(turn_id, by="agui", reason="the client left")


class AguiReplay(AguiRun):
    """A run that begins with the whole thread before it."""

    @property
    def begins_after(self) -> Cursor | None:
        """Up to where the thread was read before the run; None: it was empty."""
        return self._thread.read_up_to

    def _nothing_to_show(self) -> Events:
        self._over = True
        return [self._finished(None)]
