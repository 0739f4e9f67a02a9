"""The calls that run on a server: who gets its questions, progress and log lines."""

import asyncio
from typing import Any

import pytest
from tests.agents.langchain.mcp_example import in_turn
from tests.hubs import only

from mcp import types
from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.tools.current_call import Call
from trunkline.mcp import running_calls
from trunkline.mcp.running_calls import RateLimit, RunningCalls, show_progress


async def test_a_turn_that_is_cancelled_cancels_the_question() -> None:
    actions: list[str] = []

    async def act(channel: Channel) -> None:
        calls_on_server = RunningCalls("w")
        params = types.ElicitRequestFormParams(message="?", requestedSchema={"type": "object"})
        with calls_on_server.running(Call(channel, "c1")):
            asking = asyncio.create_task(calls_on_server.elicit(None, params))  # As a server's task does.
            try:
                await asyncio.shield(asking)
            finally:
                actions.append((await asking).action)

    async def cancel(session: Any, asked: ev.Asked) -> None:
        await session.cancel()

    _, events = await in_turn(act, {ev.Asked: cancel})
    assert actions == ["cancel"]
    assert isinstance(events[-1], ev.TurnFinished)
    assert events[-1].stop_reason == "cancelled"


async def test_nobody_is_asked_when_the_calls_of_two_people_run() -> None:
    async def act(channel: Channel) -> str:
        other = Channel(channel.ctx, channel.emitter)
        calls_on_server = RunningCalls("w")
        params = types.ElicitRequestFormParams(message="?", requestedSchema={"type": "object"})
        with calls_on_server.running(Call(channel, "c1")), calls_on_server.running(Call(other, "c2")):
            return (await calls_on_server.elicit(None, params)).action

    action, events = await in_turn(act)
    assert action == "decline"
    assert only(events, ev.Asked) == []


async def test_a_server_is_answered_also_when_asking_fails() -> None:
    class Mute(Channel):
        async def ask(self, question: Any, **options: Any) -> ev.Answered:
            raise OSError("the line is cut")

    async def act(channel: Channel) -> str:
        calls_on_server = RunningCalls("w")
        params = types.ElicitRequestFormParams(message="?", requestedSchema={"type": "object"})
        with calls_on_server.running(Call(Mute(channel.ctx, channel.emitter), "c1")):
            return (await calls_on_server.elicit(None, params)).action

    assert (await in_turn(act))[0] == "cancel"


async def test_a_log_for_nobody_and_one_that_is_no_text_harm_nobody() -> None:
    params = types.LoggingMessageNotificationParams(level="error", data={"a": [1]})
    await RunningCalls("w").log(params)

    async def act(channel: Channel) -> None:
        calls_on_server = RunningCalls("w")
        with calls_on_server.running(Call(channel, None)):
            await calls_on_server.log(params)

    _, events = await in_turn(act)
    (notice,) = only(events, ev.Notice)
    assert (notice.description, notice.severity) == ('{"a": [1]}', "error")


async def test_progress_is_shown_in_numbers_or_parts_once_each_and_never_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running_calls.time, "monotonic", lambda: 0.0)

    async def act(channel: Channel) -> None:
        channel.emitter.tool_started(None, "c1", "w", {})
        show = show_progress(Call(channel, "c1"))
        await show(1, None, None)
        await show(1, None, None)
        await show(1.5, 3, None)
        await show(3, 3, "done")
        for number in range(100):
            await show(number, None, "more")
        await show_progress(Call(None, "c1"))(1, None, "nobody listens")

    _, events = await in_turn(act)
    shown = [update.output for update in only(events, ev.ToolUpdate) if update.output]
    assert shown[:3] == ["1\n", "50%\n", "100% done\n"]
    assert len(shown) == 50


def test_a_rate_limit_lets_a_burst_through_and_then_some_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(running_calls.time, "monotonic", lambda: now)
    rate = RateLimit(burst=3, per_second=2)
    assert [rate.allows() for _ in range(5)] == [True, True, True, False, False]
    now = 0.5
    assert [rate.allows() for _ in range(2)] == [True, False]
    now = 100.0
    assert [rate.allows() for _ in range(4)] == [True, True, True, False]
