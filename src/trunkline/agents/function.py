"""Agents as functions: a generator, a coroutine or a plain function becomes an agent.

The function takes what it names of ``prompt`` and ``ctx``; under other names the first parameter is
the prompt and the second the context. A parameter with a default keeps it. Async code runs in the
turn's task; a plain function or generator runs in a thread of its own, so it cannot hold up anyone.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, NamedTuple, overload

from trunkline.agents.interface import Agent, AgentCard, Sayable
from trunkline.agents.own_thread import OwnThread
from trunkline.commands import Prompt
from trunkline.errors import NotAnAgent
from trunkline.session.context import TurnContext

__all__ = ["FunctionAgent", "agent", "describe"]

Function = Callable[..., Any]

_END: Any = object()


class FunctionAgent:
    """An agent made of one function."""

    def __init__(self, function: Function, card: AgentCard) -> None:
        """Check that the function can be called as an agent."""
        self.card = card
        self.function = function
        self._wants = _read_parameters(function)
        is_plain = inspect.isroutine(function) or isinstance(function, functools.partial)
        self._routine: Function = function if is_plain else function.__call__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as if it were not wrapped."""
        return self.function(*args, **kwargs)

    def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Call the function and say what it yields or returns."""
        given = {"prompt": prompt, "ctx": ctx}
        args = [given[role] for role in self._wants.positions]
        kwargs = {name: given[role] for name, role in self._wants.keywords.items()}
        call = functools.partial(self.function, *args, **kwargs)
        if inspect.isasyncgenfunction(self._routine):
            # Nothing around it: the turn reads and closes the function's own generator.
            return call()
        return _say_result(call, in_thread=not inspect.iscoroutinefunction(self._routine))


async def _say_result(call: Callable[[], Any], *, in_thread: bool) -> AsyncIterator[Sayable]:
    thread = OwnThread()
    close: Callable[[], Any] | None = None
    try:
        result = await thread.do(call) if in_thread else call()
        if inspect.isawaitable(result):
            result = await result
        if hasattr(result, "__aiter__"):
            close = getattr(result, "aclose", None)
            async for item in result:
                yield item
        elif _is_series(result):
            iterator = await thread.do(lambda: iter(result))
            thread.closes = getattr(iterator, "close", None)
            while (item := await thread.do(lambda: next(iterator, _END))) is not _END:
                yield item
        elif result is not None:
            yield result
    finally:
        if close is not None:
            await close()
        await thread.end()


def _is_series(result: Any) -> bool:
    # Text is one thing, and the keys of a table are not what its owner means.
    return isinstance(result, Iterable) and not isinstance(result, str | bytes | Mapping)


class _Wants(NamedTuple):
    """What a function takes: by position, and by the name of its parameter."""

    positions: list[str]
    keywords: dict[str, str]


def _read_parameters(function: Function) -> _Wants:
    if not callable(function) or inspect.isclass(function):
        raise NotAnAgent(f"{function!r} is not a function; write @agent or @agent(name=...) above one")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise NotAnAgent(f"{function!r} cannot be called as an agent: its signature is unknown") from None
    wants = _Wants([], {})
    roles = [role for role in ("prompt", "ctx") if role not in signature.parameters]
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL and not wants.keywords:
            wants.positions.extend(roles)
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name in ("prompt", "ctx"):
            role = name
        elif parameter.default is not parameter.empty:
            continue
        elif roles and parameter.kind is not parameter.KEYWORD_ONLY:
            role = roles.pop(0)
        else:
            raise NotAnAgent(
                f"{describe(function).name} must take (prompt, ctx), (prompt) or nothing; "
                f"its signature is {signature}"
            )
        if parameter.kind is parameter.POSITIONAL_ONLY:
            wants.positions.append(role)
        else:
            wants.keywords[name] = role
    return wants


def describe(
    function: Function, *, name: str | None = None, description: str | None = None, **card: Any
) -> AgentCard:
    """Make the card of a function; its own name and docstring stand in for what is not given."""
    while isinstance(function, functools.partial):
        function = function.func
    return AgentCard(
        name=name or getattr(function, "__name__", type(function).__name__),
        description=description or inspect.getdoc(function),
        **card,
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
def agent(function: Function | None = None, /, **card: Any) -> Any:
    """Make an agent of a function: ``@agent`` or ``@agent(name="hello")``.

    The keywords are the fields of its AgentCard.
    """

    def decorate(function: Function) -> Agent:
        return FunctionAgent(function, describe(function, **card))

    return decorate if function is None else decorate(function)
