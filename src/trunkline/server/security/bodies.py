"""Bodies: JSON only, with limits on their size, depth, number of values, and the time they take.

What a body is made of is counted before anything is built of it: every step is one pass of the
interpreter's own C code over the bytes, so that no body within its limits holds up the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Generator
from itertools import accumulate
from typing import NamedTuple

from starlette.requests import Request
from starlette.types import Scope

from trunkline.server.errors import HttpError
from trunkline.server.limits import Limits
from trunkline.server.security.cors import first_header

_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
"""Brackets as signed bytes: one level down, one level up."""
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))


class BodyBudget:
    """How much is being read of each principal's requests."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        """How many bytes are being read."""
        return self._taken.total()

    @contextlib.contextmanager
    def hold(self, principal: str) -> Generator[Callable[[int], None]]:
        """Count what is read until the end of the block; refuse more than the budget."""
        mine = 0

        def take(size: int) -> None:
            nonlocal mine
            if self._taken[principal] + size > self._most:
                raise HttpError(
                    429,
                    "too_much_at_once",
                    f"more than {self._most} bytes of your requests are being read: send them one by one",
                    {"retry-after": "5"},
                )
            mine += size
            self._taken[principal] += size

        try:
            yield take
        finally:
            self._taken[principal] -= mine
            if not self._taken[principal]:
                del self._taken[principal]


def new_part_check(body: bytes, limits: Limits) -> Callable[[int], None] | None:
    """Give the check of a request's new part; None where the whole body is small enough."""
    if len(body) <= limits.body_bytes:
        return None

    def check(size: int) -> None:
        if size > limits.body_bytes:
            raise HttpError(
                413,
                "too_large",
                f"the request brings {size} bytes that its thread does not have, and {limits.body_bytes} are "
                "the most: send less, or raise the limit (body_bytes, --max-body)",
            )

    return check


def check_content_type(scope: Scope, *, may_be_empty: Callable[[Scope], bool]) -> None:
    """Take JSON only: a browser sends a form of a foreign page without a preflight request.

    ``may_be_empty`` tells of the paths that are also posted without a body.
    """
    if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
        return
    kind = first_header(scope, b"content-type").partition(b";")[0].strip().lower()
    length, chunked = first_header(scope, b"content-length"), first_header(scope, b"transfer-encoding")
    is_empty = length in (b"", b"0") and not chunked
    if is_empty and (scope["method"] == "DELETE" or (not kind and may_be_empty(scope))):
        return
    if kind != b"application/json":
        raise HttpError(415, "content_type", "send JSON, with the header Content-Type: application/json")


async def read_body(
    request: Request, limits: Limits, *, with_history: bool = False, take: Callable[[int], None] | None = None
) -> bytes:
    """Give a request's body, or refuse it: too large, too slow, cut off, or nested too deeply.

    ``with_history`` allows for what a thread has already; ``take`` counts what is read.
    """
    most = max(limits.body_bytes, limits.history_bytes) if with_history else limits.body_bytes
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > most:
        raise _too_large(most, with_history=with_history)
    parts: list[bytes] = []
    size = 0
    check = JsonCheck(limits)
    try:
        async with asyncio.timeout(limits.body_seconds):
            while True:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise HttpError(400, "truncated", "the request ended before its body did")
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > most:
                    raise _too_large(most, with_history=with_history)
                if take is not None:
                    take(len(parts[-1]))
                if (fault := check.feed(parts[-1])) is not None:
                    raise HttpError(*fault)
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        raise HttpError(
            408, "slow", f"the body took longer than {limits.body_seconds:g} seconds", {"connection": "close"}
        ) from None
    return b"".join(parts)


class Fault(NamedTuple):
    """Why JSON is not read: a status, a code and a sentence."""

    status: int
    code: str
    message: str


def check_json(body: bytes, limits: Limits) -> None:
    """Refuse JSON that is nested too deeply or holds too much, before anything tries to read it."""
    fault = find_fault(body, limits)
    if fault is not None:
        raise HttpError(*fault)


def find_fault(body: bytes, limits: Limits) -> Fault | None:
    """Say what is wrong with the shape of JSON, found without building anything of it."""
    return JsonCheck(limits).feed(body)


class JsonCheck:
    """Counts the values and the levels of JSON, piece by piece as it comes."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._in_text = False
        self._escapes = False
        self._quotes = 0
        self._values = 0
        self._brackets = 0
        self._depth = 0

    def feed(self, piece: bytes) -> Fault | None:
        """Take a piece; give what is wrong with all so far."""
        limits, most = self._limits, self._limits.json_values
        if self._escapes and piece:
            piece, self._escapes = piece[1:], False
        if b"\\" in piece:
            # What is left of a text has no quote in it, so that quotes are its ends.
            piece = piece.replace(b"\\\\", b"").replace(b'\\"', b"")
            if piece.endswith(b"\\"):
                piece, self._escapes = piece[:-1], True
        self._quotes += piece.count(b'"')
        # A value has at most a key and a text, which are four quotes.
        if self._quotes > 4 * (most + 1):
            return _too_many(limits)
        parts = piece.split(b'"')
        outside = b"".join(parts[self._in_text :: 2])
        self._in_text ^= len(parts) % 2 == 0
        self._values += outside.count(b",") + outside.count(b"[") + outside.count(b"{")
        if self._values > most:
            return _too_many(limits)
        # Beyond these, more brackets close than were opened: no reader gets that far.
        steps = outside.translate(_STEPS, _OTHERS)[: max(0, 2 * most - self._brackets)]
        self._brackets += len(steps)
        levels = list(accumulate(memoryview(steps).cast("b"), initial=self._depth))
        self._depth = levels[-1]
        if max(levels) > limits.json_depth:
            return Fault(422, "depth", f"the body is nested deeper than {limits.json_depth} levels")
        return None


def _too_many(limits: Limits) -> Fault:
    return Fault(
        413,
        "too_many_values",
        f"the body holds more than {limits.json_values} values: send less at once, or raise the limit "
        "(json_values)",
    )


def _too_large(most: int, *, with_history: bool) -> HttpError:
    # The connection stays open: closed on a client that still sends, it would take the answer with it.
    advice = "send less, or raise the limit (body_bytes, --max-body)"
    if with_history:
        advice = "begin a new thread, or raise the limit (history_bytes, --max-history)"
    return HttpError(413, "too_large", f"the body is larger than {most} bytes: {advice}")
