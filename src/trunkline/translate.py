"""Translators: pure state machines that change the shape of what flows through them.

Above are the shells (sessions, transports, endpoints) that own tasks and bytes; below is nothing.
A translator has no I/O, no clock, no randomness and no tasks, so it can be replayed, primed and
tested by feeding it values.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

__all__ = ["Chain", "Translator", "batching", "compose", "prime", "pump", "translate"]

In = TypeVar("In", contravariant=True)
Out = TypeVar("Out")
A = TypeVar("A")
B = TypeVar("B")


class Translator(Protocol[In, Out]):
    """Turns items of one shape into items of another."""

    def feed(self, item: In, /) -> list[Out]:
        """Take one item and give what can be said now."""
        ...

    def close(self) -> list[Out]:
        """Say whatever leaves the peer in a legal state; a second call says nothing."""
        ...


class Chain:
    """Several translators in a row, seen as one; closing cascades from the first to the last."""

    def __init__(self, *stages: Translator[Any, Any]) -> None:
        """Join the stages in the order items pass them."""
        self._stages = stages

    def feed(self, item: Any, /) -> list[Any]:
        """Pass one item through every stage."""
        return self._run([item], 0)

    def close(self) -> list[Any]:
        """Close each stage and pass its last words through those behind it."""
        said: list[Any] = []
        for index, stage in enumerate(self._stages):
            said.extend(self._run(stage.close(), index + 1))
        return said

    def _run(self, items: list[Any], start: int) -> list[Any]:
        for stage in self._stages[start:]:
            items = [out for item in items for out in stage.feed(item)]
        return items


def compose(*stages: Translator[Any, Any]) -> Translator[Any, Any]:
    """Join translators; the output of one is the input of the next."""
    return stages[0] if len(stages) == 1 else Chain(*stages)


def batching(translator: Translator[A, B]) -> Callable[[Sequence[A]], list[B]]:
    """Give a function that feeds many items and gives all that was said.

    A translator may have a shorter way for them than one after the other: its own ``feed_all``.
    """
    shorter: Callable[[Sequence[A]], list[B]] | None = getattr(translator, "feed_all", None)
    if shorter is not None:
        return shorter
    feed = translator.feed
    return lambda items: [out for item in items for out in feed(item)]


def prime(translator: Translator[A, B], items: Iterable[A]) -> None:
    """Bring a fresh translator to where these items lead, and discard what it says."""
    for item in items:
        translator.feed(item)


def translate(translator: Translator[A, B], items: Iterable[A]) -> list[B]:
    """Feed everything, close, and give all that was said."""
    said = [out for item in items for out in translator.feed(item)]
    said.extend(translator.close())
    return said


async def pump(source: AsyncIterable[A], translator: Translator[A, B]) -> AsyncIterator[B]:
    """Translate a live stream; the translator is closed when the stream ends, well or with an error."""
    try:
        async for item in source:
            for out in translator.feed(item):
                yield out
    except Exception:
        for out in translator.close():
            yield out
        raise
    for out in translator.close():
        yield out
