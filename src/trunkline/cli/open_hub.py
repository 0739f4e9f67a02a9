"""The hub of a command that runs an agent, and the session it works in."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import click

from trunkline.agents.interface import Agent
from trunkline.agents.target_names import normalize_target
from trunkline.cli.journals import find_session, opened_journal
from trunkline.errors import InvalidCommand
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.workspace.policy import Policy

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


async def open_session(hub: Hub, session_id: str | None, cwd: str) -> Session:
    """Give the session that was named, or a new one in this folder."""
    with _told_of_waiting():
        return await _open_session(hub, session_id, cwd)


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


async def _open_session(hub: Hub, session_id: str | None, cwd: str) -> Session:
    if session_id is None:
        return await hub.create(cwd=cwd)
    info = await find_session(hub.journal, session_id)
    if not hub.may_run(info):
        raise InvalidCommand(
            f"session {info.session_id} belongs to the agent {info.target!r}: name that as the TARGET"
        )
    return await hub.session(info.session_id, principal=info.principal)
