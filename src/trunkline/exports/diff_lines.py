"""A change of a file as lines, for files that are made of a conversation."""

from __future__ import annotations

import difflib

from trunkline.content import DiffBlock

_MOST_LINES = 2000


def lines_of_change(block: DiffBlock) -> list[str]:
    """Give the lines of a unified diff without its head; of a very long one, the beginning."""
    old, new = (block.old or "").splitlines(), (block.new or "").splitlines()
    lines = list(difflib.unified_diff(old[:_MOST_LINES], new[:_MOST_LINES], lineterm="", n=3))[2:]
    return [*lines, "…"] if max(len(old), len(new)) > _MOST_LINES else lines


def word_of_change(block: DiffBlock) -> str:
    """Say what happens to the file."""
    if block.old == block.new:
        return "unchanged"
    return "deleted" if block.new is None else "new" if block.old is None else "changed"
