"""A checkpointer for the length of a turn: for graphs that have none, so that they can be interrupted.

It keeps references instead of serialising: nothing is written anywhere, and state that cannot be
serialised works as it does without a checkpointer. Only the lists and dicts around them are its own:
LangGraph goes on writing into those it saved, and into those it was given back.
"""

from __future__ import annotations

from typing import Any, cast

from langgraph.checkpoint.memory import InMemorySaver

__all__ = ["LiveSaver"]


# As deep as a checkpoint is: what each node has seen, by channel.
_DEEP = 3


def _apart(value: Any, depth: int = _DEEP) -> Any:
    """Copy the containers around objects, and none of the objects."""
    if depth and type(value) is dict:
        return {key: _apart(item, depth - 1) for key, item in cast("dict[Any, Any]", value).items()}
    if depth and type(value) is list:
        return [_apart(item, depth - 1) for item in cast("list[Any]", value)]
    return value


class _References:
    """Keeps an object as it is."""

    def dumps_typed(self, obj: Any) -> tuple[str, Any]:
        """Keep the object itself."""
        return ("object", _apart(obj))

    def loads_typed(self, data: tuple[str, Any]) -> Any:
        """Give the object back."""
        return _apart(data[1])

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
