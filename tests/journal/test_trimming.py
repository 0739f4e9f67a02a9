"""Trimming: where a session may be cut, fed with values."""

import pytest

from trunkline.journal import trimming
from trunkline.journal.codec import COMMAND, EVENT, TURN


@pytest.mark.parametrize(
    ("kinds", "excess", "expected"),
    [
        ([], 1, None),
        ([EVENT, EVENT], 1, None),
        ([TURN, EVENT, COMMAND], 100, None),
        ([TURN, EVENT, TURN, EVENT, TURN], 1, (3, 20)),
        ([TURN, EVENT, TURN, EVENT, TURN], 21, (5, 40)),
        ([TURN, EVENT, TURN, EVENT, TURN], 1000, (5, 40)),
    ],
)
def test_whole_turns_are_trimmed_but_never_the_newest(
    kinds: list[int], excess: int, expected: tuple[int, int] | None
) -> None:
    assert trimming.choose_cut([(seq, kind, 10) for seq, kind in enumerate(kinds, 1)], excess) == expected
