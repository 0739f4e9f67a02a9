"""An agent that says nothing in a turn: noticed, stopped, and what is no silence."""

import asyncio
from pathlib import Path

from tests.agents.acp.worlds import ask, notices_of, world
from tests.hubs import collect
from trunkline import events as ev
from trunkline.commands import Answer


async def test_a_silent_agent_is_noticed_once_and_stopped_if_that_is_wished(tmp_path: Path) -> None:
    async with world(tmp_path, silent_after=0.2, stop_silent_after=0.8, cancel_within=0.2) as here:
        session = await here.hub.create()
        events = await collect(session, "silent")
        assert notices_of(events) == ["Scripted has said nothing for 0 s; its process still runs"]
        assert isinstance(events[-1], ev.TurnFailed)
        assert "was stopped, as it said nothing for 0.8 s" in events[-1].message
        assert await ask(session, "hello") == "You said hello"


async def test_a_question_that_waits_for_a_person_is_no_silence(tmp_path: Path) -> None:
    async with world(tmp_path, silent_after=0.1, stop_silent_after=0.2) as here:
        session = await here.hub.create()

        async def yes(asked: ev.Asked) -> None:
            await asyncio.sleep(0.5)
            await session.answer(Answer(question_id=asked.question_id, option_id="y"))

        assert await ask(session, "ask", answers={ev.Asked: yes}) == "got y"
