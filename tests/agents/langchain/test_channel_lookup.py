"""Tests of how a middleware finds its channel."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware

from tests.agents.langchain.graphs import weather
from tests.agents.langchain.middleware.recording_channel import Ear
from tests.agents.langchain.recorded_updates import PROMPT, on_thread
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import soon
from trunkline import context
from trunkline.agents.langchain.channel import Channel, current_channel, use_channel
from trunkline.agents.langchain.channel_lookup import find_channel, is_nested, use_run_channel
from trunkline.agents.langchain.hosted.context import TrunklineContext
from trunkline.agents.langchain.hosted.run_channels import OwnRuns
from trunkline.frontends.acp.hosted import AcpHosted
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.testing.recording import RecordingTransport


def acp_runs(transport: RecordingTransport | None = None) -> OwnRuns:
    return OwnRuns(AcpHosted(), transport)


class Asks(AgentMiddleware[Any, Any, Any]):
    """Keeps the channels it found."""

    def __init__(self, channel_source: Any = None) -> None:
        super().__init__()
        self.channel_source = channel_source
        self.found: list[Channel | None] = []

    async def abefore_agent(self, state: Any, runtime: Any) -> None:
        self.found.append(find_channel(runtime, self))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        self.found.append(find_channel(request.runtime, self))
        return await handler(request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        with use_run_channel(request.runtime, self) as channel:
            assert channel is current_channel()
            assert context.current() is (channel.ctx if channel is not None else None)
            self.found.append(channel)
            return await handler(request)

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        self.found.append(find_channel(runtime, self))


async def run(middleware: Asks, **options: Any) -> list[Channel | None]:
    script = ScriptedChatModel(call("weather", {"city": "Rome"}), "Done.")
    agent = create_agent(script, [weather], middleware=[middleware])
    await soon(agent.ainvoke(PROMPT, on_thread("s1"), **options))
    assert len(middleware.found) == 5
    return middleware.found


async def test_the_channel_of_the_run_comes_first() -> None:
    ear = Ear()
    with use_channel(ear):
        assert set(await run(Asks(acp_runs(RecordingTransport())))) == {ear}


async def test_one_channel_is_given_to_a_whole_run() -> None:
    board = acp_runs(RecordingTransport())
    (channel,) = set(await run(Asks(board)))
    assert channel is not None
    assert channel.session_id == "s1"
    (other,) = set(await run(Asks(board)))
    assert other is not channel
    assert current_channel() is None
    assert context.current() is None


async def test_a_context_is_enough() -> None:
    (channel,) = set(
        await run(Asks(), context=TrunklineContext(transport=RecordingTransport(), thread_id="s2"))
    )
    assert channel is not None
    assert channel.session_id == "s2"


async def test_the_transport_of_the_context_is_used_before_the_middlewares_own() -> None:
    own, given = RecordingTransport(), RecordingTransport()
    (channel,) = set(await run(Asks(acp_runs(own)), context=TrunklineContext(transport=given)))
    assert channel is not None
    channel.emitter.announce(None, "c9", "weather", None)
    assert [update["toolCallId"] for update in given.updates] == ["c9"]
    assert own.updates == []


@pytest.mark.parametrize("context", [None, TrunklineContext(), {"mine": 1}])
async def test_without_a_transport_there_is_no_channel(context: Any) -> None:
    assert set(await run(Asks(), context=context)) == {None}
    assert set(await run(Asks(acp_runs()), context=context)) == {None}


async def test_a_context_of_ones_own_may_be_one_of_ours() -> None:
    @dataclass(kw_only=True)
    class Mine(TrunklineContext):
        user: str = "anna"

    context = Mine(transport=RecordingTransport())
    assert "RecordingTransport" not in repr(context)
    (channel,) = set(await run(Asks(), context=context))
    assert channel is not None


def test_a_graph_inside_another_is_nested() -> None:
    def at(place: str) -> Any:
        return SimpleNamespace(execution_info=SimpleNamespace(checkpoint_ns=place))

    assert not is_nested(at("model:1"))
    assert is_nested(at("tools:1|model:2"))
    assert not is_nested(SimpleNamespace(execution_info=None))
