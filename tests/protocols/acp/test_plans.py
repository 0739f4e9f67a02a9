"""Plans of an ACP agent, as one."""

from typing import Any

from trunkline import events as ev
from trunkline.protocols.acp.plans import Plans


def items(plan_id: str, *lines: str) -> dict[str, Any]:
    """Give a plan by its id."""
    entries = [{"content": line} for line in lines]
    return {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": plan_id, "entries": entries}}


def lines(event: Any) -> list[str]:
    """Give the lines of a plan."""
    assert isinstance(event, ev.Plan)
    return [entry.content for entry in event.entries]


def test_several_plans_are_shown_one_after_the_other() -> None:
    plans = Plans()
    assert lines(plans.take(items("p", "a"))) == ["a"]
    assert lines(plans.take(items("q", "b"))) == ["a", "b"]
    assert lines(plans.take(items("p", "a", "c"))) == ["a", "c", "b"]
    assert lines(plans.take({"sessionUpdate": "plan_removed", "planId": "p"})) == ["b"]


def test_a_plan_without_a_name_is_the_whole_plan() -> None:
    plans = Plans()
    plans.take(items("p", "a"))
    assert lines(plans.take({"sessionUpdate": "plan", "entries": [{"content": "x", "status": "later"}]})) == [
        "x"
    ]


def test_a_plan_in_markdown_is_an_activity() -> None:
    shown = Plans().take(
        {"sessionUpdate": "plan_update", "plan": {"type": "markdown", "planId": "p", "content": "# Plan"}}
    )
    assert shown == ev.Activity(
        activity_id="p", activity_type="plan", content={"type": "markdown", "content": "# Plan"}
    )
