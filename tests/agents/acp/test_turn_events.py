"""What an agent says out of turn."""

import asyncio
from pathlib import Path

from tests.agents.acp.worlds import world
from tests.hubs import collect, events_of
from trunkline import events as ev


async def test_what_comes_after_the_answer_is_told_to_the_session_or_opens_a_turn(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()
        await collect(session, "later")
        async with session.follow() as reader:
            async with asyncio.timeout(10):
                async for entry in reader:
                    if isinstance(entry.event, ev.TurnFinished):
                        break
        written = await events_of(session)
        assert session.info.title == "A late title"
        started = [event for event in written if isinstance(event, ev.TurnStarted)]
        assert [event.by for event in started] == [None, "agent"]
        assert [e.delta for e in written if isinstance(e, ev.Text) and e.turn_id == started[1].turn_id] == [
            "one more thing"
        ]
