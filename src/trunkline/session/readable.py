"""What can be read of a session: its events, its history and what it waits for.

It is the same in the process that owns the session and in one that only follows it in the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from typing import Any

from trunkline import events as ev
from trunkline.conversation import Conversation
from trunkline.cursor import Cursor, Entry, Gap
from trunkline.errors import InvalidCommand, SessionClosed
from trunkline.grammar import Grammar, Phase
from trunkline.journal import Journal, SessionInfo
from trunkline.outline import Outline
from trunkline.session.history.earlier_turns import EarlierTurns
from trunkline.session.history.open_state import OpenState
from trunkline.session.permissions import Permissions
from trunkline.session.questions import OpenQuestions
from trunkline.session.reader import Reader
from trunkline.session.receipts import Receipts
from trunkline.session.settings import Settings
from trunkline.session.stream import EventStream
from trunkline.session.view import SessionView
from trunkline.workspace import Policy

__all__ = ["ReadableSession"]


class ReadableSession:
    """The part of a session that changes nothing."""

    def __init__(
        self,
        info: SessionInfo,
        view: SessionView,
        *,
        journal: Journal,
        settings: Settings,
        policy: Policy,
        agent_name: str,
        journal_changed: Callable[[float], Awaitable[None]],
    ) -> None:
        """Read a session from its journal; ``journal_changed`` waits for a change, with a timeout."""
        self.info = info
        self.key = info.key
        self.view = view
        self.agent_name = agent_name
        self.settings = settings
        self.closed = False
        self.event_stream = EventStream(journal, info.key, Grammar(agent_name), settings)
        self.questions = OpenQuestions(self.event_stream.emit)
        self.permissions = Permissions(policy, view)
        self.receipts = Receipts()
        grammar = self.event_stream.grammar
        self.open_state = OpenState(grammar, self.receipts, self.questions, self.permissions, view)
        self.earlier_turns = EarlierTurns(self.event_stream, self.receipts)
        self._journal_changed = journal_changed

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
        return self.event_stream.grammar.memory.asked

    @property
    def followers(self) -> int:
        """How many readers follow the session in this process."""
        return self.event_stream.readers

    @property
    def position(self) -> Cursor:
        """The place after every event so far."""
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

    def turn_start(self, turn_id: str) -> int | None:
        """The first record of a turn; None for one that is unknown here."""
        return self.receipts.turn_starts.get(turn_id)

    async def start_of(self, turn_id: str) -> int:
        """The first record of a turn; waits for one that another process just began."""
        async with asyncio.timeout(self.settings.command_timeout):
            while (start := self.turn_start(turn_id)) is None and not self.is_owner:
                self.check_open()
                await self._journal_changed(self.settings.poll_idle)
        if start is None:
            raise InvalidCommand(f"there is no turn {turn_id!r} in this session")
        return start

    # -- following ---------------------------------------------------------------------------------

    def replay(self, from_seq: int = 1) -> AsyncGenerator[Entry]:
        """Give every entry so far, from the journal and then from memory."""
        return self.event_stream.replay(from_seq)

    async def subscribe(self, after: Cursor | None = None) -> Reader | Gap:
        """Follow the session from a cursor on (None: from now on)."""
        self.check_open()
        return await self.event_stream.subscribe(after)

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
