"""Suspension: what a turn that waits emits; that parallel questions are seen together is in test_turn."""

from typing import Any

from tests.hubs import until

from trunkline import events as ev
from trunkline.session.turns.suspension import Suspension


async def test_a_turn_without_an_open_question_is_not_suspended() -> None:
    emitted: list[Any] = []
    questions: dict[str, object] = {}
    suspension = Suspension("t", questions, emitted.append, 0.0)
    suspension.suspend()
    assert emitted == []
    questions["q"] = None
    suspension.suspend_when_quiet()
    await until(lambda: bool(emitted))
    assert emitted == [ev.TurnSuspended(turn_id="t", question_ids=("q",))]


async def test_a_turn_that_is_over_is_not_suspended() -> None:
    emitted: list[Any] = []
    later: list[Any] = []
    suspension = Suspension("t", {"q": None}, emitted.append, 0.0)
    suspension.suspend_when_quiet()
    suspension.close()
    suspension.suspend()
    suspension.suspend_when_quiet()
    Suspension("other", {"q": None}, later.append, 0.001).suspend_when_quiet()
    await until(lambda: bool(later))
    assert emitted == []


async def test_a_turn_whose_agent_says_that_it_waits_is_suspended_once() -> None:
    emitted: list[Any] = []
    later: list[Any] = []
    suspension = Suspension("t", {"q": None}, emitted.append, 0.0)
    suspension.suspend_when_quiet()
    suspension.suspend()
    Suspension("other", {"q": None}, later.append, 0.001).suspend_when_quiet()
    await until(lambda: bool(later))
    assert len(emitted) == 1
