"""A journal with two sessions, for tests of the commands about sessions."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from tests.cli.child_programs import Result
from trunkline.commands import Answer
from trunkline.events import Asked
from trunkline.journal.sqlite import SqliteJournal
from trunkline.session.hub import Hub
from trunkline.testing import ScriptedAgent, accept_all

Run = Callable[..., Result]
FIRST, SECOND = "sess_aaaaaaaa11111111", "sess_aaaaaaaa22222222"


async def fill(path: Path) -> None:
    journal = SqliteJournal(path)
    await journal.open()
    async with asyncio.timeout(30), Hub(ScriptedAgent(), journal, target="demo") as hub:
        for session_id, prompts in ((FIRST, ["/permission", "/subagents"]), (SECOND, ["hello", "/fails"])):
            session = await hub.create(session_id)
            for prompt in prompts:
                async for event in session.stream(prompt):
                    if isinstance(event, Asked):
                        answer: Answer = accept_all(event)
                        await session.answer(answer)
    await journal.close()
