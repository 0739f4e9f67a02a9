"""Translators: pure state machines that change the shape of what flows through them.

A translator has no I/O, no clock, no randomness and no tasks, so it can be replayed, primed and tested by
feeding it values. Sessions, transports and endpoints own the tasks and the bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

__all__ = ["Translator", "batching"]

In = TypeVar("In", contravariant=True)
Out = TypeVar("Out")
A = TypeVar("A")
B = TypeVar("B")


class Translator(Protocol[In, Out]):
    """Turns items of one shape into items of another."""

    def feed(self, item: In, /) -> list[Out]:
        """Take one item and give what follows from it."""
        ...

    def close(self) -> list[Out]:
        """Give what leaves the peer in a legal state; a second call gives nothing."""
        ...


def batching(translator: Translator[A, B]) -> Callable[[Sequence[A]], list[B]]:
    """Give a function that feeds many items and gives all that follows.

    A translator may have a shorter way for them than one after the other: its own ``feed_all``.
    """
    shorter: Callable[[Sequence[A]], list[B]] | None = getattr(translator, "feed_all", None)
    if shorter is not None:
        return shorter
    feed = translator.feed
    return lambda items: [out for item in items for out in feed(item)]
