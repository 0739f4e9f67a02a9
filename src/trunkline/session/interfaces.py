"""What a session needs of its hub, and what a turn needs of its session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Protocol

from trunkline import events as ev
from trunkline.agents.interface import Agent
from trunkline.conversation import Conversation
from trunkline.cursor import Entry
from trunkline.errors import TrunklineError
from trunkline.journal import Journal, SessionInfo, SessionKey
from trunkline.session.agent_hooks import AgentHooks
from trunkline.session.permissions import Permissions
from trunkline.session.questions import OpenQuestions
from trunkline.session.settings import Settings
from trunkline.session.stream import EventStream
from trunkline.session.tasks import BackgroundTasks
from trunkline.session.view import SessionView
from trunkline.workspace import Policy

__all__ = ["SessionHub", "TurnSession"]


class SessionHub(Protocol):
    """What a session needs of its hub."""

    agent: Agent
    journal: Journal
    settings: Settings
    policy: Policy
    owner: str

    def may_run(self, info: SessionInfo) -> bool:
        """Whether this process has the agent of a session."""
        ...

    async def changed(self, timeout: float) -> None:
        """Wait until the journal changed, at most ``timeout`` seconds."""
        ...

    def notice_activity(self) -> None:
        """Look at the journal at once: something began to run or to be followed."""
        ...

    def renew_soon(self) -> None:
        """Start to renew the leases."""
        ...

    async def renew_leases(self) -> None:
        """Renew the leases of this process."""
        ...

    async def prepare_agent(self) -> None:
        """Wait until the agent's card is the real one."""
        ...

    def wait_at_close(self, task: asyncio.Task[None]) -> None:
        """Wait for a task when the hub is closed."""
        ...

    def discard(self, key: SessionKey, session: object) -> None:
        """Drop a session that was closed."""
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

    def ask(self, asked: ev.Asked, ttl: float) -> asyncio.Future[ev.Answered]:
        """Put a question to the followers."""
        ...

    def set_title(self, title: str | None) -> None:
        """Give the session a title."""
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
        ...

    def fail(self, error: TrunklineError) -> None:
        """End the session in this process with an error."""
        ...
