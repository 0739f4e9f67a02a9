"""What a bench gives back, as a table for people and as JSON with every raw sample."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bench import machine

Cell = str | int | float | None
Row = dict[str, Cell]


class Result(msgspec.Struct, kw_only=True):
    """One bench: a table of cases, the samples it was made from, and what the budgets say of it."""

    name: str
    about: str
    rows: list[Row]
    samples: dict[str, list[Any]]
    verdicts: list[str] = []
    quick: bool = False
    machine: dict[str, Any] = msgspec.field(default_factory=machine.facts)


def median(values: Iterable[float]) -> float:
    """The middle value, which a busy neighbour moves less than the mean."""
    return statistics.median(values)


def spread(values: Sequence[float], scale: float = 1.0, digits: int = 2) -> str:
    """The smallest and the largest, as text."""
    return f"{min(values) * scale:.{digits}f}..{max(values) * scale:.{digits}f}"


def table(rows: Sequence[Row]) -> str:
    """Lay rows out in columns; the keys of the first are the headings."""
    heads = list(rows[0])
    lines = [heads, *([_cell(row.get(head)) for head in heads] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    first, *others = widths
    return "\n".join(
        "  ".join(
            [line[0].ljust(first), *(cell.rjust(width) for cell, width in zip(line[1:], others, strict=True))]
        )
        for line in lines
    )


def _cell(value: Cell) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else value


def show(result: Result) -> str:
    """A bench as people read it."""
    facts = result.machine
    on = f"{facts['cores']} cores, load {facts['load'][0]}, Python {facts['python']}"
    lines = [f"{result.name}: {result.about}", f"({on})", "", table(result.rows), ""]
    return "\n".join([*lines, *result.verdicts, ""])


def write(result: Result, folder: Path) -> Path:
    """Keep everything that was measured."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{result.name}.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    return path
