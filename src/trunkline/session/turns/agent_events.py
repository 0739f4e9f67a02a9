"""What a turn needs of its session: what an agent's events change there, and which ones it may not emit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, Protocol

from trunkline import events as ev
from trunkline.agents.interface import Agent
from trunkline.agents.optional_methods import AgentHooks
from trunkline.commands import Prompt
from trunkline.conversation import Conversation
from trunkline.cursor import Entry
from trunkline.errors import AgentProtocolError, TrunklineError
from trunkline.json_patch import PatchError
from trunkline.session.background_tasks import BackgroundTasks
from trunkline.session.permissions import Permissions
from trunkline.session.questions import OpenQuestions
from trunkline.session.settings import Settings
from trunkline.session.stream.event_stream import EventStream
from trunkline.session.titles import SessionTitle
from trunkline.session.view import SessionView

# Only the session emits these: it alone knows about turns, windows, the queue and decisions.
_ONLY_BY_SESSION = (
    ev.TurnStarted,
    ev.RunOpened,
    ev.RunClosed,
    ev.PromptQueued,
    ev.PromptDropped,
    ev.Rewound,
    ev.UserMessage,
    ev.Decided,
)


class WaitingMessages(Protocol):
    """The messages that may join a turn."""

    def take(self, turn: Any) -> list[Prompt]:
        """Let a turn take those that wait for it."""
        ...


class TurnSession(Protocol):
    """What a turn needs of its session."""

    agent: Agent
    agent_name: str
    hooks: AgentHooks
    view: SessionView
    settings: Settings
    event_stream: EventStream
    questions: OpenQuestions
    permissions: Permissions
    tasks: BackgroundTasks

    @property
    def steering(self) -> WaitingMessages:
        """The messages that may join the turn."""
        ...

    def ask(self, asked: ev.Asked, ttl: float) -> asyncio.Future[ev.Answered]:
        """Put a question to the followers."""
        ...

    @property
    def title(self) -> SessionTitle:
        """The session's title."""
        ...

    async def history(self, *, before_turn: str | None = None) -> Conversation:
        """Fold what came before a turn."""
        ...

    def turn_start(self, turn_id: str) -> int | None:
        """The first record of a turn."""
        ...

    def replay(self, from_seq: int = 1) -> AsyncGenerator[Entry]:
        """Give every entry from a record on."""
        ...

    def turn_finished(self, turn: object) -> None:
        """Called when the turn is over and stored."""

    def fail(self, error: TrunklineError) -> None:
        """End the session in this process with an error."""


def apply_to_session(event: ev.Event, session: TurnSession, *, agent_began: bool) -> bool:
    """Apply an agent's event to its session; False when the event must not be emitted.

    ``agent_began`` is for a turn that the agent began without a prompt.
    """
    if isinstance(event, ev.StateReplaced):
        session.view.replace_state(event.state)
    elif isinstance(event, ev.StatePatched):
        try:
            session.view.replace_state(session.view.patched(event.patch))
        except PatchError as error:
            raise AgentProtocolError(
                f"{session.agent_name} sent a state patch that does not fit: {error}"
            ) from None
    elif isinstance(event, ev.ConfigChanged):
        session.view.options = event.options
    elif isinstance(event, ev.CommandsChanged):
        session.view.commands = event.commands
    elif isinstance(event, ev.InfoChanged):
        return session.title.set_by_agent(event.title)
    elif isinstance(event, ev.Asked):
        session.questions.reopen(event, expires_in=session.settings.question_ttl)
    elif isinstance(event, ev.Answered):
        return not session.questions.withdraw(event)
    elif isinstance(event, ev.UserMessage) and agent_began:
        return True  # What a user wrote to the agent through another program.
    elif isinstance(event, _ONLY_BY_SESSION):
        for notice in session.event_stream.grammar.report("foreign-turn", type(event).__name__):
            session.event_stream.emit(notice)
        return False
    return True
