"""Finds Markdown tables among lines of text, and reads their cells. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_CELL = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\|(?:\s*:?-{3,}:?\s*\|)+")
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:[.,]\d{3})+|\d+)(?:[.,]\d+)?%?(?: [A-Z]{3})?")


def table_size(lines: Sequence[str]) -> int:
    """How many of the first lines are a table: its header, its rule and its rows; 0 if there is none."""
    if len(lines) < 2 or not _is_row(lines[0]) or _RULE.fullmatch(lines[1].rstrip()) is None:
        return 0
    if len(cells_of(lines[0])) != len(cells_of(lines[1])):
        return 0
    size = 2
    while (
        size < len(lines) and _is_row(lines[size]) and len(cells_of(lines[size])) == len(cells_of(lines[0]))
    ):
        size += 1
    return size


def cells_of(line: str) -> list[str]:
    """Give the cells of a row."""
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(line.rstrip())[1:-1]]


def is_numeric(cells: Iterable[str]) -> bool:
    """Whether a column has numbers or amounts only, and at least one."""
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(_NUMBER.fullmatch(cell) for cell in filled)


def _is_row(line: str) -> bool:
    return line.startswith("|") and len(_CELL.findall(line)) > 1 and line.rstrip().endswith("|")
