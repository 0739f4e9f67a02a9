"""Parts that are sent whole each time: how much of them is sent, and that the newest comes."""

from typing import Any

from trunkline.frontends.aisdk.budget import Budget


def part(size: int, name: str = "x") -> list[Any]:
    return [{"type": "data-a", "data": name * size}]


def test_little_is_sent_at_once_and_much_waits_for_its_time() -> None:
    budget = Budget()

    assert budget.offer("a", lambda: part(300_000), 1.0)
    assert budget.offer("a", lambda: part(10), 1.0) == []
    assert budget.is_waiting
    assert budget.due(1.1) == []
    assert budget.due(2.0) == part(10)
    assert not budget.is_waiting


def test_only_the_newest_form_of_a_part_is_sent() -> None:
    budget = Budget()
    budget.offer("a", lambda: part(600_000), 1.0)
    for name in "bcd":
        budget.offer("a", lambda name=name: part(3, name), 1.0)

    assert budget.flush() == part(3, "d")
    assert budget.flush() == []


def test_a_part_that_is_sent_at_once_takes_the_place_of_what_waits() -> None:
    budget = Budget()
    budget.offer("a", lambda: part(600_000), 1.0)
    budget.offer("a", lambda: part(3), 1.0)

    assert budget.now("a", part(4)) == part(4)
    assert budget.flush() == []
