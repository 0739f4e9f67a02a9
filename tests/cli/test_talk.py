"""Talks in this process: what goes wrong between a keyboard and an agent."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import AsyncIterator

from rich.console import Console

from trunkline.agents.interface import Agent, AgentCard
from trunkline.cli.asking import Asker
from trunkline.cli.keyboard import Keyboard
from trunkline.cli.screen import Screen
from trunkline.cli.talk import Talk
from trunkline.commands import Prompt
from trunkline.context import SessionView, TurnContext
from trunkline.errors import AuthenticationRequired, SessionBusy
from trunkline.hub import Hub
from trunkline.journal.memory import MemoryJournal


class Guarded:
    """An agent that cannot be opened."""

    card = AgentCard(name="guarded")

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def open_session(self, session: SessionView) -> None:
        raise self.error

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "never"


class Choosy:
    """An agent whose form wants what its fields do not say."""

    card = AgentCard(name="choosy")

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        fields = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "unknown"]}
        yield "declined" if await ctx.form("Fill in", fields) is None else "filled in"


async def talk(agent: Agent, *typed: str) -> str:
    """Type these lines, leave, and give what was shown."""
    shown = io.StringIO()
    reader, writer = os.pipe()
    os.close(writer)
    journal = MemoryJournal()
    await journal.open()
    try:
        keyboard, screen = Keyboard(reader), Screen(Console(file=shown, width=100))
        keyboard.type(*typed)
        async with asyncio.timeout(20), Hub(agent, journal) as hub:
            assert await Talk(await hub.create(), keyboard, screen, Asker(keyboard, screen)).run() == 0
    finally:
        await journal.close()
        os.close(reader)
    return shown.getvalue()


async def test_a_login_that_no_terminal_can_do_is_only_told_of() -> None:
    shown = await talk(Guarded(AuthenticationRequired("log in with the vendor's own tool")), "hello")
    assert "log in with the vendor's own tool" in shown
    assert "How do you want to log in?" not in shown


async def test_an_error_before_the_turn_is_told_and_the_talk_goes_on() -> None:
    shown = await talk(Guarded(SessionBusy("somebody else talks")), "one", "two")
    assert shown.count("error: somebody else talks") == 2


async def test_an_answer_that_does_not_fit_is_asked_for_again() -> None:
    shown = await talk(Choosy(), "hello", "x", "-")
    assert "the form's field 'unknown' is missing" in shown
    assert shown.count("Fill in") == 2
    assert "declined" in shown
