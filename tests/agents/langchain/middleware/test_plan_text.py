"""Tests of the plans in a model's words."""

import time
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from trunkline.agents.langchain.middleware._plan_text import outline, plan_in


def lines(text: str, *, every: bool = False) -> list[str]:
    return [entry.content for entry in outline(text, every=every)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("My plan:\n1. Look\n2. Write", ["Look", "Write"]),
        ("## Steps\n\n1) Look\n\n2) Write\n", ["Look", "Write"]),
        ("Step 1: Look\nStep 2: Write", ["Look", "Write"]),
        ("- [ ] Look\n- [x] Write", ["Look", "Write"]),
        ("* [ ] Look\n  with care\n* [ ] Write", ["Look", "Write"]),
        ("The tasks are\n1. [x] Look\n2. [ ] Write\nand no more", ["Look", "Write"]),
        (
            "Plan\n1. **Look** at `a.py`\n   1. first half\n   2. second half\n2. __Write__",
            ["Look at `a.py`", "Write"],
        ),
        ("Plan:\r\n1. Look\r\n2. Write\r\n", ["Look", "Write"]),
        ("Facts\n1. One\n2. Two\n\nPlan\n1. Look\n2. Write", ["Look", "Write"]),
    ],
)
def test_a_list_that_says_what_it_is_becomes_a_plan(text: str, found: list[str]) -> None:
    assert lines(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "", "The three largest cities:\n1. Tokyo\n2. Delhi\n3. Shanghai", "Plan:\n1. Look",
        "Plan:\n2. Look\n3. Write", "Plan: look, then write.", "My plan:\n```\n1. Look\n2. Write\n```",
        "- Look\n- Write", "In 2024. Nothing happened", "[x] Look",
    ],
)  # fmt: skip
def test_any_other_list_is_a_part_of_the_answer(text: str) -> None:
    assert lines(text) == []


def test_a_numbered_list_without_a_word_counts_where_every_list_does() -> None:
    assert lines("Now\n1. Look\n2. Write\n4. Sleep", every=True) == ["Look", "Write"]


def test_the_marks_of_boxes_are_the_states_of_the_work() -> None:
    plan = outline("- [x] a\n- [X] b\n- [~] c\n- [>] d\n- [-] e\n- [ ] f", every=False)
    assert [entry.status for entry in plan] == [*["completed"] * 2, *["in_progress"] * 3, "pending"]


def test_a_list_of_boxes_ends_where_boxes_end() -> None:
    assert lines("- [ ] a\n- [ ] b\n1. c\n2. d") == ["a", "b"]


def test_a_plan_is_bounded_and_read_in_a_moment() -> None:
    assert len(lines("plan\n" + "\n".join(f"{n}. step" for n in range(1, 500)))) == 100
    began = time.process_time()
    for text in (
        "1. a\n" * 100_000,
        "- " * 200_000,
        "1. " + "**a" * 100_000 + "\n2. b",
        "1. " + " " * 300_000,
    ):
        lines(text, every=True)
    assert time.process_time() - began < 2


def message(content: Any, **fields: Any) -> AIMessage:
    return AIMessage(content=content, **fields)


def contents(given: AIMessage, *, planning: bool = False) -> list[str]:
    return [entry.content for entry in plan_in(given, planning=planning)]


def test_reasoning_is_read_wherever_the_provider_puts_it() -> None:
    blocks = message(
        [{"type": "reasoning", "reasoning": "1. Look\n2. Write"}, {"type": "text", "text": "Yes."}]
    )
    field = message("Yes.", additional_kwargs={"reasoning_content": "1. Look\n2. Write"})
    assert contents(blocks) == contents(field) == ["Look", "Write"]


def test_what_is_said_comes_before_what_is_thought() -> None:
    both = message("The plan\n1. a\n2. b", additional_kwargs={"reasoning_content": "1. c\n2. d"})
    assert contents(both) == ["a", "b"]


def test_who_counts_and_then_acts_plans() -> None:
    words = "I go on like this:\n1. Look\n2. Write"
    acting = message(words, tool_calls=[{"name": "look", "args": {}, "id": "1", "type": "tool_call"}])
    assert (contents(message(words)), contents(acting)) == ([], ["Look", "Write"])
    assert contents(message(words), planning=True) == ["Look", "Write"]
