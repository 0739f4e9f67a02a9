"""What a factory opens for its agent, and closes when the agent is not needed any more.

A factory may ``yield`` its agent instead of returning it: what stands before the ``yield`` opens, what stands
behind it closes. All of it runs in one task, because many async resources (the task groups of anyio, and so
the clients of MCP) must be closed by the task that opened them.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, cast

from trunkline.errors import AgentError

__all__ = ["Lifespan", "is_context", "makes_context"]


def makes_context(function: Callable[..., Any]) -> bool:
    """Whether a function was made by ``@asynccontextmanager`` or ``@contextmanager``."""
    code = getattr(function, "__code__", None)
    return hasattr(function, "__wrapped__") and getattr(code, "co_filename", None) == contextlib.__file__


def is_context(made: Any) -> bool:
    """Whether what a factory gave is to be opened first: a generator or a context manager."""
    contexts = (contextlib.AbstractAsyncContextManager, contextlib.AbstractContextManager)
    return inspect.isasyncgen(made) or inspect.isgenerator(made) or isinstance(made, contexts)


class Lifespan:
    """Opens a context in a task of its own, and closes it there."""

    def __init__(self, context: Any) -> None:
        """Take what ``is_context``; nothing is opened yet."""
        self._context = context
        self._leave = asyncio.Event()
        self._opened: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> Any:
        """Give what the context gives; raises what its opening raises."""
        self._task = asyncio.create_task(self._hold(), name="trunkline lifespan")
        try:
            return await self._opened
        except asyncio.CancelledError:
            self._task.cancel()
            await asyncio.wait({self._task})
            raise

    async def close(self) -> None:
        """Close it; raises what its closing raises."""
        self._leave.set()
        if self._task is not None:
            await self._task

    async def _hold(self) -> None:
        try:
            async with contextlib.AsyncExitStack() as stack:
                made = await _enter(stack, self._context)
                if not self._opened.done():  # Else whoever wanted it was cancelled in this very moment.
                    self._opened.set_result(made)
                    await self._leave.wait()
        except BaseException as error:
            if self._opened.done():
                raise
            if isinstance(error, asyncio.CancelledError):
                # The context cancelled itself, as task groups do; whoever opens it was not cancelled.
                error = AgentError("what the factory opens was cancelled before it was open")
            self._opened.set_exception(error)


async def _enter(stack: contextlib.AsyncExitStack, context: Any) -> Any:
    if inspect.isasyncgen(context):
        context = contextlib.asynccontextmanager(lambda: cast("AsyncGenerator[Any]", context))()
    elif inspect.isgenerator(context):
        context = contextlib.contextmanager(lambda: cast("Generator[Any]", context))()
    opened: Any = context
    try:
        if isinstance(context, contextlib.AbstractAsyncContextManager):
            return await stack.enter_async_context(opened)
        return stack.enter_context(opened)
    except RuntimeError as error:
        if "yield" in str(error):  # contextlib: "generator didn't yield"
            raise AgentError("the factory ended without a yield: it must yield its agent once") from None
        raise
