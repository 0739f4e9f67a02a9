"""Handles: a running call, the shared state, and waiting, for agents that may be plain functions."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from trunkline import events as ev
from trunkline.content import Content, as_content
from trunkline.errors import TurnCancelled
from trunkline.json_patch import diff
from trunkline.session.view import SessionView
from trunkline.transports.event_loops import running_loop

T = TypeVar("T")
P = ParamSpec("P")


class HandleContext(Protocol):
    """What a handle needs of its turn's context."""

    session: SessionView
    denied: set[str]

    def emit(self, item: Any) -> None:
        """Add an event to the turn."""

    async def durable(self) -> None:
        """Wait until every event so far is stored."""

    def wait(self, awaitable: Awaitable[T]) -> T:
        """Wait for something from a plain function."""
        ...


class ToolHandle:
    """A running tool call: completed when its block ends, failed when it raises.

    The call is stored before its block begins. A plain function writes ``with`` instead of
    ``async with``.
    """

    def __init__(self, ctx: HandleContext, call_id: str) -> None:
        """Made by ``ctx.tool``."""
        self._ctx = ctx
        self.call_id = call_id

    def output(self, text: str) -> None:
        """Append to the call's output."""
        self._ctx.emit(ev.ToolUpdate(call_id=self.call_id, output=text))

    def show(self, *content: str | Content) -> None:
        """Show these blocks as the call's content."""
        blocks = tuple(block for item in content for block in as_content(item))
        self._ctx.emit(ev.ToolUpdate(call_id=self.call_id, content=blocks))

    def result(self, value: Any) -> None:
        """Set what the tool gave back."""
        self._ctx.emit(ev.ToolUpdate(call_id=self.call_id, raw_output=value))

    def __enter__(self) -> ToolHandle:
        """Begin, from a plain function, which runs in a thread of its own."""
        if in_loop():
            raise RuntimeError("write `async with ctx.tool(...)`: a call is stored before it begins")
        self._begin()
        self._ctx.wait(self._ctx.durable())
        return self

    def _begin(self) -> None:
        self._ctx.emit(ev.ToolUpdate(call_id=self.call_id, status="in_progress"))

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """End; a call that was denied meanwhile stays so."""
        if self.call_id in self._ctx.denied:
            return
        status, reason = "completed", None
        if isinstance(error, asyncio.CancelledError | TurnCancelled | GeneratorExit):
            status, reason = "cancelled", "the call was cancelled"
        elif error is not None:
            status, reason = "failed", str(error) or type(error).__name__
        self._ctx.emit(ev.ToolUpdate(call_id=self.call_id, status=status, reason=reason))

    async def __aenter__(self) -> ToolHandle:
        self._begin()
        await self._ctx.durable()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.__exit__(kind, error, trace)


class SharedState:
    """The state an agent shares with its front ends; changes are sent as patches."""

    def __init__(self, ctx: HandleContext) -> None:
        self._ctx = ctx

    @property
    def value(self) -> Any:
        """The state as it stands, as a copy: change it, and give it back with ``replace`` or ``update``."""
        return self._ctx.session.state

    def replace(self, value: Any) -> None:
        """Set the whole state."""
        self._change(lambda: self._ctx.emit(ev.StateReplaced(state=value)))

    def patch(self, patch: Sequence[dict[str, Any]]) -> None:
        """Apply a JSON Patch; one that does not fit raises PatchError and changes nothing."""
        self._change(lambda: self._patch(patch))

    def update(self, **fields: Any) -> None:
        """Set some keys; emits only what really changed."""
        self._change(lambda: self._update(fields))

    def _change(self, change: Callable[[], None]) -> None:
        """Make a change in the loop's thread, where the state is current."""

        async def changed() -> None:
            change()

        if in_loop():
            change()
        else:
            self._ctx.wait(changed())

    def _patch(self, patch: Sequence[dict[str, Any]]) -> None:
        self._ctx.session.patched(patch)
        self._ctx.emit(ev.StatePatched(patch=tuple(patch)))

    def _update(self, fields: dict[str, Any]) -> None:
        now: Any = self.value
        if not isinstance(now, dict):
            self._ctx.emit(ev.StateReplaced(state=fields))
        elif patch := diff(now, {**cast("dict[str, Any]", now), **fields}):
            self._ctx.emit(ev.StatePatched(patch=tuple(patch)))


def in_loop() -> bool:
    """Whether this code runs in an event loop."""
    return running_loop() is not None


def check_plain(awaitable: Awaitable[Any]) -> None:
    """Refuse to wait for something from inside an event loop, which would stand still."""
    if in_loop():
        discard(awaitable)
        raise RuntimeError("ctx.wait() is for plain functions: write await instead")


def wait_in_loop(awaitable: Awaitable[T], loop: asyncio.AbstractEventLoop, settled: asyncio.Event) -> T:
    """Wait for something in ``loop``; raises TurnCancelled once ``settled`` is set."""
    check_plain(awaitable)
    if settled.is_set() or loop.is_closed():
        discard(awaitable)
        raise TurnCancelled("the turn is over")
    waiting = asyncio.run_coroutine_threadsafe(_wait(awaitable, settled), loop)
    try:
        return waiting.result()
    except concurrent.futures.CancelledError:
        raise TurnCancelled("what was waited for was cancelled") from None


async def _wait(awaitable: Awaitable[T], settled: asyncio.Event) -> T:
    work = asyncio.ensure_future(awaitable)
    over = asyncio.ensure_future(settled.wait())
    try:
        await asyncio.wait({work, over}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise TurnCancelled("the turn is over")
        return work.result()
    finally:
        work.cancel()
        over.cancel()


def discard(awaitable: Awaitable[Any]) -> None:
    """Let go of something that is not awaited, without a warning from Python."""
    if asyncio.iscoroutine(awaitable):
        awaitable.close()


class Unanswered(Coroutine[Any, Any, T]):
    """An answer that has not been awaited: it has no truth value, so a forgotten ``await`` is no yes."""

    def __init__(self, name: str, coroutine: Coroutine[Any, Any, T]) -> None:
        """Wrap the coroutine of ``ctx.<name>(...)``."""
        self._name = name
        self._coroutine = coroutine

    def __bool__(self) -> bool:
        """Refuse to be a yes or a no."""
        self._coroutine.close()
        call = f"ctx.{self._name}(...)"
        raise TypeError(f"write `await {call}`; in a plain function `ctx.wait({call})`")

    def __await__(self) -> Generator[Any, Any, T]:
        return self._coroutine.__await__()

    def send(self, value: Any, /) -> Any:
        """Go on with the coroutine."""
        return self._coroutine.send(value)

    def throw(self, *error: Any) -> Any:
        """Raise an error inside the coroutine."""
        return self._coroutine.throw(*error)

    def close(self) -> None:
        """Close the coroutine."""
        self._coroutine.close()


def must_be_awaited(method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Make the result of an async method refuse to be a truth value before it is awaited."""

    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return Unanswered(method.__name__, method(*args, **kwargs))

    return call
