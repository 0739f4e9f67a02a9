"""The calls of a turn: tools run beside the stream of events, and may come before it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from agents.testing import function_call

from agents import Agent, RunItemStreamEvent, ToolCallItem
from tests.hubs import run_turn
from trunkline import events as ev
from trunkline.agents.openai import running_calls as module
from trunkline.agents.openai.running_calls import CallNotShown, Calls
from trunkline.agents.openai.stream_events.translator import StreamTranslator
from trunkline.folding import fold
from trunkline.session.context import TurnContext

AGENT: Agent[Any] = Agent(name="A")


def announced(call_id: str) -> RunItemStreamEvent:
    item: Any = ToolCallItem(agent=AGENT, raw_item=function_call("look", {}, call_id=call_id))  # pyright: ignore
    return RunItemStreamEvent(name="tool_called", item=item)


async def in_turn(act: Callable[[Calls], Any]) -> list[ev.Event]:
    """Do something with the calls of a turn; give its events."""
    numbers = iter(range(100))

    async def run(prompt: Any, ctx: TurnContext) -> AsyncIterator[ev.Event]:
        calls = Calls(ctx, StreamTranslator(ctx.turn_id, lambda: f"m{next(numbers)}"))
        await act(calls)
        calls.close("it ended", "failed")
        yield ev.TurnFinished()

    return await run_turn(run)


async def test_a_tool_that_comes_first_waits_until_its_call_is_shown() -> None:
    async def act(calls: Calls) -> None:
        waiting = asyncio.ensure_future(calls.shown("c1"))
        await asyncio.sleep(0)
        assert not waiting.done()
        calls.feed(announced("c0"))
        calls.feed(announced("c1"))
        assert await waiting == calls.find("c1")
        await calls.begin("c1")
        assert await calls.shown("c1") == calls.find("c1")

    shown = fold(await in_turn(act))
    assert [call.status for call in shown.calls.values()] == ["failed", "failed"]


async def test_a_call_that_is_never_shown_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SHOWN_WITHIN", 0.01)

    async def act(calls: Calls) -> None:
        with pytest.raises(CallNotShown, match="not shown in time"):
            await calls.shown("c1")

    await in_turn(act)


async def test_what_a_person_gave_a_call_is_what_it_shows_and_runs_with() -> None:
    async def act(calls: Calls) -> None:
        calls.feed(announced("c1"))
        calls.change_input("c1", calls.find("c1") or "", {"at": 2}, None)
        assert calls.edited("c1") == {"at": 2}
        assert calls.edited("other") is None
        calls.progress("c1", "half way\n", None)

    (call,) = fold(await in_turn(act)).calls.values()
    assert (call.input, call.output) == ({"at": 2}, "half way\n")
