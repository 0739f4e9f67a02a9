"""Updates that wait until a message is decided: in order, bounded in number and in time."""

from typing import Any

from tests.hubs import soon, until
from trunkline.agents.acp.held_updates import HOLD_CHARACTERS, HOLD_LIMIT, HeldUpdates


def updates(count: int) -> list[dict[str, Any]]:
    return [{"number": number} for number in range(count)]


async def test_what_is_held_is_taken_in_order_and_what_comes_after_is_taken_at_once() -> None:
    taken: list[Any] = []
    held = HeldUpdates(taken.append)
    assert not held.keeps({})
    held.hold()
    held.hold()
    assert all(held.keeps(update) for update in updates(3))
    assert (taken, held.released.is_set()) == ([], False)
    held.release()
    held.release()
    assert (taken, held.released.is_set()) == (updates(3), True)
    assert not held.keeps({})


async def test_no_more_than_a_limit_is_held() -> None:
    taken: list[Any] = []
    held = HeldUpdates(taken.append)
    held.hold()
    for update in updates(HOLD_LIMIT):
        held.keeps(update)
    assert taken == updates(HOLD_LIMIT)
    assert not held.keeps({})


async def test_nothing_is_held_for_long() -> None:
    taken: list[Any] = []
    held = HeldUpdates(taken.append)
    held.hold()
    held.keeps({"number": 0})
    await soon(held.released.wait())
    await until(lambda: taken == updates(1))


async def test_no_more_than_some_megabytes_are_held() -> None:
    taken: list[Any] = []
    held = HeldUpdates(taken.append)
    held.hold()
    held.keeps({"text": "x" * HOLD_CHARACTERS})
    assert len(taken) == 1
    assert held.released.is_set()
