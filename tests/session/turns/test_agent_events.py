"""What the events of an agent change in its session."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from tests.hubs import collect, only, run_turn, session_for, text_of

from trunkline import events as ev
from trunkline.commands import Answer, Prompt
from trunkline.questions import Form
from trunkline.session.context import TurnContext


async def test_a_question_that_an_agent_yields_itself_can_be_answered_and_withdrawn() -> None:
    async def raw(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
        yield ev.Asked(question_id="q1", question=Form(message="Name?", fields={}))
        yield ev.Asked(question_id="q2", question=Form(message="Age?", fields={}))
        while "q1" in ctx.session.memory["open"]:
            await asyncio.sleep(0)
        yield ev.Answered(question_id="q2", outcome="declined", by="agent")
        yield "done"

    async with session_for(raw) as session:
        session.view.memory["open"] = session.open_questions

        async def decide(event: ev.TurnSuspended) -> None:
            await session.answer(Answer(question_id="q1", outcome="accepted", content={}))

        events = await collect(session, "go", {ev.TurnSuspended: decide})
        assert [(a.question_id, a.outcome) for a in only(events, ev.Answered)] == [
            ("q1", "accepted"),
            ("q2", "declined"),
        ]
        assert text_of(events) == "done"


async def test_a_patch_that_does_not_fit_fails_the_turn_of_an_agent_that_yields_it() -> None:
    async def bad() -> AsyncIterator[ev.Event]:
        yield ev.StatePatched(patch=({"op": "remove", "path": "/missing"},))

    failed = (await run_turn(bad, "go"))[-1]
    assert isinstance(failed, ev.TurnFailed)
    assert (failed.code, failed.fault) == ("agent_protocol", "agent")
    assert "state patch that does not fit" in failed.message
