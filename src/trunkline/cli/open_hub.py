"""The hub of a command that runs an agent, and the session it works in."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import NamedTuple

import click

from trunkline.agents.interface import Agent
from trunkline.cli.journals import (
    NAME_KEY,
    find_session,
    is_name,
    last_session,
    look_for_session,
    opened_journal,
)
from trunkline.errors import InvalidCommand
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.target_names import normalize_target
from trunkline.workspace.policy import Policy

_OWN_FOLDER = "--cwd is for a new session; the one you go on with has its own folder"

WAITING_AFTER = 5.0
"""Seconds after which a person at a terminal is told that the agent is still starting."""


@asynccontextmanager
async def opened_hub(
    agent: Agent, target: str, address: str | None, policy: Policy | None
) -> AsyncGenerator[Hub]:
    """Serve an agent for as long as the block runs."""
    name = normalize_target(target)
    async with opened_journal(address) as journal, Hub(agent, journal, target=name, policy=policy) as hub:
        yield hub


class SessionChoice(NamedTuple):
    """Which session a command works in."""

    wanted: str | None = None
    """An id, the beginning of one, or a name; a name that no session has yet begins one."""
    last: bool = False
    """The last one of the folder and the TARGET."""
    cwd: str | None = None
    """The folder of a new session, and the one whose last session is meant; default: this one."""

    @property
    def is_new(self) -> bool:
        """Whether it is a new session in any case."""
        return self.wanted is None and not self.last

    @property
    def name(self) -> str | None:
        """The name that was given; None for an id or the last one."""
        return self.wanted if self.wanted is not None and is_name(self.wanted) else None

    def check(self) -> SessionChoice:
        """Refuse a choice of two."""
        if self.last and self.wanted is not None:
            raise click.UsageError("--continue chooses the session: leave --session out")
        if self.cwd is not None and self.wanted is not None and self.name is None:
            raise click.UsageError(_OWN_FOLDER)
        return self


async def open_session(hub: Hub, choice: SessionChoice) -> Session:
    """Give the session that was chosen, or a new one."""
    with _told_of_waiting():
        return await _open_session(hub, choice)


@contextmanager
def _told_of_waiting() -> Generator[None]:
    """Say on a terminal that an agent takes its time: it is downloaded, or is no agent."""
    text = "waiting for the agent to start; Ctrl-C gives up"
    timer = asyncio.get_running_loop().call_later(
        WAITING_AFTER, lambda: click.echo(text, err=True) if sys.stderr.isatty() else None
    )
    try:
        yield
    finally:
        timer.cancel()


async def _open_session(hub: Hub, choice: SessionChoice) -> Session:
    folder = choice.cwd or os.getcwd()
    if choice.last:
        info = await last_session(hub.journal, hub.target, folder)
    elif choice.wanted is None:
        return await hub.create(cwd=folder)
    else:
        found = await look_for_session(hub.journal, choice.wanted, hub.target)
        if found is None and not is_name(choice.wanted):
            found = await find_session(hub.journal, choice.wanted)  # Says what is near to it.
        if found is None:
            return await _begin_named(hub, choice.wanted, folder)
        if choice.cwd is not None:
            raise InvalidCommand(_OWN_FOLDER)
        info = found
    if not hub.may_run(info):
        raise InvalidCommand(
            f"session {info.session_id} belongs to the agent {info.target!r}: name that as the TARGET"
        )
    return await hub.session(info.session_id, principal=info.principal)


async def _begin_named(hub: Hub, name: str, folder: str) -> Session:
    session = await hub.create(cwd=folder)
    await hub.journal.keep(session.key, NAME_KEY, name)
    return session
