"""Transcripts: events in a form in which two runs of the same story are equal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from trunkline.events import Event, encode_event

# The ids we make: a prefix and at least 96 random bits. Ids derived from them keep their tails.
_RANDOM = re.compile(rb"\b([a-z]+)_[0-9a-f]{24,}\b")
_TIMES = ("at", "expires_at")


def normalize(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Give events as plain values with their random ids counted and their times left out.

    The first turn becomes ``turn1``, the first prompt ``prompt1``; an id that was made from one, as
    ``turn_9f...c1.q1``, becomes ``turn1.q1``. Order and pieces of text stay as they are.
    """
    names: dict[bytes, bytes] = {}
    counts: dict[bytes, int] = {}

    def name(match: re.Match[bytes]) -> bytes:
        if match[0] not in names:
            counts[match[1]] = counts.get(match[1], 0) + 1
            names[match[0]] = b"%b%d" % (match[1], counts[match[1]])
        return names[match[0]]

    lines: list[dict[str, Any]] = [
        msgspec.json.decode(_RANDOM.sub(name, encode_event(event))) for event in events
    ]
    return [{key: value for key, value in line.items() if key not in _TIMES} for line in lines]
