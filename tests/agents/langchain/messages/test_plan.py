from __future__ import annotations

from typing import Any

import pytest

from trunkline import events as ev
from trunkline.agents.langchain.messages.plan import plan_entries, plan_in_state

TODO = {"content": "Write", "status": "in_progress"}


@pytest.mark.parametrize(
    ("values", "plan"),
    [
        ({"todos": [TODO], "plan": ["other"]}, [TODO]),
        ({"plan": ["a"]}, ["a"]),
        ({"todos": "no list", "messages": []}, None),
        ({}, None),
    ],
)
def test_the_plan_of_a_state_is_in_its_todos_or_its_plan(values: dict[str, Any], plan: Any) -> None:
    assert plan_in_state(values) == plan


def test_an_entry_is_read_from_a_text_a_mapping_or_an_entry() -> None:
    entry = ev.PlanEntry(content="Ready", status="completed", priority="high")
    assert plan_entries(["Text", TODO, entry, {"title": "Named", "status": "lost", "priority": 7}]) == (
        ev.PlanEntry(content="Text"),
        ev.PlanEntry(content="Write", status="in_progress"),
        entry,
        ev.PlanEntry(content="Named", status="pending", priority="medium"),
    )
