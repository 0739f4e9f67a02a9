"""The process of a session that nobody uses: when it ends, and what keeps it."""

import asyncio
import json
from pathlib import Path

from tests.agents.acp.worlds import ask, notices_of, world
from tests.hubs import events_of, until
from tests.process_state import is_alive
from trunkline import events as ev
from trunkline.commands import Answer


async def test_an_unused_process_ends_and_the_next_prompt_loads_the_session(tmp_path: Path) -> None:
    async with world(tmp_path, idle_close=0.3) as here:
        session = await here.hub.create()
        pid = int(await ask(session, "pid"))
        await until(lambda: not is_alive(pid))
        assert len(json.loads(await ask(session, "recall"))) == 3
        assert len(here.sent("session/new")) == 1
        assert notices_of(await events_of(session)) == []


async def test_a_session_that_a_person_uses_is_not_idle(tmp_path: Path) -> None:
    async with world(tmp_path, idle_close=0.2) as here:
        session = await here.hub.create()

        async def yes(asked: ev.Asked) -> None:
            await asyncio.sleep(0.6)
            await session.answer(Answer(question_id=asked.question_id, option_id="y"))

        assert await ask(session, "ask", answers={ev.Asked: yes}) == "got y"
        assert len(here.sent("initialize")) == 1


async def test_a_process_whose_command_still_runs_in_a_terminal_is_not_idle(tmp_path: Path) -> None:
    async with world(tmp_path, idle_close=0.1) as here:
        session = await here.hub.create()
        done = tmp_path / "done"
        pid = int(await ask(session, f"run sleep 0.7; touch {done}"))
        await until(lambda: not is_alive(pid))
        assert done.exists()
