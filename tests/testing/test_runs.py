from collections.abc import AsyncIterator

import pytest

import trunkline
from trunkline import events as ev
from trunkline.session.context import TurnContext
from trunkline.session.settings import Settings
from trunkline.testing import ScriptedAgent, run_prompt


async def greet(prompt: trunkline.Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    yield f"hello {prompt.text}"


async def test_anything_that_can_be_adapted_can_be_run() -> None:
    events = await run_prompt(greet, "you")

    assert trunkline.fold(events).messages[-1].text == "hello you"
    assert isinstance(events[-1], ev.TurnFinished)


async def test_a_question_left_open_expires() -> None:
    events = await run_prompt(
        ScriptedAgent(), "/permission", answers=lambda asked: None, settings=Settings(question_ttl=0.01)
    )

    (answered,) = (event for event in events if isinstance(event, ev.Answered))
    assert (answered.option_kind, answered.by) == ("reject_once", "trunkline")


async def test_a_turn_is_cancelled_once_when_the_time_has_come() -> None:
    events = await run_prompt(
        ScriptedAgent(), "/slow 100 0.01", cancel_on=lambda event: isinstance(event, ev.Text)
    )

    assert isinstance(events[-1], ev.TurnFinished)
    assert events[-1].stop_reason == "cancelled"


async def test_a_turn_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(TimeoutError):
        await run_prompt(ScriptedAgent(), "/wait-for-cancel", timeout=0.05)
