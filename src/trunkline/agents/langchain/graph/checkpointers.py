"""Checkpointers for graphs that have none, or have one without async methods.

LangGraph interrupts only a graph with a checkpointer, so a graph without one gets one for the length of a
turn. It keeps references and does not serialise: state that cannot be serialised works as without a
checkpointer. Only the lists and dicts around the objects are copied, because LangGraph goes on writing into
those.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

# The depth of a checkpoint: ``versions_seen`` has channels by node.
_DEPTH = 3


def _copy_containers(value: Any, depth: int = _DEPTH) -> Any:
    """Copy the containers around objects, and none of the objects."""
    if depth and type(value) is dict:
        return {key: _copy_containers(item, depth - 1) for key, item in cast("dict[Any, Any]", value).items()}
    if depth and type(value) is list:
        return [_copy_containers(item, depth - 1) for item in cast("list[Any]", value)]
    return value


class _NoSerializer:
    """Keeps objects as they are, where LangGraph expects a serializer."""

    def dumps_typed(self, obj: Any) -> tuple[str, Any]:
        """Keep the object itself."""
        return ("object", _copy_containers(obj))

    def loads_typed(self, data: tuple[str, Any]) -> Any:
        """Give the object back."""
        return _copy_containers(data[1])

    def dumps(self, obj: Any) -> Any:
        """Keep the object itself."""
        return obj

    def loads(self, data: Any) -> Any:
        """Give the object back."""
        return data


class TurnCheckpointer(InMemorySaver):
    """Keeps one thread in memory, for one turn."""

    def __init__(self) -> None:
        cast("Any", super()).__init__(serde=_NoSerializer())


class _InThreads:
    """Runs the plain methods of a checkpointer in threads, as LangGraph itself does."""

    async def aget_tuple(self, *args: Any) -> Any:
        """Read a checkpoint."""
        return await asyncio.to_thread(cast("Any", self).get_tuple, *args)

    async def alist(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Read checkpoints, newest first."""
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
    """Give a checkpointer with async methods: itself, or a copy on the same connection."""
    base, kind = cast("Any", BaseCheckpointSaver), cast("Any", type(saver))
    if not issubclass(kind, base) or kind.aput_writes is not base.aput_writes:
        return saver
    threaded: Any = type(kind.__name__, (_InThreads, kind), {})
    made = threaded.__new__(threaded)
    made.__dict__.update(saver.__dict__)
    return made
