"""Tests of the switchboard: which run gets which channel, and that none is kept for ever."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from tests.agents.langchain.lines import PROMPT, on_thread, statuses
from tests.agents.langchain.loose import create_agent
from tests.worlds import soon

from trunkline import events as ev
from trunkline.agents.langchain.channel_lookup import TrunklineContext
from trunkline.agents.langchain.middleware.tools import Discretion
from trunkline.agents.langchain.own_program import runs as module
from trunkline.agents.langchain.own_program.acp import AcpVoice
from trunkline.agents.langchain.own_program.runs import Switchboard, session_in
from trunkline.testing.chat import ScriptedChatModel
from trunkline.testing.recording import RecordingTransport

THREAD: Any = {"configurable": {"thread_id": "s1"}}


def opened(board: Switchboard, config: Any = THREAD, context: TrunklineContext | None = None) -> AcpVoice:
    channel = board.open(context, config)
    assert isinstance(channel, AcpVoice)
    return channel


def test_a_session_has_one_memory_however_many_runs() -> None:
    board = Switchboard(RecordingTransport())
    first = opened(board)
    first.memory["seen"] = 1
    first.end()
    assert opened(board).memory == {"seen": 1}
    assert opened(board, {}).memory == {}


def test_the_same_session_on_another_transport_is_another() -> None:
    board = Switchboard(RecordingTransport())
    first = opened(board)
    other = opened(board, context=TrunklineContext(transport=RecordingTransport()))
    assert first.memory is not other.memory


def test_the_context_names_the_session_before_the_config() -> None:
    board = Switchboard(RecordingTransport(), session_id_extractor=lambda config: "extracted")
    assert opened(board).session_id == "extracted"
    assert opened(board, context=TrunklineContext(thread_id="given")).session_id == "given"


def test_an_interrupted_channel_is_taken_up_by_the_next_run() -> None:
    board = Switchboard(RecordingTransport())
    channel = opened(board)
    channel.interrupt()
    channel.end()
    resumed = board.open(None, THREAD, kept=True)
    assert resumed is channel
    assert channel.kept
    channel.end()
    assert opened(board) is not channel


def test_a_kind_mapper_and_a_discretion_are_given_to_each_channel() -> None:
    transport = RecordingTransport()
    board = Switchboard(
        transport, tool_kind_mapper=lambda name: "fetch", discretion=lambda: Discretion(start=False)
    )
    channel = opened(board)
    channel.emitter.announce(None, "1", "weather", None)
    assert transport.updates == []
    channel.end()
    assert statuses(transport, "1") == []


def test_sessions_long_unused_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_LINES", 2)
    board = Switchboard(RecordingTransport())
    for name in ("s1", "s2", "s3"):
        channel = opened(board, {"configurable": {"thread_id": name}})
        channel.memory["name"] = name
        channel.end()
    assert opened(board, {"configurable": {"thread_id": "s3"}}).memory == {"name": "s3"}
    assert opened(board).memory == {}


async def test_runs_that_nobody_ended_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_RUNS", 2)
    transport = RecordingTransport()
    board = Switchboard(transport)
    channels: list[Any] = []

    class Begins(AgentMiddleware[Any, Any, Any]):
        async def abefore_agent(self, state: Any, runtime: Any) -> None:
            channel = board.connect(None)
            assert channel is board.connect(None)
            assert channel is not None
            channel.emitter.announce(None, f"c{len(channels)}", "weather", None)
            channels.append(channel)

    agent = create_agent(ScriptedChatModel("Hi.", each_turn=True), [], middleware=[Begins()])
    for number in range(4):
        await soon(agent.ainvoke(PROMPT, on_thread(f"s{number}")))
    assert statuses(transport, "c0")[-1] == statuses(transport, "c1")[-1] == "failed"
    assert statuses(transport, "c3") == ["pending"]
    for channel in channels:
        channel.finish()
    channels[0].say(ev.Text(message_id="m", delta="too late"))
    assert all(one["sessionUpdate"] != "agent_message_chunk" for one in transport.updates)


def test_a_config_names_its_session_by_its_thread() -> None:
    assert session_in(THREAD) == "s1"
    assert session_in({"configurable": {"session_id": 7}}) == "7"
    assert session_in({"configurable": None}) is None
