"""Parts that are sent whole each time: how much of them is sent, and that the newest comes."""

from typing import Any

from trunkline.frontends.aisdk.throttle import Throttle


def part(size: int, name: str = "x") -> list[Any]:
    return [{"type": "data-a", "data": name * size}]


def test_little_is_sent_at_once_and_much_waits_for_its_time() -> None:
    throttle = Throttle()

    assert throttle.offer("a", lambda: part(300_000), 1.0)
    assert throttle.offer("a", lambda: part(10), 1.0) == []
    assert throttle.is_waiting
    assert throttle.due(1.1) == []
    assert throttle.due(2.0) == part(10)
    assert not throttle.is_waiting


def test_only_the_newest_form_of_a_part_is_sent() -> None:
    throttle = Throttle()
    throttle.offer("a", lambda: part(600_000), 1.0)
    for name in "bcd":
        throttle.offer("a", lambda name=name: part(3, name), 1.0)

    assert throttle.flush() == part(3, "d")
    assert throttle.flush() == []


def test_a_part_that_is_sent_at_once_takes_the_place_of_what_waits() -> None:
    throttle = Throttle()
    throttle.offer("a", lambda: part(600_000), 1.0)
    throttle.offer("a", lambda: part(3), 1.0)

    assert throttle.now("a", part(4)) == part(4)
    assert throttle.flush() == []
