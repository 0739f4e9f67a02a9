"""What a session needs of the hub that opened it."""

from __future__ import annotations

import asyncio
from typing import Protocol

from trunkline.agents.interface import Agent
from trunkline.journal import Journal, SessionInfo, SessionKey
from trunkline.session.settings import Settings
from trunkline.workspace import Policy

__all__ = ["SessionHub"]


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
