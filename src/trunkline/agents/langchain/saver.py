"""A checkpointer for the length of a turn: for graphs that have none, so that they can be interrupted.

It keeps references instead of serialising: nothing is written anywhere, and state that cannot be
serialised works as it does without a checkpointer.
"""

from __future__ import annotations

from typing import Any, cast

from langgraph.checkpoint.memory import InMemorySaver

__all__ = ["LiveSaver"]


class _References:
    """Keeps an object as it is."""

    def dumps_typed(self, obj: Any) -> tuple[str, Any]:
        """Keep the object itself."""
        return ("object", obj)

    def loads_typed(self, data: tuple[str, Any]) -> Any:
        """Give the object back."""
        return data[1]

    def dumps(self, obj: Any) -> Any:
        """Keep the object itself."""
        return obj

    def loads(self, data: Any) -> Any:
        """Give the object back."""
        return data


class LiveSaver(InMemorySaver):
    """Remembers one thread until it is let go."""

    def __init__(self) -> None:
        """Begin with nothing."""
        cast("Any", super()).__init__(serde=_References())
