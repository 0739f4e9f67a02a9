"""Tests of what acp_agent does with the requests of an ACP client."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from tests.agents.langchain.agui_client import WAYS, Way
from tests.agents.langchain.graphs import weather
from tests.agents.langchain.recorded_updates import call_of, session_ids, text
from tests.hubs import soon

from trunkline.agents.langchain.hosted.acp import AcpAgent, acp_agent
from trunkline.errors import ConfigurationError, SessionNotFound
from trunkline.frontends.acp import PromptRequest, TextContent
from trunkline.protocols.acp.wire import LoadSessionRequest
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.testing.recording import RecordingTransport

PROMPT = PromptRequest(session_id="s1", prompt=(TextContent(text="Rome?"),))
LOAD = LoadSessionRequest(session_id="s1", cwd="/", mcp_servers=())


def agent_for(client: RecordingTransport, **options: Any) -> AcpAgent:
    model = ScriptedChatModel(call("weather", {"city": "Rome"}), "It is sunny.")
    return acp_agent(model, [weather], transport=client, **options)


@WAYS
async def test_a_prompt_runs_as_it_came_in_the_thread_of_its_session(run: Way) -> None:
    client = RecordingTransport()
    agent = agent_for(client, checkpointer=InMemorySaver())
    await run(agent, PROMPT)
    assert (text(client), session_ids(client)) == ("It is sunny.", {"s1"})
    assert agent.get_state({"configurable": {"thread_id": "s1"}}).values["messages"][0].text == "Rome?"


def hide(message: Any) -> str:
    return "[hidden]"


@pytest.mark.parametrize("hidden", [{}, {"content_mapper": hide}, {"emit_tool_results": False}])
async def test_a_thread_that_is_loaded_shows_what_it_showed_before(hidden: Any) -> None:
    live, later = RecordingTransport(), RecordingTransport()
    agent = agent_for(live, checkpointer=InMemorySaver(), **hidden)
    await soon(agent.ainvoke(PROMPT))
    await soon(agent.load(LOAD, transport=later))
    assert [text(later, kind) for kind in ("user_message_chunk", "agent_message_chunk")] == [
        "Rome?",
        "It is sunny.",
    ]
    before, after = (call_of(one, "call_1") for one in (live, later))
    for field in ("status", "content", "rawOutput"):
        assert after.get(field) == before.get(field)
    assert ("sunny in Rome" in str(later.emitted)) is (not hidden)


async def test_a_thread_that_cannot_be_loaded_is_refused() -> None:
    with pytest.raises(SessionNotFound, match="no session s1"):
        await soon(agent_for(RecordingTransport(), checkpointer=InMemorySaver()).load(LOAD))
    with pytest.raises(ConfigurationError, match="give the agent a checkpointer"):
        await soon(agent_for(RecordingTransport()).load(LOAD))


def test_the_modes_are_those_that_a_client_is_answered_with() -> None:
    modes: Any = {"open": {"description": "All of it"}, "careful": {"allowed_kinds": ["read"]}}
    agent = agent_for(RecordingTransport(), modes=modes)
    agent.set_mode("t1", "careful")
    assert [agent.session_modes(thread)["currentModeId"] for thread in (None, "t1")] == ["open", "careful"]
    assert agent.session_modes()["availableModes"] == [
        {"id": "open", "name": "Open", "description": "All of it"},
        {"id": "careful", "name": "Careful"},
    ]
