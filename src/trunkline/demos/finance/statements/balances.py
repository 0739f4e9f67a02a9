"""Running balances prove which sign is money out, and in which order the rows of a file are."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Literal

_ENOUGH = 0.9

ProvenSign = Literal["negative_is_out", "positive_is_out"]


def proven_sign(
    pairs: Sequence[tuple[Decimal, Decimal]], *, newest_first: bool | None = None
) -> ProvenSign | None:
    """Tell which sign is money out; pairs are (amount, balance after it) in the file's order.

    None if no sign explains nearly all balances, or if both do: equal amounts in a row fit both signs, unless
    it is known which row is the newest.
    """
    steps = len(pairs) - 1
    if steps < 1:
        return None
    found: dict[ProvenSign, int] = {"negative_is_out": 0, "positive_is_out": 0}
    for newest in (True, False) if newest_first is None else (newest_first,):
        signs: tuple[tuple[ProvenSign, int], ...] = (("negative_is_out", 1), ("positive_is_out", -1))
        for sign, factor in signs:
            found[sign] = max(found[sign], _count(pairs, newest, factor))
    best: ProvenSign = max(found, key=lambda sign: found[sign])
    if found[best] < _ENOUGH * steps or found["negative_is_out"] == found["positive_is_out"]:
        return None
    return best


def newest_first(dates: Sequence[datetime.date]) -> bool | None:
    """Whether the rows run from new to old; None if the dates do not show it."""
    if not dates or dates[0] == dates[-1]:
        return None
    return dates[0] > dates[-1]


def count_explained(pairs: Sequence[tuple[Decimal, Decimal]]) -> int:
    """Count the rows before whose signed amount there was the balance of another row.

    In which order they are does not matter, so a file may have several accounts or currencies.
    """
    balances = {after for _, after in pairs}
    return sum(moved != 0 and after - moved in balances for moved, after in pairs)


def _count(pairs: Sequence[tuple[Decimal, Decimal]], newest_first: bool, factor: int) -> int:
    """Count the steps between two rows that a sign explains."""
    rows = pairs[::-1] if newest_first else pairs
    return sum(after - before == factor * moved for (_, before), (moved, after) in pairwise(rows))
