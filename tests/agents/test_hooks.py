"""The optional methods of an agent, as a session calls them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.worlds import collect, echo, events_of, make, world
from trunkline.commands import Prompt
from trunkline.errors import AuthenticationRequired
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

    async with world(Opening()) as hub:
        session = await hub.create()
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

    async with world(Locked()) as hub:
        session = await hub.create()
        with pytest.raises(AuthenticationRequired):
            await session.prompt("hello")
        assert await events_of(session) == []
