"""The run of ``trunkline exec``: one prompt in one session, followed until its turn has settled.

A timeout, Ctrl-C, SIGTERM, a closed window and an output without a reader all do the same: they cancel the
turn and wait until it has settled, so that nothing is left running and the journal is complete.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from trunkline import events as ev
from trunkline.cli.exec.approvals import ExecApprovals
from trunkline.cli.exec.output import Printer
from trunkline.cli.exec.person import Ask, Person
from trunkline.cli.signals import handle_signals
from trunkline.cli.terminal.spinner import shown_waiting
from trunkline.commands import Answer, Prompt
from trunkline.errors import InvalidCommand, SessionBusy, SessionError
from trunkline.safe_text import one_line
from trunkline.session.session import Receipt, Session
from trunkline.session.stream.reader import Reader
from trunkline.transports.process.own_exit_processes import end_descendants

FAILED, TIMED_OUT, DENIED, INTERRUPTED, READER_GONE = 1, 3, 5, 130, 141

_ENDED = ("completed", "failed", "denied", "cancelled")


class ExecRun:
    """Sends a prompt, prints its turn and answers its questions."""

    def __init__(
        self, session: Session, printer: Printer, approvals: ExecApprovals, ask: Ask | None = None
    ) -> None:
        """Prepare; ``run`` begins. ``ask`` puts questions to a person, if one is there."""
        self._session = session
        self._printer = printer
        self._approvals = approvals
        self._person = None if ask is None else Person(ask, session.answer)
        self._stopped: int | None = None
        self._starting: asyncio.Task[Receipt] | None = None
        self._cancelling: asyncio.Task[None] | None = None
        self._turn_id: str | None = None
        self._heard_at: float | None = None
        self._open_calls: dict[str, str] = {}
        self._sign_of_life = ExitStack()
        self.waited_for: str | None = None
        """What the turn waited for when its time was over."""

    async def run(self, prompt: str | None, timeout: float | None = None) -> int:
        """Give the exit code of the turn; without a prompt, of the one that an earlier process left open."""
        loop = asyncio.get_running_loop()
        timer = None if timeout is None else loop.call_later(timeout, self._time_out)
        try:
            with handle_signals(self._interrupt):
                return await self._run(prompt)
        finally:
            self._sign_of_life.close()
            if timer is not None:
                timer.cancel()
            if self._person is not None:
                await self._person.close()
            if self._cancelling is not None:
                await self._cancelling

    async def _run(self, prompt: str | None) -> int:
        await self._printer.begin(self._session.session_id)
        code = await self._finish_open_turn()
        if code is None and prompt is None:
            raise InvalidCommand(f"no turn waits in session {self._session.session_id}: give a PROMPT")
        if prompt is None or code:
            return code or 0
        return await self._prompt(prompt)

    async def _finish_open_turn(self) -> int | None:
        """Go on with a turn that an earlier process left open; None if there is none."""
        session = self._session
        if not session.busy:
            return None
        if not await session.own():
            raise SessionBusy(
                "a turn is running in this session, in another process: wait for it, follow it with "
                f"`{self._chat}`, or end it with `trunkline sessions cancel {session.session_id}`"
            )
        if (turn_id := session.running_turn_id) is None:
            return None
        conversation = await session.history()
        waiting = [state.asked for state in conversation.questions.values() if state.answered is None]
        if waiting and self._person is None and self._approvals.approve is None:
            raise SessionBusy(
                f"this session waits for an answer to {one_line(waiting[0].question.message, 200)!r}: answer "
                f"in a terminal (`{self._chat}`), or with --approve all, reads or none"
            )
        self._printer.go_on(conversation)
        async with session.follow() as reader:
            self._turn_id = turn_id
            for call in conversation.calls.values():
                self._approvals.answer_to(ev.ToolCall(call_id=call.call_id, name=call.name, kind=call.kind))
            answers = [answer for asked in waiting if (answer := self._approvals.answer_to(asked))]
            if self._person is not None:
                self._person.begin(conversation)
            await self._answer(answers)
            return await self._follow(reader, turn_id)

    @property
    def _chat(self) -> str:
        """The command that asks a person about this session."""
        target = shlex.quote(self._session.info.target)
        return f"trunkline chat {target} --session {self._session.session_id}"

    async def _prompt(self, prompt: str) -> int:
        async with self._session.follow() as reader:
            if self._stopped is not None:
                return self._stopped
            self._sign_of_life.enter_context(shown_waiting("working · Ctrl-C stops"))
            # With busy="reject" the receipt names our turn at once.
            command = Prompt.of(prompt, busy="reject", by="exec")
            self._starting = asyncio.create_task(self._session.prompt(command))
            try:
                self._turn_id = (await self._starting).turn_id
            except asyncio.CancelledError:
                if self._stopped is None:
                    raise
                return self._stopped
            except SessionBusy as error:
                raise SessionBusy(f"{error}; if it waits for an answer, `{self._chat}` asks you") from None
            return await self._follow(reader, self._turn_id)

    async def _follow(self, reader: Reader, turn_id: str | None) -> int:
        """Show a turn to its end, and answer what it asks; give its exit code."""
        terminal: ev.TurnFinished | ev.TurnFailed | None = None
        while terminal is None:
            events = [e.event for e in await reader.next() if e.event.turn_id in (None, turn_id)]
            self._note(events)
            answers = [answer for event in events if (answer := self._approvals.answer_to(event))]
            if self._person is not None:
                await self._person.withdraw(events)
            await self._printer.show(events)
            if self._person is not None:
                for event in events:
                    self._person.follow(event)
            ends = (e for e in events if isinstance(e, ev.TurnFinished | ev.TurnFailed))
            terminal = next(ends, None)
            if terminal is None:
                await self._answer(answers)
        self._turn_id = None
        await self._printer.end(turn_id, self._approvals.denied)
        return self._code(terminal)

    async def _answer(self, answers: Sequence[Answer]) -> None:
        for answer in answers:
            # Another client may have answered first, or the turn is being cancelled.
            with suppress(SessionError, InvalidCommand):
                await self._session.answer(answer)

    def _code(self, terminal: ev.TurnFinished | ev.TurnFailed) -> int:
        if self._stopped is not None:
            return self._stopped
        if isinstance(terminal, ev.TurnFailed):
            return FAILED
        if self._approvals.denied:
            return DENIED  # Also when the agent then stopped by itself: Codex calls its turn cancelled.
        return FAILED if terminal.stop_reason == "cancelled" else 0

    def _note(self, events: Sequence[ev.AnyEvent]) -> None:
        """Remember what the turn does, for a time that is over."""
        for event in events:
            if isinstance(event, ev.ToolCall):
                self._open_calls[event.call_id] = event.title or event.name
            elif isinstance(event, ev.ToolUpdate) and event.status in _ENDED:
                self._open_calls.pop(event.call_id, None)
            if not isinstance(event, ev.TurnStarted | ev.UserMessage) and event.turn_id is not None:
                self._sign_of_life.close()
                self._heard_at = asyncio.get_running_loop().time()

    # -- stopping --

    def _time_out(self) -> None:
        if self._open_calls:
            self.waited_for = f"the tool call {next(reversed(self._open_calls.values()))!r}"
        elif self._heard_at is None:
            self.waited_for = "the agent, which has said nothing yet; it may not reach its model"
        else:
            silent = asyncio.get_running_loop().time() - self._heard_at
            self.waited_for = f"the agent, which had last said something {silent:.0f} s before"
        self.stop(TIMED_OUT)

    def stop(self, code: int) -> None:
        """Cancel the turn; ``run`` goes on until it has settled, and gives this exit code."""
        if self._stopped is not None:
            return
        self._stopped = code
        if self._turn_id is not None:
            self._cancelling = asyncio.create_task(self._cancel(self._turn_id))
        elif self._starting is not None:
            self._starting.cancel()

    async def _cancel(self, turn_id: str) -> None:
        with suppress(SessionError):
            await self._session.cancel(turn_id, by="exec")

    def _interrupt(self, number: signal.Signals) -> None:
        if number is signal.SIGINT and self._stopped is not None:
            # The second Ctrl-C ends at once; the journal settles the turn when the session is opened again.
            # A window that closes sends its signal twice, so others have patience.
            self._sign_of_life.close()  # It hides the terminal's cursor.
            end_descendants()
            os._exit(INTERRUPTED)
        self.stop(128 + number)
