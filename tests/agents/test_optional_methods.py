"""The optional methods of an agent, as a session calls them."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.hubs import collect, echo, events_of, hub_for, make, session_for
from trunkline import events as ev
from trunkline.agents.interface import AgentCard
from trunkline.commands import Prompt
from trunkline.errors import AgentError, AuthenticationRequired
from trunkline.journal import open_journal
from trunkline.options import ConfigOption
from trunkline.session.context import SessionView, TurnContext


async def test_an_agent_that_opens_sessions_is_asked_once_and_closed_once() -> None:
    calls: list[str] = []

    class Opening:
        card = make(echo).card

        def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
            return echo(prompt)

        async def open_session(self, session: SessionView) -> None:
            calls.append("open")

        async def close_session(self, session: SessionView) -> None:
            calls.append("close")

    async with session_for(Opening()) as session:
        await collect(session, "a")
        await collect(session, "b")
    assert calls == ["open", "close"]


async def test_a_missing_login_raises_before_any_turn_begins() -> None:
    class Locked:
        card = make(echo).card

        def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
            return echo(prompt)

        async def open_session(self, session: Any) -> None:
            raise AuthenticationRequired("log in first")

    async with session_for(Locked()) as session:
        with pytest.raises(AuthenticationRequired):
            await session.prompt("hello")
        assert await events_of(session) == []


async def test_every_session_that_was_opened_before_the_handshake_gets_the_options_of_the_real_card() -> None:
    class Handshake:
        def __init__(self) -> None:
            self.card = AgentCard(name="placeholder")
            self.answers = True

        async def prepare(self) -> None:
            if not self.answers:
                raise AgentError("the program does not answer")
            option = ConfigOption(option_id="fast", name="Fast", value=True)
            self.card = AgentCard(name="real", options=(option,), commands=(ev.CommandInfo(name="go"),))

        def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
            return echo(prompt)

    journal = await open_journal("memory:")
    async with hub_for(journal=journal) as hub:
        for name in "ab":
            await hub.create(name)
    agent = Handshake()
    agent.answers = False
    async with hub_for(agent, journal=journal) as hub:
        sessions = [await hub.session(name) for name in "ab"]
        agent.answers = True
        for session in sessions:
            await session.prepare()
            assert session.view.config == {"fast": True}
            assert [command.name for command in session.view.commands] == ["go"]
    await journal.close()
