"""The rules of a UI message stream that need no AI SDK to check."""

from collections.abc import Sequence
from typing import Any

from trunkline.protocols.aisdk.wire import CHUNK_KEYS, VERSIONS, Chunk

__all__ = ["breaches"]

_ENDS = ("finish", "error")


def breaches(chunks: Sequence[Chunk], version: int) -> list[str]:
    """What a response breaks: unknown chunks, missing keys, parts out of order, a missing or a second end."""
    found: list[str] = []
    opened: set[tuple[str, str]] = set()
    calls: set[str] = set()
    steps = 0
    for chunk in chunks:
        kind: str = chunk["type"]
        if not VERSIONS[version].knows(kind):
            found.append(f"{version} has no {kind}")
        found += [f"{kind} lacks {key}" for key in CHUNK_KEYS.get(kind, ("data",)) if key not in chunk]
        found += [f"{kind}.{key} is null" for key in _not_null(chunk)]
        part, _, what = kind.rpartition("-")
        if part in ("text", "reasoning"):
            key = (part, chunk["id"])
            if (what == "start") == (key in opened):
                found.append(f"{kind} of {key[1]} out of order")
            (opened.discard if what == "end" else opened.add)(key)
        elif kind in ("tool-input-start", "tool-input-available"):
            calls.add(chunk["toolCallId"])
        elif kind.startswith("tool-") and chunk.get("toolCallId", chunk.get("approvalId")) not in calls:
            found += [f"{kind} of an unknown call"] if "toolCallId" in chunk else []
        steps += (kind == "start-step") - (kind == "finish-step")
    kinds = [chunk["type"] for chunk in chunks]
    if kinds[0] != "start" or kinds[-1] not in _ENDS or sum(kind in _ENDS for kind in kinds) != 1:
        found.append(f"begins with {kinds[0]} and ends with {kinds[-1]}")
    if opened or steps:
        found.append(f"leaves open {opened}, {steps} steps")
    return found


def _not_null(chunk: Chunk) -> list[str]:
    free = ("input", "output", "data", "messageMetadata")
    items: list[tuple[str, Any]] = list(chunk.items())
    return [key for key, value in items if value is None and key not in free]
