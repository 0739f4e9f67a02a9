"""Checkpointers for graphs that have none, or one that only plain functions can call.

A graph without one gets one for the length of a turn, so that it can be interrupted. It keeps references
instead of serialising: nothing is written anywhere, and state that cannot be serialised works as it does
without a checkpointer. Only the lists and dicts around them are its own: LangGraph goes on writing into
those it saved, and into those it was given back.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

__all__ = ["LiveSaver", "in_threads"]


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


class _InThreads:
    """Waits for a saver's plain functions in threads; LangGraph calls them from threads, too."""

    async def aget_tuple(self, *args: Any) -> Any:
        """Read a checkpoint."""
        return await asyncio.to_thread(cast("Any", self).get_tuple, *args)

    async def alist(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Read many of them, newest first."""
        for saved in await asyncio.to_thread(lambda: list(cast("Any", self).list(*args, **kwargs))):
            yield saved

    async def aput(self, *args: Any) -> Any:
        """Keep a checkpoint."""
        return await asyncio.to_thread(cast("Any", self).put, *args)

    async def aput_writes(self, *args: Any, **kwargs: Any) -> None:
        """Keep what a task wrote."""
        await asyncio.to_thread(cast("Any", self).put_writes, *args, **kwargs)

    async def adelete_thread(self, *args: Any) -> None:
        """Forget a thread."""
        await asyncio.to_thread(cast("Any", self).delete_thread, *args)

    async def acopy_thread(self, *args: Any) -> None:
        """Copy a thread."""
        await asyncio.to_thread(cast("Any", self).copy_thread, *args)


def in_threads(saver: Any) -> Any:
    """Give a saver that can be awaited: itself, or a copy on the same connection."""
    base, kind = cast("Any", BaseCheckpointSaver), cast("Any", type(saver))
    if not issubclass(kind, base) or kind.aput_writes is not base.aput_writes:
        return saver
    patient: Any = type(kind.__name__, (_InThreads, kind), {})
    made = patient.__new__(patient)
    made.__dict__.update(saver.__dict__)
    return made
