"""Scenarios that go wrong."""

from tests.demos.scenario_runs import answer_of, meaning

from trunkline.grammar.table import RULES


async def test_failures_keep_what_was_said_and_name_the_cause() -> None:
    output = await meaning("/fails")
    assert answer_of(output) == "This goes well until "
    assert (output.turns[-1].code, output.turns[-1].fault) == ("agent_failed", "agent")
    assert "on purpose" in (output.turns[-1].message or "")

    output = await meaning("/raises")
    assert (output.turns[-1].message or "").startswith("RuntimeError:")
    assert [call.status for call in output.calls.values()] == ["failed"]


async def test_every_rule_can_be_broken_and_is_reported() -> None:
    output = await meaning("/breaks-grammar")

    broken = {notice.meta["rule"] for notice in output.notices if notice.meta is not None}
    assert broken == set(RULES) - {"ended-call"}, "that one takes an earlier turn"
    assert output.turns[-1].stop_reason == "end_turn"
    assert answer_of(output) == "I never learned the rules. But I mean well."
