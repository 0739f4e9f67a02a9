"""Scenarios that go wrong."""

from __future__ import annotations

from tests.demos.scenario_runs import answer_of, meaning

from trunkline.grammar.table import RULES


async def test_failures_keep_what_was_said_and_name_the_cause() -> None:
    told = await meaning("/fails")
    assert answer_of(told) == "This goes well until "
    assert (told.turns[-1].code, told.turns[-1].fault) == ("agent_failed", "agent")
    assert "on purpose" in (told.turns[-1].message or "")

    told = await meaning("/raises")
    assert (told.turns[-1].message or "").startswith("RuntimeError:")
    assert [call.status for call in told.calls.values()] == ["failed"]


async def test_every_rule_can_be_broken_and_is_reported() -> None:
    told = await meaning("/breaks-grammar")

    broken = {notice.meta["rule"] for notice in told.notices if notice.meta is not None}
    assert broken == set(RULES) - {"ended-call"}, "that one takes an earlier turn"
    assert told.turns[-1].stop_reason == "end_turn"
    assert answer_of(told) == "I never learned the rules. But I mean well."
