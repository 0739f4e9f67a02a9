"""Handles: how a tool call ends. What a change of the shared state emits is in test_context."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

import pytest

from trunkline import events as ev
from trunkline.errors import TurnCancelled
from trunkline.session.handles import ToolHandle
from trunkline.session.view import SessionView

T = TypeVar("T")


class Context:
    """Records what a handle emits; ``"stored"`` stands for a wait until it is stored."""

    def __init__(self) -> None:
        self.session = SessionView(session_id="s")
        self.denied: set[str] = set()
        self.emitted: list[Any] = []

    def emit(self, item: Any) -> None:
        self.emitted.append(item)

    async def durable(self) -> None:
        self.emitted.append("stored")

    def wait(self, awaitable: Awaitable[T]) -> T:
        return asyncio.run(self._wait(awaitable))

    async def _wait(self, awaitable: Awaitable[T]) -> T:
        return await awaitable


def update(**fields: Any) -> ev.ToolUpdate:
    return ev.ToolUpdate(call_id="c", **fields)


BEGUN = [update(status="in_progress"), "stored"]


async def test_a_call_is_stored_before_it_runs_and_completed_at_the_end() -> None:
    ctx = Context()
    async with ToolHandle(ctx, "c") as call:
        assert ctx.emitted == BEGUN
        call.output("half ")
        call.result({"n": 1})
    assert ctx.emitted[2:] == [
        update(output="half "),
        update(raw_output={"n": 1}),
        update(status="completed"),
    ]


@pytest.mark.parametrize(
    ("error", "ended"),
    [
        (ValueError("no such file"), update(status="failed", reason="no such file")),
        (ValueError(), update(status="failed", reason="ValueError")),
        (TurnCancelled("over"), update(status="cancelled", reason="the call was cancelled")),
        (asyncio.CancelledError(), update(status="cancelled", reason="the call was cancelled")),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_call_ends_as_its_block_does(error: BaseException, ended: ev.ToolUpdate) -> None:
    ctx = Context()
    with pytest.raises(type(error)):
        async with ToolHandle(ctx, "c"):
            raise error
    assert ctx.emitted == [*BEGUN, ended]


async def test_a_denied_call_stays_denied() -> None:
    ctx = Context()
    async with ToolHandle(ctx, "c"):
        ctx.denied.add("c")
    assert ctx.emitted == BEGUN


def test_a_plain_function_uses_the_same_handle() -> None:
    ctx = Context()
    with ToolHandle(ctx, "c"):
        pass
    assert ctx.emitted == [*BEGUN, update(status="completed")]


async def test_a_plain_with_in_the_event_loop_is_refused_with_the_remedy() -> None:
    with pytest.raises(RuntimeError, match="async with"), ToolHandle(Context(), "c"):
        pass
