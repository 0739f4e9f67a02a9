"""What a session offers in every process: its events, its history, what it waits for, and its commands.

It is the same in the process that owns the session and in one that only follows it in the journal.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping
from typing import Any, Protocol

import msgspec

from trunkline import events as ev
from trunkline.agents.interface import Agent
from trunkline.commands import Answer, Cancel, Command, Prompt, Rewind, SetConfig
from trunkline.conversation import Conversation
from trunkline.cursor import Cursor, Entry, Gap
from trunkline.errors import InvalidCommand, SessionClosed
from trunkline.grammar import Grammar, Phase
from trunkline.journal import Journal, SessionInfo, SessionKey
from trunkline.outline import Outline
from trunkline.session.history.earlier_turns import EarlierTurns
from trunkline.session.history.open_state import OpenState
from trunkline.session.owners import OwnerProcess
from trunkline.session.permissions import Permissions
from trunkline.session.questions import OpenQuestions
from trunkline.session.receipts import Receipt, Receipts
from trunkline.session.settings import Settings
from trunkline.session.stream.event_stream import EventStream
from trunkline.session.stream.reader import Reader
from trunkline.session.view import SessionView
from trunkline.workspace import Policy


class SessionHub(OwnerProcess, Protocol):
    """What a session needs of its hub."""

    agent: Agent
    journal: Journal
    settings: Settings
    policy: Policy | None

    def may_run(self, info: SessionInfo) -> bool:
        """Whether this process has the agent of a session."""
        ...

    def notice_activity(self) -> None:
        """Look at the journal at once: something began to run or to be followed."""

    async def prepare_agent(self) -> None:
        """Wait until the agent's card is the real one."""

    def discard(self, key: SessionKey, session: object) -> None:
        """Drop a session that was closed."""


class BaseSession(ABC):
    """What can be read of a session, and the commands that every process can send to it."""

    def __init__(self, hub: SessionHub, info: SessionInfo, view: SessionView) -> None:
        self.hub = hub
        self.agent = hub.agent
        self.info = info
        self.key = info.key
        self.view = view
        self.agent_name = hub.agent.card.name
        self.settings = hub.settings
        self.closed = False
        self.event_stream = EventStream(hub.journal, info.key, Grammar(self.agent_name), hub.settings)
        self.questions = OpenQuestions(self.event_stream.emit)
        self.permissions = Permissions(hub.policy, view)
        self.receipts = Receipts()
        grammar = self.event_stream.grammar
        self.open_state = OpenState(grammar, self.receipts, self.questions, self.permissions, view)
        self.earlier_turns = EarlierTurns(self.event_stream, self.receipts)

    # -- what is the case now ----------------------------------------------------------------------

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.info.session_id

    @property
    def is_owner(self) -> bool:
        """Whether this process owns the session: it alone runs turns and writes."""
        return self.event_stream.lease is not None

    @property
    def lease_is_current(self) -> bool:
        """Whether this process may write to the session now."""
        return self.event_stream.held_lease.is_current

    @property
    def is_suspended(self) -> bool:
        """Whether the turn waits for the answers to its questions."""
        return self.event_stream.grammar.phase is Phase.SUSPENDED

    @property
    def busy(self) -> bool:
        """Whether a turn is running or suspended, here or in another process."""
        return self.event_stream.grammar.phase is not Phase.IDLE

    @property
    def last_turn_id(self) -> str | None:
        """The turn that runs, or the last one that ran."""
        return self.event_stream.grammar.turn_id

    @property
    def turn_ended_at(self) -> float:
        """When the last turn ended; 0 before the first."""
        return self.open_state.turn_ended_at

    @property
    def running_turn_id(self) -> str | None:
        """The turn that runs or is suspended, here or in another process."""
        return self.last_turn_id if self.busy else None

    @property
    def open_questions(self) -> Mapping[str, ev.Asked]:
        """The questions that wait for an answer, by id, oldest first."""
        return self.event_stream.grammar.questions

    @property
    def question_ids(self) -> Collection[str]:
        """The ids of all questions that were asked in this session."""
        return self.event_stream.grammar.known_ids.asked

    @property
    def answered_by(self) -> Mapping[str, str | None]:
        """The newest questions that were answered, by id, each with who answered it."""
        return self.questions.answered

    @property
    def followers(self) -> int:
        """How many readers follow the session in this process."""
        return self.event_stream.followers

    @property
    def position(self) -> Cursor:
        """The cursor after every event so far."""
        return self.event_stream.position

    @property
    def stored_seq(self) -> int:
        """The newest record that is stored; 0 in a new session."""
        return self.event_stream.committed_seq

    @property
    def state_before_turn(self) -> Any:
        """The shared state when the last turn began."""
        return self.open_state.state_before

    # -- history -----------------------------------------------------------------------------------

    async def history(self, *, before_turn: str | None = None, until: Cursor | None = None) -> Conversation:
        """Fold every event so far; or only those before a turn, or up to a cursor."""
        return await self.earlier_turns.fold(before_turn, until)

    async def history_before(self, seq: int) -> Conversation:
        """Fold what came before the record that begins a turn; the caller must not change it."""
        return await self.earlier_turns.before(seq)

    async def has_message(self, message_id: str) -> bool:
        """Whether the conversation has a message with this id."""
        return (await self.earlier_turns.present()).has_message(message_id)

    async def outline(self) -> tuple[Outline, int]:
        """The ids of the turns before the last one, and the first record of the last one."""
        outline, start = await self.earlier_turns.outline()
        while start != self.earlier_turns.start:
            outline, start = await self.earlier_turns.outline()
        return outline, start

    def receipt(self, prompt_id: str) -> Receipt | None:
        """What became of a prompt; None for one that is unknown here."""
        return self.receipts.by_prompt.get(prompt_id)

    def turn_start(self, turn_id: str) -> int | None:
        """The first record of a turn; None for one that is unknown here."""
        return self.receipts.turn_starts.get(turn_id)

    def turn_start_before(self, seq: int) -> int:
        """The first record of the last turn that began at or before a record; 1 if there is none."""
        return max((start for start in self.receipts.turn_starts.values() if start <= seq), default=1)

    async def start_of(self, turn_id: str) -> int:
        """The first record of a turn; waits for one that another process just began."""
        async with asyncio.timeout(self.settings.command_timeout):
            while (start := self.turn_start(turn_id)) is None and not self.is_owner:
                self.check_open()
                await self.hub.changed(self.settings.poll_idle)
        if start is None:
            raise InvalidCommand(f"there is no turn {turn_id!r} in this session")
        return start

    # -- writing -----------------------------------------------------------------------------------

    def emit(self, event: ev.Event) -> None:
        """Add an event to the session's stream; only the owner may."""
        self.event_stream.emit(event)

    async def durable(self) -> None:
        """Wait until every event so far is stored."""
        await self.event_stream.durable()

    def watch_questions(self, on_asked: Callable[[ev.Asked], None]) -> None:
        """Call this with each question that a turn of this process asks, in the task that asks it."""
        self.questions.on_asked = on_asked

    def holds_question(self, question_id: str) -> bool:
        """Whether a question waits for its answer in this process."""
        return question_id in self.questions.open

    def withdraw_question(self, question_id: str, reason: str) -> None:
        """Withdraw a question that is open in this process."""
        self.questions.withdraw_one(question_id, reason)

    # -- following ---------------------------------------------------------------------------------

    def replay(self, from_seq: int = 1) -> AsyncGenerator[Entry]:
        """Give every entry so far, from the journal and then from memory."""
        return self.event_stream.replay(from_seq)

    async def subscribe(self, after: Cursor | None = None) -> Reader | Gap:
        """Follow the session from a cursor on (None: from now on)."""
        self.check_open()
        return await self.event_stream.subscribe(after)

    async def find_gap(self, after: Cursor) -> Gap | None:
        """Say what a reader at a cursor has missed for good; None if it can go on from there."""
        return await self.event_stream.find_gap(after)

    def subscribe_from(self, seq: int) -> Reader:
        """Follow the session from a record on."""
        return self.event_stream.subscribe_from(seq)

    def follow(self) -> Reader:
        """Follow the session from now on."""
        self.check_open()
        return self.event_stream.follow()

    def check_open(self) -> None:
        """Raise SessionClosed if the session was closed in this process."""
        if self.closed:
            raise SessionClosed("the session was closed in this process; open it again to go on")

    # -- commands ----------------------------------------------------------------------------------

    @abstractmethod
    async def submit(self, command: Command) -> dict[str, Any]:
        """Carry a command out, here or in the process that owns the session."""

    @abstractmethod
    async def answer(self, *answers: Answer) -> None:
        """Answer questions, all of them or none; raises AlreadyAnswered when another client was first."""

    async def prompt(self, prompt: Prompt | str) -> Receipt:
        """Start a turn; while another one runs, do what the busy policy says."""
        command = Prompt.of(prompt) if isinstance(prompt, str) else prompt
        return msgspec.convert(await self.submit(command), Receipt)

    async def cancel(self, turn_id: str | None = None, *, by: str | None = None) -> bool:
        """Cancel the running turn and wait until it is over; False if there was none."""
        return bool((await self.submit(Cancel(turn_id=turn_id, by=by))).get("cancelled"))

    async def set_config(self, option_id: str, value: str | bool, *, by: str | None = None) -> None:
        """Choose a value of an option; every follower gets the complete list."""
        await self.submit(SetConfig(option_id=option_id, value=value, by=by))

    async def rewind(self, to_message_id: str | None, *, by: str | None = None) -> None:
        """Go back to a message; refused while a turn runs."""
        await self.submit(Rewind(to_message_id=to_message_id, by=by))

    async def stream(self, prompt: Prompt | str) -> AsyncIterator[ev.AnyEvent]:
        """Send a prompt and give the events of its turn, up to and with its terminal.

        A prompt whose key was used before gives the events of the turn it started then.
        """
        before = self.position.record
        async with contextlib.AsyncExitStack() as stack:
            reader = await stack.enter_async_context(self.follow())
            receipt = await self.prompt(prompt)
            start = self.turn_start(receipt.turn_id or "") or before + 1
            if start <= before:
                reader = await stack.enter_async_context(self.subscribe_from(start))
            async for entry in reader:
                event = entry.event
                if isinstance(event, ev.TurnStarted) and event.prompt_id == receipt.prompt_id:
                    receipt = msgspec.structs.replace(receipt, turn_id=event.turn_id)
                if event.turn_id is None or event.turn_id == receipt.turn_id:
                    yield event
                    if isinstance(event, ev.TurnFinished | ev.TurnFailed):
                        return
