"""A session: owns the running turn, the open questions and the stream; outlives every connection.

The process that holds the lease runs the turns. Every other process follows the journal and posts its
commands there; the owner carries them out and stores what became of each.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine, Sequence
from functools import cached_property, partial
from typing import Any

import msgspec

from trunkline import events as ev
from trunkline.agents.optional_methods import AgentHooks
from trunkline.commands import Answer, Cancel, Command, HandOver, Prompt, Rename, Rewind, SetConfig
from trunkline.cursor import Entry
from trunkline.errors import InvalidCommand, SessionBusy, SessionClosed, TrunklineError
from trunkline.grammar import Phase
from trunkline.journal import SessionInfo
from trunkline.json_patch import copy_json
from trunkline.options import choose
from trunkline.session.background_tasks import BackgroundTasks
from trunkline.session.base_session import BaseSession, SessionHub
from trunkline.session.context import SessionView
from trunkline.session.history.snapshots import Snapshots
from trunkline.session.ids import new_id
from trunkline.session.owners import Ownership
from trunkline.session.questions import named
from trunkline.session.receipts import Receipt
from trunkline.session.remote_commands import RemoteCommands
from trunkline.session.titles import SessionTitle
from trunkline.session.turns.out_of_turn import OutOfTurnEvents, begin_agent_turn
from trunkline.session.turns.prompt_queue import PromptQueue
from trunkline.session.turns.recovery import recover_turn
from trunkline.session.turns.steering import Steering
from trunkline.session.turns.turn import Turn
from trunkline.session.unfollowed_turns import FollowerWatch
from trunkline.session.view import Run
from trunkline.session.workspace_guard import WorkspaceGuard

__all__ = ["Receipt", "Session"]

log = logging.getLogger("trunkline.session")


class Session(BaseSession):
    """One conversation, with or without a connected client."""

    def __init__(self, hub: SessionHub, info: SessionInfo, view: SessionView) -> None:
        """Made by the hub; ``open`` brings it up to date."""
        super().__init__(hub, info, view)
        self.may_run = hub.may_run(info)
        """Whether this process has the session's agent."""
        self.turn: Turn | None = None
        self.tasks = BackgroundTasks(f"session {info.session_id}")
        self.last_used_at = time.monotonic()
        """When a caller last asked the hub for it."""
        self.snapshots = Snapshots(self.event_stream, self.open_state, self.tasks.keep)
        self._queue = PromptQueue(self.open_state.queue, hub.settings.queue_limit, self.emit)
        self.steering = Steering(self, self._queue)
        self.title = SessionTitle(self)
        self._rewinding = asyncio.Lock()
        self._commands = 0  # How many are being carried out here.
        self._closing: asyncio.Task[None] | None = None
        view.options, view.commands = hub.agent.card.options, hub.agent.card.commands
        self._out_of_turn = OutOfTurnEvents(
            view, hub.agent, emit=self._emit_out_of_turn, claim=self.own, spawn=self.spawn
        )
        self.hooks = AgentHooks(
            hub.agent,
            view,
            target=info.target,
            prepare=hub.prepare_agent,
            before_open=self._before_open,
            after_open=self._out_of_turn.announce,
        )
        view.connect(
            self._out_of_turn.emit,
            partial(begin_agent_turn, self),
            partial(hub.journal.keep, self.key),
            hub.settings.keep_limit,
        )
        view.guard = WorkspaceGuard(self.permissions, self._out_of_turn.record)
        self.event_stream.on_applied = self._apply_entry
        self.event_stream.on_turn_started = self.open_state.begin
        self.event_stream.on_failed = self.fail
        self.event_stream.on_followers_changed = self._followers_changed
        self.questions.on_expired = self._question_expired
        self._follower_watch = FollowerWatch(hub.settings.abandon_after, self._cancel_unfollowed)
        self.ownership = Ownership(self, self.event_stream, self.hooks, hub, may_run=self.may_run)

    @cached_property
    def released(self) -> asyncio.Event:
        """Set once a closed session holds nothing any more."""
        return asyncio.Event()

    @cached_property
    def remote(self) -> RemoteCommands:
        """The commands that go to another process or come from one; most sessions never have any."""
        return RemoteCommands(
            self.hub.journal,
            self.info,
            self.settings,
            may_run=self.may_run,
            own=self.own,
            lease=lambda: None if self.closed else self.event_stream.lease,
            carry_out=self.carry_out,
            hand_over=self.ownership.hand_over,
            journal_changed=self.hub.changed,
            spawn=self.spawn,
        )

    @property
    def busy(self) -> bool:
        """Whether a turn is running or suspended, here or in another process."""
        return self.turn is not None or super().busy

    @property
    def waits_for_answers(self) -> bool:
        """Whether the turn began in an earlier process, and goes on once its questions are answered."""
        return self.turn is not None and self.turn.waits_for_answers

    @property
    def idle(self) -> bool:
        """Whether nothing runs here and nobody reads."""
        return not (self._has_work or self.tasks or self.ownership.is_claiming or self.event_stream.readers)

    @property
    def can_hand_over(self) -> bool:
        """Whether nothing runs, waits or begins here, so that another process may own the session."""
        return not (self.closed or self._commands or self._has_work)

    @property
    def _has_work(self) -> bool:
        return bool(self.busy or self._queue or self.hooks.is_opening or self._rewinding.locked())

    def runs_prompt(self, key: str) -> bool:
        """Whether the turn that runs here is that of the prompt with this key."""
        return self.turn is not None and self.turn.prompt.key == key

    async def open(self) -> None:
        """Read what the journal knows: the newest snapshot, and what came after it."""
        await self.snapshots.load()
        await self.event_stream.catch_up()

    # -- commands ----------------------------------------------------------------------------------

    async def answer(self, *answers: Answer) -> None:
        """Answer questions, all of them or none; raises AlreadyAnswered when another client was first."""
        self.check_open()
        if await self.own():
            await self._answer(answers)
            await self.durable()
        else:
            for answer in answers:
                await self.remote.delegate(answer)

    async def submit(self, command: Command) -> dict[str, Any]:
        """Carry a command out, here or in the process that owns the session."""
        self.check_open()
        if await self.own():
            return await self.carry_out(command)
        if isinstance(command, Rename) and not self.may_run and await self.title.rename_at_rest(command):
            return {}
        return await self.remote.delegate(command)

    async def carry_out(self, command: Command) -> dict[str, Any]:
        """Carry a command out in this process, which owns the session; what comes of it is durable."""
        self.check_open()
        self._commands += 1
        try:
            return await self._carry_out(command)
        finally:
            self._commands -= 1

    async def _carry_out(self, command: Command) -> dict[str, Any]:
        result: dict[str, Any] = {}
        if isinstance(command, Prompt):
            result = msgspec.to_builtins(await self._prompt(command))
        elif isinstance(command, Answer):
            await self._answer((command,))
        elif isinstance(command, Cancel):
            result = {"cancelled": await self._cancel(command)}
        elif isinstance(command, SetConfig):
            await self._set_config(command)
        elif isinstance(command, Rewind):
            await self._rewind(command)
        elif isinstance(command, Rename):
            self.title.rename(command)
        elif not isinstance(command, HandOver):  # This process has the session already.
            self._queue.discard(command.prompt_id, "withdrawn")
        await self.durable()
        await self.title.written()  # A client that sees the title finds it in the list.
        return result

    # -- prompts and turns -------------------------------------------------------------------------

    async def _prompt(self, prompt: Prompt) -> Receipt:
        prompt_id = prompt.key or new_id("prompt")
        await self.prepare()
        await self.wait_for_ending_turn()
        await self.wait_for_rewind()
        self.check_open()
        known = self.receipts.by_prompt.get(prompt_id)
        if known is not None:
            return known
        if (shortage := self.hub.journal.shortage()) is not None:
            # Refused before the agent works for an answer that could not be stored.
            raise shortage
        busy = prompt.busy or self.settings.busy
        if self.turn is not None and busy == "interrupt":
            await self._cancel_turn(self.turn, prompt.by, "a new prompt took its place")
            await self.wait_for_rewind()
        if self.turn is not None and busy == "steer":
            known = await self.steering.offer(prompt_id, prompt)
            if known is not None:
                return known
        if self.turn is not None:
            if busy not in ("queue", "steer"):
                raise SessionBusy("a turn is running in this session: wait for it or cancel it first")
            self._queue.add(prompt_id, msgspec.structs.replace(prompt, busy=busy))
            return self.receipts.remember(Receipt(prompt_id=prompt_id))
        return self._start(prompt_id, prompt)

    def _start(self, prompt_id: str, prompt: Prompt) -> Receipt:
        self.check_open()  # The journal may have failed while another turn was stopped for this one.
        turn_id = new_id("turn")
        message_id = prompt.message_id or f"{turn_id}.0"
        self.emit(ev.TurnStarted(turn_id=turn_id, prompt_id=prompt_id, run_id=prompt.run_id))
        self.emit(
            ev.UserMessage(turn_id=turn_id, message_id=message_id, content=prompt.content, meta=prompt.meta)
        )
        if self.view.take_state(prompt.state):
            self.emit(ev.StateReplaced(turn_id=turn_id, state=self.view.state))
        # The agent gets a state of its own, which it may change: its client compares with the one it sent.
        prompt = msgspec.structs.replace(prompt, state=copy_json(prompt.state))
        self.start_turn(turn_id, prompt)
        self.title.take_first_line(prompt.text)
        return self.receipts.remember(Receipt(prompt_id=prompt_id, turn_id=turn_id, message_id=message_id))

    def start_turn(self, turn_id: str, prompt: Prompt, run: Run | None = None) -> None:
        """Let the agent work on a turn that has begun; ``run`` is for one without a prompt."""
        self.turn = Turn(self, turn_id, prompt, run=run)
        self.turn.start()
        self._followers_changed(self.followers)

    def turn_finished(self, turn: object) -> None:
        """Called by a turn once it is over and stored."""
        if self.turn is turn:
            self.turn = None
            self.snapshots.turn_finished()
            self._followers_changed(self.followers)
        if self._queue and self.turn is None and not self.closed:
            self._start(*self._queue.take())

    async def wait_until_idle(self) -> None:
        """Wait until no turn runs here."""
        while (turn := self.turn) is not None:
            await turn.finished.wait()

    def cancel_soon(self, turn_id: str, *, by: str, reason: str) -> None:
        """Cancel a turn that runs here, without waiting for its end; does nothing if it is over."""
        if self.turn is not None and self.turn.turn_id == turn_id and not self.closed:
            self.turn.cancel(by, reason)

    async def wait_for_ending_turn(self, turn_id: str | None = None) -> None:
        """Wait for a turn that was cancelled, whose end is still being stored, or that has this id."""
        while (turn := self.turn) is not None and (turn.is_ending or turn.turn_id == turn_id):
            await turn.finished.wait()

    def _followers_changed(self, followers: int) -> None:
        self.hub.notice_activity()
        self._follower_watch.followers_changed(followers, running=self.turn is not None)

    def _cancel_unfollowed(self) -> bool:
        if self.turn is not None and not self.is_suspended:
            self.turn.cancel("trunkline", "no reader followed the turn any more")
        # A suspended turn waits for a person, for as long as its questions stay open.
        return self.turn is not None and self.is_suspended

    async def _cancel_turn(self, turn: Turn, by: str | None, reason: str) -> None:
        turn.cancel(by, reason)
        async with asyncio.timeout(self.settings.detach_after + self.settings.command_timeout):
            await turn.finished.wait()

    async def _cancel(self, command: Cancel) -> bool:
        turn = self.turn
        if turn is None or not turn.live or (command.turn_id is not None and command.turn_id != turn.turn_id):
            return False
        self.event_stream.add_command(command)
        await self._cancel_turn(turn, command.by, command.reason or "the turn was cancelled")
        return True

    async def prepare(self) -> None:
        """Let the agent get ready for this session; a missing login raises here."""
        await self.hooks.open()

    async def read_kept(self) -> None:
        """Read what the agent keeps with the session: another process may have kept more since."""
        info = await self.hub.journal.get(self.key)
        self.view.kept = (info and info.kept) or {}

    async def _before_open(self) -> None:
        await self.read_kept()
        self._out_of_turn.begin_watch()

    # -- questions ---------------------------------------------------------------------------------

    def ask(self, asked: ev.Asked, ttl: float) -> asyncio.Future[ev.Answered]:
        """Put a turn's question to the followers."""
        return self.questions.ask(named(asked, self.question_ids), expires_in=ttl)

    def record_answer(self, answer: Answer) -> None:
        """Record an answer that the agent has been given already; its turn goes on."""
        recorded = self.questions.answer([answer])
        if self.turn is not None:
            self.turn.resume(recorded)

    def _question_expired(self, answered: ev.Answered) -> None:
        if self.turn is None:
            return
        if self.followers:
            self.turn.resume([answered])
        else:
            self.turn.cancel("trunkline", "a question expired and no reader followed the session")

    async def _answer(self, answers: Sequence[Answer]) -> None:
        turn = self.turn
        recorded = self.questions.answer(answers)
        if turn is None:
            return
        cancelled = next((item for item in recorded if item.outcome == "cancelled"), None)
        if cancelled is not None:
            await self._cancel_turn(turn, cancelled.by, "the question was cancelled")
        else:
            turn.resume(recorded)

    # -- configuration, rewinding, history ---------------------------------------------------------

    async def _set_config(self, command: SetConfig) -> None:
        options = await self.hooks.set_config(choose(self.view.options, command.option_id, command.value))
        self.event_stream.add_command(command)
        self.view.options = options
        self.emit(ev.ConfigChanged(options=options))

    async def wait_for_rewind(self) -> None:
        """Wait for a rewind: a turn that begins meanwhile would be taken back with what came before it."""
        async with self._rewinding:
            return

    async def _rewind(self, command: Rewind) -> None:
        await self.wait_for_ending_turn()
        async with self._rewinding:
            await self._rewind_now(command)

    async def _rewind_now(self, command: Rewind) -> None:
        if self.turn is not None:
            raise SessionBusy("a turn is running in this session: cancel it before going back")
        target = command.to_message_id
        if target is not None and not await self.has_message(target):
            raise InvalidCommand(f"there is no message {target!r} to go back to")
        await self.hooks.rewind(target)
        self.event_stream.add_command(command)
        self.emit(ev.Rewound(to_message_id=target))

    # -- ownership ---------------------------------------------------------------------------------

    async def take_over(self, within: float) -> None:
        """Become the owner, from a process that runs no turn; SessionBusy if that takes longer."""
        await self.ownership.take_over(within)

    async def own(self) -> bool:
        """Become the owner if no other process is; True when this process owns the session."""
        return await self.ownership.claim()

    @property
    def is_idle_here(self) -> bool:
        """Whether the session is open and no turn runs in this process."""
        return not self.closed and self.turn is None

    async def wait_for_stored_end(self) -> None:
        """Wait until a turn that has ended is stored."""
        if self.turn is not None and not self.turn.live:
            await self.turn.finished.wait()

    async def recover(self, why: str | None) -> None:
        """Fail what an earlier owner left open, with the reason; None when its questions can be answered."""
        self._queue.discard_all("the process that held it ended; send it again")
        if self.event_stream.grammar.phase is Phase.IDLE:
            return
        self.turn = recover_turn(self, why)
        if self.turn is None:
            await self.durable()

    def fail(self, error: TrunklineError) -> None:
        """Stop at once: the journal refused us (another owner, a full disk, a deleted session)."""
        if self.closed:
            return
        turn, self.turn = self.turn, None
        failed = turn.turn_id if turn is not None and turn.live else None
        if turn is not None and failed:
            turn.detach()
        self._close_parts(error, failed)
        self.spawn(self._release())

    async def close(self) -> None:
        """Cancel what runs, write everything, give the lease back and end every reader."""
        if self.closed:
            return
        if self._closing is None or self._closing.done():
            self._closing = asyncio.create_task(self._close(), name=f"trunkline close {self.session_id}")
        # It goes on if the caller is cancelled: whoever opens the session again waits for its end.
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        if self.is_owner:
            self._queue.discard_all("the session was closed")
        if self.turn is not None:
            if self.hooks.can_resume(list(self.questions.open.values())):
                turn, self.turn = self.turn, None  # Whoever waits for its end waits no longer.
                turn.detach()
            else:
                await self._cancel_turn(self.turn, None, "the session was closed")
        if self.closed:
            # The journal failed while the turn was stopped.
            await self.released.wait()
            self.event_stream.check_open()
        self.closed = True
        lease = self.event_stream.lease
        try:
            await self.durable()
            await self.snapshots.close()
        finally:
            self._close_parts(SessionClosed("the session was closed in this process; open it again to go on"))
            await self._release()
            if lease is not None:
                await self.hub.journal.release(lease)

    def _close_parts(self, error: TrunklineError, failed_turn: str | None = None) -> None:
        """End every reader and every question."""
        self.closed = True
        self._follower_watch.close()
        self.earlier_turns.discard()
        self.questions.discard_all()
        self.event_stream.close(error, failed_turn=failed_turn)

    async def _release(self) -> None:
        """Release what the session holds in this process, even if its agent fails to."""
        closing = asyncio.create_task(self._close_agent(), name=f"trunkline close {self.session_id}")
        self.hub.wait_at_close(self.key, closing)
        await asyncio.wait({closing}, timeout=self.settings.detach_after)
        await self.tasks.wait(self.settings.finish_grace)
        self.hub.discard(self.key, self)
        self.view.disconnect()
        self.released.set()

    async def _close_agent(self) -> None:
        """Let the agent close what it holds for the session; processes may need longer than the session."""
        for close in (self.hooks.close, self.view.close):
            try:
                async with asyncio.timeout(self.settings.close_agent_after):
                    await close()
            except Exception:
                log.exception("%s failed to close session %s", self.agent_name, self.session_id)

    # -- bookkeeping -------------------------------------------------------------------------------

    def _emit_out_of_turn(self, event: ev.Event) -> bool:
        if not self.event_stream.held_lease.is_current:
            return False
        if not isinstance(event, ev.InfoChanged) or self.title.set_by_agent(event.title):
            self.emit(event)
        return True

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run something beside the turn."""
        self.tasks.spawn(work)

    def _apply_entry(self, entry: Entry) -> None:
        """Apply an entry that another process wrote."""
        self.open_state.apply(entry)
        if isinstance(entry.event, ev.InfoChanged):
            self.title.apply(entry.event)
