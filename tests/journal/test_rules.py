"""Rules of trimming and blobs, fed with values; all others are in test_interface, on every engine."""

import pytest

from trunkline.errors import Corrupt
from trunkline.journal import rules
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
    assert rules.cut([(seq, kind, 10) for seq, kind in enumerate(kinds, 1)], excess) == expected


def test_blobs_are_named_by_their_digest_and_found_in_payloads() -> None:
    digest = rules.digest_of(b"data")
    assert rules.digests_in(f'{{"a": "{digest}", "b": "sha256:no"}}'.encode()) == {digest}
    assert rules.verify(digest, b"data") == b"data"
    with pytest.raises(Corrupt, match="damaged"):
        rules.verify(digest, b"date")
