"""One AG-UI run: a window on a turn, from RUN_STARTED to its one terminal."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator
from typing import ClassVar

import msgspec

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.cursor import Cursor
from trunkline.errors import AlreadyAnswered, TrunklineError
from trunkline.frontends.agui.decoder import has_state, is_modern
from trunkline.frontends.agui.early_results import add_early_results, early_answers, early_results
from trunkline.frontends.agui.encoder import AguiEncoder
from trunkline.frontends.agui.history import RunStart, ThreadSnapshot, read_thread
from trunkline.frontends.agui.notices import explain_too_late, notice_message
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.agui.snapshots import clearing, fits_frame
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.codes import ErrorCode, code_for
from trunkline.session.session import Session
from trunkline.session.window import Window

__all__ = ["AguiReplay", "AguiRun"]

log = logging.getLogger("trunkline.agui")

Batch = tuple[Cursor | None, list[wire.AguiEvent]]


class AguiRun:
    """One run: iterate for batches of events; ``close`` when the client is gone."""

    whole: ClassVar[bool] = False
    """Whether the client is told everything, whatever it has."""

    def __init__(
        self,
        session: Session,
        told: wire.RunAgentInput,
        place: RunStart | None,
        options: AguiOptions,
        standing: ThreadSnapshot,
        *,
        run_id: str,
        front_end: str,
        sees_history: bool = True,
    ) -> None:
        """Look at a turn from a place on; without a place there is nothing left to show.

        ``standing`` is what was said before, which is told only to whom may see it.
        """
        self.session = session
        self._told = told
        self._place = place
        self._options = options
        self._run_id = run_id
        self._standing = standing
        self._front_end = front_end
        self.modern = is_modern(told)
        """Whether the client speaks 1.0 or later."""
        self._over = False
        self._sees_history = sees_history
        self._ahead = [] if place is None else early_results(told.messages, standing.conversation)
        add_early_results(standing, self._ahead)
        self._began = time.time()
        self._within = place is not None and place.after is not None
        starts = place is not None and place.after is None
        state = standing.state_before if sees_history else None
        if starts and has_state(told.state):
            state = told.state
        self._encoder = AguiEncoder(
            session.session_id,
            run_id,
            options,
            modern=self.modern,
            state=state,
            resumes=bool(told.resume),
        )

    async def __aiter__(self) -> AsyncGenerator[Batch]:
        """Give the run from its start to its one terminal."""
        try:
            yield None, self._encoder.begin(self._began, parent_run_id=self._told.parent_run_id)
            await self._load()
            if not self._within and (knowledge := self._knowledge()):
                yield None, knowledge
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
                announce=self._announce,
                holds=self._holds,
            )
            # Closed by name: one that is only dropped would still count as a reader for a while.
            async with contextlib.aclosing(aiter(window)) as batches:
                async for place, said in batches:
                    told = await self._with_snapshot(place, said)
                    # From here on the client may leave: whoever has seen the end need not stay for more.
                    self._over = isinstance(told[-1], wire.RunFinished | wire.RunError)
                    yield place, told
            self._over = True
        except TrunklineError as error:
            log.warning("a run of thread %s failed: %s", self.session.session_id, error)
            yield None, self._failed(str(error), code_for(error.code))
        except Exception:
            log.exception("a run of thread %s failed", self.session.session_id)
            told = "something went wrong in Trunkline; its log says what"
            yield None, self._failed(told, ErrorCode.INTERNAL_ERROR)

    def _failed(self, message: str, code: str) -> list[wire.AguiEvent]:
        self._over = True
        message = message if self._options.shows_error_messages else "the run failed"
        return self._encoder.fail(message, None if self._options.error_detail_level == "none" else code)

    async def _load(self) -> None:
        """Read the messages of the thread, if the client is told of them."""
        standing, options, modern = self._standing, self._options, self.modern
        if self._sees_history and (
            self.whole or standing.tells_messages(self._told, options, modern=modern, within=self._within)
        ):
            await standing.load(self.session, options, modern=modern)

    def _announce(self) -> list[wire.AguiEvent]:
        """Say what is open where the run begins; inside a turn, after all that was said before it."""
        announced = self._encoder.announce()
        if not self._sees_history:
            # Nothing takes back the arguments that this client has, so they must not be told again.
            kept: list[wire.AguiEvent] = [e for e in announced if not isinstance(e, wire.ToolCallArgs)]
            announced = kept
        said = self._knowledge(announced) + announced if self._within else announced
        # All that the client has sent is known by now: a long run need not hold its photos.
        self._told = msgspec.structs.replace(self._told, messages=[])
        return said

    def _holds(self, event: ev.TurnSuspended) -> bool:
        """Whether somebody still has to answer; results that came with the request do so by themselves."""
        known = self.session.open_questions
        questions = {key: known[key] for key in event.question_ids if key in known}
        answers = early_answers(self._ahead, questions, f"agui:{self.session.info.principal}")
        if answers:
            self.session.spawn(self._answer(answers))
        return len(answers) < len(questions)

    async def _answer(self, answers: tuple[Answer, ...]) -> None:
        # Somebody else may have been faster, and then the turn goes on all the same.
        with contextlib.suppress(AlreadyAnswered):
            await self.session.answer(*answers)

    def _knowledge(self, announced: list[wire.AguiEvent] | None = None) -> list[wire.AguiEvent]:
        if not self._sees_history:
            return []
        told, at = self._told, int(self._began * 1000)
        if not self._within and self._place is not None and has_state(told.state):
            # What the client says of the state counts from here on.
            told = msgspec.structs.replace(told, state=self._standing.conversation.state)
        return self._standing.opening(
            told, self._options, at, modern=self.modern, whole=self.whole, announced=announced
        )

    async def _with_snapshot(self, place: Cursor, said: list[wire.AguiEvent]) -> list[wire.AguiEvent]:
        """Before a client is asked, and where events cannot say what changed, let it know all there is."""
        last = said[-1]
        if not isinstance(last, wire.RunFinished | wire.RunError):
            return said
        asks = isinstance(last, wire.RunFinished) and (last.outcome or {}).get("type") == "interrupt"
        encoder = self._encoder
        if (
            not (asks or self._ahead or encoder.needs_snapshot or encoder.result_renamed)
            or not self._sees_history
        ):
            return said
        standing = await read_thread(self.session, RunStart("", place))
        add_early_results(standing, early_results(self._ahead, standing.conversation))
        await standing.load(self.session, self._options, modern=self.modern)
        messages = standing.messages(self._options, modern=self.modern)
        if not fits_frame(messages):
            return said
        told = [clearing(messages), messages] if encoder.result_renamed else [messages]
        snapshots = [wire.MessagesSnapshot(timestamp=last.timestamp, messages=one) for one in told]
        return [*said[:-1], *snapshots, last]

    def _nothing_left(self) -> list[wire.AguiEvent]:
        """End a run that came too late: the thread is free for the next message, and the client knows why."""
        self._over = True
        why = explain_too_late(self._told, self._standing.conversation) if self._sees_history else None
        reason = "too_late" if self._sees_history else "not_followed"
        finished = wire.RunFinished(
            timestamp=_now(),
            thread_id=self.session.session_id,
            run_id=self._run_id,
            outcome={"type": "success"},
            result={"stopReason": reason, **({"message": why} if why else {})},
        )
        if why is None:
            return [finished]
        told = notice_message(
            f"{self._run_id}:{reason}", reason, why, int(self._began * 1000), modern=self.modern
        )
        return [*told, finished]

    async def close(self) -> None:
        """Let go of the run; a turn that nobody follows any more is cancelled, if that is wanted."""
        if self._over or self._place is None or self._options.on_disconnect != "cancel":
            return
        turn_id = self._place.turn_id
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


def _now() -> int:
    return int(time.time() * 1000)
