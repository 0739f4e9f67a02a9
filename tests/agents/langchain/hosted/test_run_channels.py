"""Tests of which run gets which channel, and that none is kept for ever."""

import asyncio
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.tools import tool
from tests.agents.langchain.agui_client import Page
from tests.agents.langchain.recorded_updates import PROMPT, on_thread, statuses
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import soon

from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.hosted import run_channels as module
from trunkline.agents.langchain.hosted.agui import agui_agent, agui_middleware
from trunkline.agents.langchain.hosted.context import TrunklineContext
from trunkline.agents.langchain.hosted.run import OwnRun
from trunkline.agents.langchain.hosted.run_channels import OwnRuns, session_in
from trunkline.agents.langchain.middleware.tools import ToolEventFilter
from trunkline.errors import SessionBusy
from trunkline.frontends.acp.hosted import AcpHosted
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.testing.recording import RecordingTransport

THREAD: Any = {"configurable": {"thread_id": "s1"}}


def opened(runs: OwnRuns, config: Any = THREAD, context: TrunklineContext | None = None) -> Channel:
    channel = runs.open(context, config)
    assert channel is not None
    return channel


def run_of(channel: Channel | None) -> OwnRun:
    assert channel is not None
    assert channel.run is not None
    return channel.run


def test_a_session_has_one_memory_however_many_runs() -> None:
    runs = OwnRuns(AcpHosted(), RecordingTransport())
    first = opened(runs)
    first.memory["seen"] = 1
    run_of(first).end()
    assert opened(runs).memory == {"seen": 1}
    assert opened(runs, {}).memory == {}


def test_the_same_session_on_another_transport_is_another() -> None:
    runs = OwnRuns(AcpHosted(), RecordingTransport())
    first = opened(runs)
    other = opened(runs, context=TrunklineContext(transport=RecordingTransport()))
    assert first.memory is not other.memory


def test_the_context_names_the_session_before_the_config() -> None:
    runs = OwnRuns(AcpHosted(), RecordingTransport(), session_id_extractor=lambda config: "extracted")
    assert opened(runs).session_id == "extracted"
    assert opened(runs, context=TrunklineContext(thread_id="given")).session_id == "given"


def test_an_interrupted_channel_is_taken_up_by_the_next_run() -> None:
    runs = OwnRuns(AcpHosted(), RecordingTransport())
    channel = opened(runs)
    run_of(channel).interrupt()
    run_of(channel).end()
    resumed = runs.start(runs.identify(None, THREAD), ended_by_wrapper=True)
    assert resumed is channel
    assert run_of(channel).ended_by_wrapper
    run_of(channel).end()
    assert opened(runs) is not channel


def test_a_kind_mapper_and_a_discretion_are_given_to_each_channel() -> None:
    transport = RecordingTransport()
    runs = OwnRuns(
        AcpHosted(),
        transport,
        tool_kind_mapper=lambda name: "fetch",
        event_filter=lambda: ToolEventFilter(start=False),
    )
    channel = opened(runs)
    channel.emitter.announce(None, "1", "weather", None)
    assert transport.updates == []
    run_of(channel).end()
    assert statuses(transport, "1") == []


def test_sessions_long_unused_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_SESSIONS", 2)
    runs = OwnRuns(AcpHosted(), RecordingTransport())
    for name in ("s1", "s2", "s3"):
        channel = opened(runs, {"configurable": {"thread_id": name}})
        channel.memory["name"] = name
        run_of(channel).end()
    assert opened(runs, {"configurable": {"thread_id": "s3"}}).memory == {"name": "s3"}
    assert opened(runs).memory == {}


async def test_runs_that_nobody_ended_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_RUNS", 2)
    transport = RecordingTransport()
    runs = OwnRuns(AcpHosted(), transport)
    channels: list[Any] = []

    class Begins(AgentMiddleware[Any, Any, Any]):
        async def abefore_agent(self, state: Any, runtime: Any) -> None:
            channel = runs.connect(None)
            assert channel is runs.connect(None)
            assert channel is not None
            channel.emitter.announce(None, f"c{len(channels)}", "weather", None)
            channels.append(channel)

    agent = create_agent(ScriptedChatModel("Hi.", each_turn=True), [], middleware=[Begins()])
    for number in range(4):
        await soon(agent.ainvoke(PROMPT, on_thread(f"s{number}")))
    assert statuses(transport, "c0")[-1] == statuses(transport, "c1")[-1] == "failed"
    assert statuses(transport, "c3") == ["pending"]
    for channel in channels:
        run_of(channel).finish()
    channels[0].emit(ev.Text(message_id="m", delta="too late"))
    assert all(one["sessionUpdate"] != "agent_message_chunk" for one in transport.updates)


async def test_live_runs_and_busy_sessions_are_never_discarded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_RUNS", 1)
    monkeypatch.setattr(module, "_MOST_SESSIONS", 1)
    everyone = asyncio.Barrier(5)

    @tool
    async def meet() -> str:
        """Wait for the other runs."""
        await everyone.wait()
        await everyone.wait()
        return "met"

    def answer(messages: list[Any]) -> Any:
        return call("meet", {}) if messages[-1].type == "human" else "Done."

    own = agui_middleware()
    built = create_agent(ScriptedChatModel(*[answer] * 4), [meet], middleware=own)
    wrapped = agui_agent(ScriptedChatModel(*[answer] * 4), [meet])
    pages = [Page(f"t{number}") for number in range(4)]

    def run(page: Page) -> Any:
        context, config = TrunklineContext(transport=page), on_thread(page.thread_id)
        if page in pages[:2]:
            return built.ainvoke(PROMPT, {**config, "callbacks": own.callbacks}, context=context)
        return wrapped.ainvoke(PROMPT, config, context=context)

    tasks = [asyncio.create_task(run(page)) for page in pages]
    await soon(everyone.wait())
    with pytest.raises(SessionBusy):
        await soon(wrapped.ainvoke(PROMPT, on_thread("t2"), transport=Page("t2")))
    assert [page.kinds[-1] for page in pages] == ["STEP_FINISHED"] * 4
    await soon(everyone.wait())
    await soon(asyncio.gather(*tasks))
    assert [(page.text, page.outcome) for page in pages] == [("Done.", "success")] * 4


def test_a_config_names_its_session_by_its_thread() -> None:
    assert session_in(THREAD) == "s1"
    assert session_in({"configurable": {"session_id": 7}}) == "7"
    assert session_in({"configurable": None}) is None
