"""Trimming: which old turns go, in every engine, when a session is larger than ``Settings.retain_bytes``."""

from __future__ import annotations

from collections.abc import Iterable

from trunkline.journal.codec import TURN


def choose_cut(rows: Iterable[tuple[int, int, int]], excess: int) -> tuple[int, int] | None:
    """Choose where to trim a session: the first record to keep, and how many bytes go.

    ``rows`` are (seq, kind, size) from the oldest on. Whole turns go until ``excess`` bytes are
    freed; the newest turn stays however big it is, and with it all open questions. None when nothing may go.
    """
    best: tuple[int, int] | None = None
    freed = 0
    for position, (seq, kind, size) in enumerate(rows):
        if kind == TURN and position:
            best = (seq, freed)
            if freed >= excess:
                break
        freed += size
    return best
