"""Runs: one prompt through an agent, with everything real but the person and the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from trunkline.agents.adapt import adapt
from trunkline.commands import Prompt
from trunkline.events import AnyEvent, Asked
from trunkline.journal.memory import MemoryJournal
from trunkline.session.hub import Hub
from trunkline.session.settings import Settings
from trunkline.testing.answers import Answers, accept_all

# A test answers at once, so a turn that counts as suspended only means that the machine is busy.
_SETTINGS = Settings(suspend_after=60.0)


async def run_prompt(
    agent: Any,
    prompt: Prompt | str,
    *,
    answers: Answers = accept_all,
    cancel_on: Callable[[AnyEvent], bool] | None = None,
    cwd: str | None = None,
    settings: Settings = _SETTINGS,
    timeout: float = 30.0,
) -> list[AnyEvent]:
    """Give every event of one turn in a new session that is kept in memory.

    ``agent`` is anything that ``adapt`` takes. ``answers`` is asked for every question; one that it
    leaves open waits for its expiry. With ``cancel_on`` the turn is cancelled after the first event for
    which it is true. A turn that takes longer than ``timeout`` seconds raises TimeoutError.
    """
    journal = MemoryJournal()
    await journal.open()
    events: list[AnyEvent] = []
    try:
        async with asyncio.timeout(timeout), Hub(adapt(agent), journal, settings=settings) as hub:
            session = await hub.create(cwd=cwd)
            async for event in session.stream(prompt):
                events.append(event)
                if isinstance(event, Asked) and (answer := answers(event)) is not None:
                    await session.answer(answer)
                if cancel_on is not None and cancel_on(event):
                    cancel_on = None
                    await session.cancel()
    finally:
        await journal.close()
    return events
