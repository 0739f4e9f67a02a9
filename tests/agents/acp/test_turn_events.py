"""What an agent says out of turn."""

import asyncio
from pathlib import Path

import pytest

from tests.agents.acp.worlds import ask, notices_of, world
from tests.hubs import collect, events_of, only, text_of, until
from trunkline import events as ev
from trunkline.agents.acp import turn_events as module
from trunkline.commands import Answer, Cancel, Prompt
from trunkline.errors import SessionBusy
from trunkline.session.session import Session


async def until_turns(session: Session, count: int) -> list[ev.AnyEvent]:
    """Wait until so many turns are over, and give everything that was said."""
    async with asyncio.timeout(10):
        while True:
            events = await events_of(session)
            if len(only(events, ev.TurnFinished)) + len(only(events, ev.TurnFailed)) >= count:
                return events
            await asyncio.sleep(0.01)


async def test_what_comes_after_the_answer_is_told_to_the_session_or_opens_a_turn(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()
        await collect(session, "later")
        written = await until_turns(session, 2)
        assert session.info.title == "A late title"
        started = [event for event in written if isinstance(event, ev.TurnStarted)]
        assert [event.by for event in started] == [None, "agent"]
        assert [e.delta for e in written if isinstance(e, ev.Text) and e.turn_id == started[1].turn_id] == [
            "one more thing"
        ]


async def test_a_question_out_of_turn_gets_a_turn_and_is_answered(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()
        async with session.follow() as reader:
            await session.prompt(Prompt.of("ask later"))
            async with asyncio.timeout(10):
                async for entry in reader:
                    if isinstance(entry.event, ev.Asked):
                        break
        (question,) = session.open_questions
        await session.answer(Answer(question_id=question, option_id="y"))
        events = await until_turns(session, 2)
        started = only(events, ev.TurnStarted)
        assert [one.by for one in started] == [None, "agent"]
        assert text_of(events) == "soon got y"
        (call,) = only(events, ev.ToolCall)
        assert call.turn_id == started[1].turn_id


async def test_a_turn_of_the_agents_waits_for_its_calls_and_ends_with_its_process(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()
        await collect(session, "work later")
        events = await until_turns(session, 2)
        updates = only(events, ev.ToolUpdate)
        assert updates[-1].status == "failed", "its process ended before the call did"
        assert any("ended; it is started again" in title for title in notices_of(events))
        assert await ask(session, "hello") == "You said hello"


async def test_a_prompt_takes_over_what_came_before_it(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()
        await session.prepare()
        (opened,) = here.agent._sessions.values()  # pyright: ignore[reportPrivateUsage]
        events = opened._native.events  # pyright: ignore[reportPrivateUsage]
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "early "}}
        opened._native.take_update(update)  # pyright: ignore[reportPrivateUsage]
        assert events.is_busy
        said = await events_until_idle(session, "hello")
        assert text_of(said) == "early You said hello"


async def events_until_idle(session: Session, text: str) -> list[ev.AnyEvent]:
    """Send a prompt as soon as it is taken, and give everything that was said until nothing runs."""
    async with asyncio.timeout(10):
        while True:
            try:
                await session.prompt(Prompt.of(text))
                break
            except SessionBusy:
                await asyncio.sleep(0.01)
        await session.wait_until_idle()
    return await events_of(session)


async def test_the_rest_of_a_cancelled_turn_is_discarded(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()

        async def cancel(_: ev.Text) -> None:
            await session.submit(Cancel())

        await collect(session, "chatty", {ev.Text: cancel})
        (opened,) = here.agent._sessions.values()  # pyright: ignore[reportPrivateUsage]
        turns = opened._native.events  # pyright: ignore[reportPrivateUsage]
        ended_at = turns.heard_at
        await until(lambda: turns.heard_at > ended_at)
        assert await ask(session, "hello") == "You said hello"
        events = await events_of(session)
        assert "after the end" not in text_of(events)
        assert len(only(events, ev.TurnStarted)) == 2


@pytest.mark.parametrize(("limit", "most"), [("LATE_LIMIT", 10), ("LATE_BYTES", 1000)])
async def test_more_than_can_wait_lets_the_agent_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(module, limit, most)
    async with world(tmp_path) as here:
        session = await here.hub.create()
        await collect(session, "flood later")
        events = await until_turns(session, 2)
        assert text_of(events).split() == ["soon", *(str(number) for number in range(500))]
