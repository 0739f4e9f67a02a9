"""Agents as functions: a generator, a coroutine or a plain function becomes an agent.

The function takes as many of ``(prompt, ctx)`` as it names. Async code runs in the turn's task; a
plain function or generator runs in a thread of its own, so that it cannot hold up anyone else.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, TypeVar, cast, overload

from trunkline.agents.interface import Agent, AgentCard, Sayable
from trunkline.commands import Prompt
from trunkline.content import Block
from trunkline.context import TurnContext
from trunkline.errors import NotAnAgent
from trunkline.events import Event

__all__ = ["FunctionAgent", "agent"]

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)

_END: Any = object()


class FunctionAgent:
    """An agent made of one function."""

    def __init__(self, function: Function, card: AgentCard) -> None:
        """Check that the function can be called as an agent."""
        self.card = card
        self.function = function
        self._wants = _count_arguments(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as if it were not wrapped."""
        return self.function(*args, **kwargs)

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Call the function and say what it yields or returns."""
        args = (prompt, ctx)[: self._wants]
        if inspect.isasyncgenfunction(self.function):
            async for item in self.function(*args):
                yield item
            return
        if inspect.iscoroutinefunction(self.function):
            result = await self.function(*args)
        else:
            result = await asyncio.to_thread(self.function, *args)
            if inspect.isawaitable(result):
                result = await result
        async for item in _say_result(result):
            yield item


async def _say_result(result: Any) -> AsyncIterator[Sayable]:
    if result is None:
        return
    if isinstance(result, str | Event | Block):
        yield cast("Sayable", result)
    elif hasattr(result, "__aiter__"):
        async for item in result:
            yield item
    elif hasattr(result, "__iter__"):
        iterator: Iterator[Any] = iter(result)
        try:
            while (item := await asyncio.to_thread(next, iterator, _END)) is not _END:
                yield item
        finally:
            close = getattr(iterator, "close", None)
            if close is not None:
                await asyncio.to_thread(_close_quietly, close)
    else:
        yield result


def _close_quietly(close: Callable[[], None]) -> None:
    try:
        close()
    except ValueError:
        # The generator still runs in the thread that a cancelled turn left behind.
        return


def _count_arguments(function: Function) -> int:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise NotAnAgent(f"{function!r} cannot be called as an agent: its signature is unknown") from None
    for count in (2, 1, 0):
        try:
            signature.bind(*(None,) * count)
        except TypeError:
            continue
        return count
    raise NotAnAgent(
        f"{getattr(function, '__name__', function)} must take (prompt, ctx), (prompt) or nothing; "
        f"its signature is {signature}"
    )


@overload
def agent(function: Function, /) -> Agent: ...
@overload
def agent(
    *,
    name: str | None = None,
    title: str | None = None,
    version: str = "0",
    description: str | None = None,
    **card: Any,
) -> Callable[[Function], Agent]: ...
def agent(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    title: str | None = None,
    version: str = "0",
    description: str | None = None,
    **card: Any,
) -> Any:
    """Make an agent of a function: ``@agent`` or ``@agent(name="hello")``.

    Further keywords (options, commands, prompt, auth_methods) go to its AgentCard.
    """

    def decorate(function: Function) -> Agent:
        own_name = getattr(function, "__name__", type(function).__name__)
        about = description or inspect.getdoc(function)
        return FunctionAgent(
            function,
            AgentCard(name=name or own_name, title=title, version=version, description=about, **card),
        )

    return decorate if function is None else decorate(function)
