"""Ages and sizes as a person writes them: 30d, 12h, 100M."""

from __future__ import annotations

import math
import re
import time

import click

_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_WRITTEN = re.compile(r"([0-9]{1,12}(?:[.][0-9]{1,3})?) ?([A-Za-z]*)")


def parse_age(text: str) -> float:
    """Read a number of seconds, minutes, hours or days."""
    found = _WRITTEN.fullmatch(text)
    if found is None or found[2] not in _SECONDS:
        raise click.BadParameter(f"{text!r} is no age: write a number with s, min, h or d, for example 30d")
    return float(found[1]) * _SECONDS[found[2]]


def parse_wait(text: str) -> float:
    """Read an age, or "never"."""
    return math.inf if text == "never" else parse_age(text)


def parse_size(text: str) -> int:
    """Read a number of bytes, or of K, M or G of them."""
    found = _WRITTEN.fullmatch(text)
    unit = found[2].upper().removesuffix("B") if found else ""
    if found is None or unit not in _BYTES:
        raise click.BadParameter(f"{text!r} is no size: write a number with K, M or G, for example 100M")
    return int(float(found[1]) * _BYTES[unit])


def size_text(size: int) -> str:
    """Write a size in its largest unit."""
    for unit in ("G", "M", "K"):
        if size >= _BYTES[unit]:
            return f"{size / _BYTES[unit]:.1f} {unit}"
    return f"{size} B"


def age_of(at: float) -> str:
    """Give the time since a moment in its largest unit."""
    seconds = max(0, int(time.time() - at))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
