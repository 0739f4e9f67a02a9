"""``trunkline sessions cancel``: end the turn of a session, wherever it runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

import click

from trunkline.agents.interface import AgentCard, Sayable
from trunkline.cli.journals import find_session, use_journal
from trunkline.cli.options import journal_option, session_argument
from trunkline.commands import Prompt
from trunkline.errors import AgentError, SessionBusy
from trunkline.events import Answered
from trunkline.journal import Journal
from trunkline.session.context import TurnContext
from trunkline.session.hub import Hub
from trunkline.session.session import Session

_WITHIN = 30.0
"""Seconds in which the process that runs the turn must have ended it."""

_HELP = """Cancel the turn that runs or waits in a session.

The process that runs it, an editor's or a server's for example, ends it. If that process is gone, the turn is
ended here; a question that it left open is withdrawn.

\b
Examples:
  trunkline sessions cancel sess_1a2b3c
  trunkline sessions cancel work
"""


@click.command("cancel", help=_HELP)
@session_argument
@journal_option
def cancel_command(session_id: str, journal: str | None) -> None:
    async def cancel(opened: Journal) -> str:
        info = await find_session(opened, session_id)
        async with Hub(_NoAgent(), opened, target=info.target) as hub:
            session = await hub.session(info.session_id, principal=info.principal)
            return f"{await _cancel(session)} {info.session_id}"

    click.echo(use_journal(journal, cancel), err=True)


async def _cancel(session: Session) -> str:
    if not session.busy:
        return "nothing runs in"
    try:
        async with asyncio.timeout(_WITHIN):
            # Owned by nobody, the turn is one that a process left when it died: to own it may end it.
            await session.own()
            if session.busy:
                await session.cancel(by="sessions cancel")
    except TimeoutError:
        raise SessionBusy(
            f"the turn was cancelled, and still runs after {_WITHIN:.0f} s: end the process that runs it"
        ) from None
    return "cancelled the turn of"


class _NoAgent:
    """Stands for the agent of a session: nothing is asked of it but to take no answers."""

    card = AgentCard(name="no agent")

    def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Refuse: nothing is prompted here."""
        raise AgentError("there is no agent here")

    def resume(self, answers: Mapping[str, Answered], ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Refuse: a durable question of the real agent only stays open until it is cancelled."""
        raise AgentError("there is no agent here")
