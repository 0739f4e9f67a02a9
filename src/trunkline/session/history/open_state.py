"""What opening a session learns from its records: the same whether they are read or kept in a snapshot.

A snapshot is taken between turns only, when nothing is open. Its form has a version: one that was written
by another Trunkline is not read, and the records are.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.content import Content
from trunkline.cursor import Entry
from trunkline.grammar import Grammar, Phase
from trunkline.grammar.known_ids import KnownIds
from trunkline.options import ConfigOption
from trunkline.session.permissions import Permissions
from trunkline.session.questions import OpenQuestions
from trunkline.session.receipts import Receipt, Receipts
from trunkline.session.view import SessionView

VERSION = 4
"""Changes with the form of the snapshot, and with what is learned from a record."""


class OpenSnapshot(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What was learned up to a record."""

    last: Entry | None = None
    """The newest event."""
    turn_id: str | None = None
    turn_ended_at: float = 0.0
    memory: KnownIds
    reported: tuple[str, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    turn_starts: dict[str, int] = {}
    answered: dict[str, str | None] = {}
    always: dict[str, bool] = {}
    options: tuple[ConfigOption, ...] | None = None
    commands: tuple[ev.CommandInfo, ...] | None = None
    state: Any = None
    state_before: Any = None
    queue: dict[str, tuple[Content, ...]] = {}
    title_chosen: bool = False


_decoder = msgspec.json.Decoder(OpenSnapshot)


class OpenState:
    """The parts of a session that learn from its records."""

    def __init__(
        self,
        grammar: Grammar,
        receipts: Receipts,
        questions: OpenQuestions,
        permissions: Permissions,
        view: SessionView,
    ) -> None:
        self.grammar = grammar
        self.receipts = receipts
        self.questions = questions
        self.permissions = permissions
        self.view = view
        self.queue: dict[str, Prompt] = {}
        """The prompts that wait."""
        self.last: Entry | None = None
        self.turn_ended_at = 0.0
        """When the last turn ended; 0 before the first."""
        self.state_before: Any = None
        """The shared state when the last turn began."""
        self.title_chosen = False
        """Whether a person chose the session's title, which its agent does not change then."""
        self._options: tuple[ConfigOption, ...] | None = None
        self._commands: tuple[ev.CommandInfo, ...] | None = None

    @classmethod
    def alone(cls) -> OpenState:
        """Parts that belong to no session, for reading records only."""
        questions = OpenQuestions(lambda _: None)
        return cls(Grammar(), Receipts(), questions, Permissions(None), SessionView(session_id=""))

    def feed(self, entry: Entry) -> None:
        """Learn from an entry, the grammar's part included."""
        self.grammar.feed(entry.event)
        self.apply(entry)

    def apply(self, entry: Entry) -> None:
        """Learn from an entry that the grammar has seen."""
        self.last = entry
        learn = self._learn.get(type(entry.event))
        if learn is not None:  # Most records of a long session teach nothing.
            learn(self, entry.event, entry.seq)

    def _turn_started(self, event: ev.TurnStarted, seq: int) -> None:
        turn_id = event.turn_id or ""
        self.begin(turn_id, seq)
        if event.prompt_id is not None:
            self.receipts.remember(Receipt(prompt_id=event.prompt_id, turn_id=turn_id))
            self.queue.pop(event.prompt_id, None)

    def _user_message(self, event: ev.UserMessage, seq: int) -> None:
        if event.prompt_id is not None:
            joined = Receipt(prompt_id=event.prompt_id, turn_id=event.turn_id, message_id=event.message_id)
            self.receipts.remember(msgspec.structs.replace(joined, steered=True))
            self.queue.pop(event.prompt_id, None)

    def _prompt_queued(self, event: ev.PromptQueued, seq: int) -> None:
        self.queue[event.prompt_id] = Prompt(content=event.content)

    def _prompt_dropped(self, event: ev.PromptDropped, seq: int) -> None:
        self.queue.pop(event.prompt_id, None)

    def _turn_ended(self, event: ev.TurnFinished | ev.TurnFailed, seq: int) -> None:
        self.permissions.apply(event)
        assert self.last is not None
        self.turn_ended_at = self.last.at

    def _asked(self, event: ev.Asked, seq: int) -> None:
        self.permissions.apply(event)

    def _answered(self, event: ev.Answered, seq: int) -> None:
        self.questions.apply(event)
        self.permissions.apply(event)

    def _options_changed(self, event: ev.ConfigChanged, seq: int) -> None:
        self._options = event.options
        self.view.apply(event)

    def _commands_changed(self, event: ev.CommandsChanged, seq: int) -> None:
        self._commands = event.commands
        self.view.apply(event)

    def _info_changed(self, event: ev.InfoChanged, seq: int) -> None:
        self.title_chosen = event.by is not None and event.title is not None

    def _state_changed(self, event: ev.StateReplaced | ev.StatePatched, seq: int) -> None:
        self.view.apply(event)

    _learn: ClassVar[dict[type[ev.Event], Callable[[Any, Any, int], None]]] = {
        ev.TurnStarted: _turn_started,
        ev.TurnFinished: _turn_ended,
        ev.TurnFailed: _turn_ended,
        ev.UserMessage: _user_message,
        ev.PromptQueued: _prompt_queued,
        ev.PromptDropped: _prompt_dropped,
        ev.Asked: _asked,
        ev.Answered: _answered,
        ev.ConfigChanged: _options_changed,
        ev.CommandsChanged: _commands_changed,
        ev.InfoChanged: _info_changed,
        ev.StateReplaced: _state_changed,
        ev.StatePatched: _state_changed,
    }

    def begin(self, turn_id: str, seq: int) -> None:
        """Remember where a turn begins, and what the shared state is there."""
        self.receipts.note_start(turn_id, seq)
        self.state_before = self.view.state

    def take(self) -> bytes | None:
        """Give a snapshot of all that was learned; None inside a turn."""
        grammar = self.grammar
        if grammar.phase is not Phase.IDLE:
            return None
        return msgspec.json.encode(
            OpenSnapshot(
                last=self.last,
                turn_id=grammar.turn_id,
                turn_ended_at=self.turn_ended_at,
                memory=grammar.known_ids,
                reported=tuple(sorted(grammar.reported)),
                receipts=tuple(self.receipts.by_prompt.values()),
                turn_starts=dict(self.receipts.turn_starts),
                answered=dict(self.questions.answered),
                always=self.permissions.always,
                options=self._options,
                commands=self._commands,
                state=self.view.state,
                state_before=self.state_before,
                queue={prompt_id: prompt.content for prompt_id, prompt in self.queue.items()},
                title_chosen=self.title_chosen,
            )
        )

    def restore(self, kept: OpenSnapshot) -> None:
        """Begin with what an earlier reader learned."""
        self.last, self.turn_ended_at = kept.last, kept.turn_ended_at
        self.grammar.recall(kept.memory, kept.turn_id, kept.reported)
        self.receipts.by_prompt = OrderedDict((receipt.prompt_id, receipt) for receipt in kept.receipts)
        self.receipts.turn_starts = OrderedDict(kept.turn_starts)
        self.questions.answered = OrderedDict(kept.answered)
        self.permissions.always = kept.always
        self._options, self._commands = kept.options, kept.commands
        if kept.options is not None:
            self.view.options = kept.options
        if kept.commands is not None:
            self.view.commands = kept.commands
        self.view.replace_state(kept.state)
        self.state_before = kept.state_before
        self.title_chosen = kept.title_chosen
        self.queue.clear()
        self.queue |= {prompt_id: Prompt(content=content) for prompt_id, content in kept.queue.items()}


def read_snapshot(payload: bytes) -> OpenSnapshot | None:
    """Read a snapshot; None for one that cannot be read."""
    try:
        return _decoder.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
