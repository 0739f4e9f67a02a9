"""``trunkline chat``: a conversation in this terminal."""

from __future__ import annotations

import asyncio
import os
import tempfile
from contextlib import nullcontext

import click

from trunkline.agents.interface import Agent
from trunkline.agents.targets import SCHEMES, resolve_target
from trunkline.cli.chat_loop import ChatLoop
from trunkline.cli.chat_questions import KeyboardQuestions
from trunkline.cli.first_launch import confirm_launch, yes_option
from trunkline.cli.open_hub import open_session, opened_hub
from trunkline.cli.options import FOLDER, journal_option, policy_option
from trunkline.cli.start import prepare_process
from trunkline.cli.terminal.keyboard import Keyboard
from trunkline.cli.terminal.screen import Screen
from trunkline.transports.process.descendants import end_descendants
from trunkline.workspace.policy import Policy

_TOUR = ("hello", "/tools", "/permission", "a", "/plan", "/subagents")
_FINANCE_TOUR = (
    "How much did I spend on groceries last month?",
    "and in September?",
    "Why was October higher than September?",
    "Which subscriptions got dearer?",
    "Chart my spending by category last month",
)

_HELP = """Talk to the agent TARGET in this terminal.

/help lists the agent's commands, /quit leaves. Ctrl-C cancels what runs; twice leaves. With --session,
questions that an earlier process left open are put again. When stdin is not a terminal, each of its lines
is a prompt, or the answer to a question; with none at all, demo and finance play a short tour.

\b
Examples:
  trunkline chat finance
  trunkline chat demo
  trunkline chat "acp:gemini --acp"
  trunkline chat agent.py:hello --session sess_1a2b3c
  printf 'hello\\n/tools\\n' | trunkline chat demo
"""


@click.command("chat", help=_HELP)
@click.argument("target")
@click.option(
    "--session", "session_id", help="Go on with this session (an id or its beginning).", metavar="ID"
)
@click.option("--cwd", type=FOLDER, help="The agent's folder in a new session (default: this one).")
@policy_option
@journal_option
@yes_option
def command(
    target: str,
    session_id: str | None,
    cwd: str | None,
    policy: Policy | None,
    journal: str | None,
    yes: bool,
) -> int:
    if session_id is not None and cwd is not None:
        raise click.UsageError("--cwd is for a new session; the one you go on with has its own folder")
    prepare_process(shows_failures=True)
    confirm_launch([target], yes=yes)
    agent = resolve_target(target)
    try:
        return asyncio.run(_chat(agent, target, session_id, cwd, policy, journal))
    finally:
        end_descendants()


async def _chat(
    agent: Agent,
    target: str,
    session_id: str | None,
    cwd: str | None,
    policy: Policy | None,
    journal: str | None,
) -> int:
    keyboard, screen = Keyboard(), Screen()
    tour = False
    if not keyboard.is_terminal:
        first = await keyboard.line()
        tour = first is None and target in SCHEMES and session_id is None and cwd is None
        own = _FINANCE_TOUR if target.startswith("finance") else _TOUR
        keyboard.type(*(own if tour else () if first is None else (first,)))
    # The tour writes a file, which does not belong into the user's folder.
    folder = (
        tempfile.TemporaryDirectory(prefix="trunkline-tour-") if tour else nullcontext(cwd or os.getcwd())
    )
    with folder as place:
        async with opened_hub(agent, target, journal, policy) as hub:
            session = await open_session(hub, session_id, place)
            return await ChatLoop(session, keyboard, screen, KeyboardQuestions(keyboard, screen)).run()
