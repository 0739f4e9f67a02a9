"""The updates of a replay: as many as are kept."""

from typing import Any

from trunkline.agents.acp.replayed_updates import KeptUpdates


def updates(count: int) -> list[dict[str, Any]]:
    return [{"number": number} for number in range(count)]


def test_a_replay_is_kept_up_to_its_limits_and_without_holes() -> None:
    by_number, by_size = KeptUpdates(2), KeptUpdates(100, 50)
    for update in [*updates(3), {"text": "x" * 50}, {}]:
        by_number.add(update)
        by_size.add(update)
    assert (by_number.updates, by_number.is_full) == (updates(2), True)
    assert (by_size.updates, by_size.is_full) == (updates(3), True)
    whole = KeptUpdates()
    whole.add({})
    assert (whole.updates, whole.is_full) == ([{}], False)
