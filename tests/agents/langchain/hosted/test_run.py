"""Tests of a run that the caller started: what is settled when it ends, and what it remembers."""

import asyncio
from typing import Any

import pytest
from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt
from tests.agents.langchain.agui_client import Page
from tests.agents.langchain.recorded_updates import call_of, pieces, statuses, text

from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.hosted.run import OwnRun
from trunkline.agents.langchain.hosted.run_channels import OwnRuns
from trunkline.errors import TurnCancelled
from trunkline.frontends.acp.hosted import AcpHosted
from trunkline.frontends.agui.hosted import AguiHosted
from trunkline.testing.recording import RecordingTransport

THREAD: Any = {"configurable": {"thread_id": "s1"}}


def channel_on(transport: Any) -> Channel:
    return opened(OwnRuns(AcpHosted(), transport))


def opened(runs: OwnRuns) -> Channel:
    channel = runs.open(None, THREAD)
    assert channel is not None
    return channel


def run_of(channel: Channel) -> OwnRun:
    assert channel.run is not None
    return channel.run


def test_what_an_agent_leaves_open_is_settled_when_it_ends(transport: RecordingTransport) -> None:
    channel = channel_on(transport)
    channel.emitter.tool_started(None, "c1", "weather", {})
    run_of(channel).end()
    assert statuses(transport, "c1") == ["pending", "in_progress", "failed"]


@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        (asyncio.CancelledError(), "Cancelled: the turn was cancelled"),
        (TurnCancelled("gone"), "Cancelled: the turn was cancelled"),
        (GeneratorExit(), "Cancelled: the turn was cancelled"),
        (ValueError("no fuel"), "Failed: the turn failed: ValueError: no fuel"),
    ],
)
def test_the_reason_is_how_the_run_ended(
    outcome: BaseException, word: str, transport: RecordingTransport
) -> None:
    channel = channel_on(transport)
    channel.emitter.tool_started(None, "c1", "weather", {})
    run_of(channel).end(outcome)
    assert call_of(transport, "c1")["content"][-1]["content"]["text"] == word


def test_a_tool_that_raised_is_settled_with_its_own_reason(transport: RecordingTransport) -> None:
    channel = channel_on(transport)
    channel.emitter.tool_started(None, "c1", "weather", {})
    channel.emitter.tool_raised(None, "c1", "OSError: no wind")
    run_of(channel).end(RuntimeError("something else"))
    assert "no wind" in str(call_of(transport, "c1")["content"])


def test_ending_twice_is_ending_once_and_nothing_is_said_after(transport: RecordingTransport) -> None:
    channel = channel_on(transport)
    run_of(channel).end()
    run_of(channel).end()
    run_of(channel).finish()
    run_of(channel).interrupt()
    run_of(channel).end()
    channel.emit(ev.Text(message_id="m", delta="late"))
    assert transport.emitted == []


def test_an_interrupted_turn_can_be_given_up(transport: RecordingTransport) -> None:
    runs = OwnRuns(AcpHosted(), transport)
    channel = opened(runs)
    channel.emitter.tool_started(None, "c1", "weather", {})
    run_of(channel).interrupt()
    run_of(channel).end()
    assert statuses(transport, "c1") == ["pending", "in_progress"]
    run_of(channel).finish()
    assert opened(runs) is not channel
    assert statuses(transport, "c1")[-1] == "failed"


@pytest.mark.parametrize(
    ("outcome", "last"),
    [
        (asyncio.CancelledError(), "RUN_FINISHED cancelled"),
        (TurnCancelled("gone"), "RUN_FINISHED cancelled"),
        (ValueError("no fuel"), "RUN_ERROR"),
        (GraphInterrupt(), "RUN_FINISHED interrupt"),
        (GeneratorExit(), "RUN_FINISHED interrupt"),
    ],
)
def test_a_run_with_an_interrupt_and_an_error_ends_as_the_error(outcome: BaseException, last: str) -> None:
    page = Page()
    run = run_of(opened(OwnRuns(AguiHosted(), page)))
    run.interrupt(GraphInterrupt([Interrupt({"question": "Which?"}, id="i1")]))
    run.end(outcome)
    assert " ".join(filter(None, (page.kinds[-1], page.outcome))) == last


def test_between_two_runs_nobody_hears_anything(page: Page) -> None:
    channel = opened(OwnRuns(AguiHosted(), page))
    run_of(channel).interrupt(GraphInterrupt([Interrupt("ask", id="i1")]))
    run_of(channel).end()
    channel.emit(ev.Text(message_id="m", delta="late"))
    run_of(channel).end()
    assert page.outcome == "interrupt"
    run_of(channel).finish()
    assert len([one for one in page.events if one["type"].startswith("RUN_")]) == 2


def test_a_run_that_waits_for_nothing_is_over(page: Page) -> None:
    run = run_of(opened(OwnRuns(AguiHosted(), page)))
    run.interrupt()
    run.end()
    assert page.outcome == "success"


def test_two_runs_of_one_session_at_once_do_not_end_each_other(transport: RecordingTransport) -> None:
    runs = OwnRuns(AcpHosted(), transport)
    first, second = opened(runs), opened(runs)
    first.emit(ev.Text(message_id="a", delta="one "))
    second.emit(ev.Text(message_id="b", delta="two "))
    run_of(second).end()
    first.emit(ev.Text(message_id="a", delta="three"))
    run_of(first).end()
    assert pieces(transport) == ["one ", "two ", "three"]


def test_one_handler_speaks_for_a_run() -> None:
    channel = channel_on(RecordingTransport())
    one, other = object(), object()
    assert not run_of(channel).is_observed
    assert run_of(channel).claim(one)
    assert run_of(channel).claim(one)
    assert not run_of(channel).claim(other)
    assert run_of(channel).is_observed
    assert run_of(channel).is_followed_by(one)


def test_what_cannot_be_encoded_is_logged_and_not_raised(
    caplog: pytest.LogCaptureFixture, transport: RecordingTransport
) -> None:
    channel = channel_on(transport)
    channel.emit(ev.ToolCall(call_id="c", name="weather"))
    channel.emit(ev.ToolUpdate(call_id="c", raw_output=object()))
    channel.emit(ev.Text(message_id="m", delta="fine\ud800"))
    assert text(transport) == "fine\N{REPLACEMENT CHARACTER}"
    assert len(caplog.records) == 1
