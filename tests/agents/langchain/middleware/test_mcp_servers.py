"""Tests of the MCP servers that a middleware brings, with a real server over stdio."""

import asyncio
import logging
from typing import Any

import pytest

from tests.agents.langchain.mcp_example import STDIO, patiently
from tests.agents.langchain.middleware.recording_channel import Ear
from tests.agents.langchain.recorded_updates import PROMPT, call_graph, call_of, on_thread, statuses, text
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import collect, session_for, until
from tests.process_state import is_alive
from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.agents.langchain.channel import use_channel
from trunkline.agents.langchain.hosted.acp import acp_agent, acp_middleware
from trunkline.agents.langchain.middleware import _mcp_servers
from trunkline.agents.langchain.middleware.session import SessionMiddleware
from trunkline.errors import ConfigurationError
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.testing.recording import RecordingTransport

WORKSHOP: Any = {"w": STDIO}
ADD = call("w__add", {"a": 1, "b": 2})


def results(model: ScriptedChatModel) -> list[str]:
    """What the model was told by the tools of its last call."""
    told = [one for one in model.calls[-1].messages if one.type == "tool"]
    return [str(one.text) for one in told]


async def test_a_server_gives_its_tools_to_an_agent_that_is_built_already() -> None:
    script = ScriptedChatModel(ADD, "Three.")
    async with SessionMiddleware(mcp_servers=WORKSHOP) as middleware:
        agent = create_agent(script, [], middleware=[middleware])
        await patiently(agent.ainvoke(PROMPT))
    assert "w__add" in script.calls[0].tool_names
    assert results(script) == ["3"]


async def test_each_session_has_servers_of_its_own(transport: RecordingTransport) -> None:
    script = ScriptedChatModel(call("w__count", {}), "Counted.", each_turn=True)
    agent = acp_agent(script, transport=transport, mcp_servers=WORKSHOP)
    counts: list[Any] = []
    try:
        for session in ("s1", "s1", "s2"):
            await patiently(agent.ainvoke(PROMPT, on_thread(session)))
            counts.append(results(script)[-1].split()[0])
    finally:
        await patiently(agent.aclose())
    assert counts == ["1", "2", "1"]


async def test_the_calls_of_a_server_are_shown_as_what_they_are(transport: RecordingTransport) -> None:
    agent = acp_agent(ScriptedChatModel(ADD, "Three."), transport=transport, mcp_servers=WORKSHOP)
    try:
        await patiently(agent.ainvoke(PROMPT))
    finally:
        await patiently(agent.aclose())
    assert statuses(transport, "call_1") == ["pending", "in_progress", "completed"]
    assert call_of(transport, "call_1")["kind"] == "read"


def test_a_plain_invoke_has_the_tools_too() -> None:
    script = ScriptedChatModel(ADD, call("w__add", {"a": 2, "b": 2}), "Done.")
    middleware = SessionMiddleware(mcp_servers=WORKSHOP)
    create_agent(script, [], middleware=[middleware]).invoke(PROMPT)
    assert results(script) == ["3", "4"]


async def test_a_plain_invoke_uses_the_servers_of_a_session_that_is_open() -> None:
    script = ScriptedChatModel(call("w__count", {}), "Counted.", each_turn=True)
    agent = acp_agent(script, transport=RecordingTransport(), mcp_servers=WORKSHOP)
    try:
        await patiently(agent.ainvoke(PROMPT, on_thread("s1")))
        await patiently(asyncio.to_thread(agent.invoke, PROMPT, on_thread("s1")))
    finally:
        await patiently(agent.aclose())
    assert results(script)[-1].split()[0] == "2"


async def test_a_plain_invoke_in_a_loop_says_what_to_do_instead() -> None:
    ear = Ear()
    middleware = SessionMiddleware(mcp_servers=WORKSHOP)
    with use_channel(ear):
        create_agent(ScriptedChatModel("Hi."), [], middleware=[middleware]).invoke(PROMPT)
    (notice,) = [one for one in ear.heard if isinstance(one, ev.Notice)]
    assert "call ainvoke()" in str(notice.description)


BAD: Any = {"gone": {"command": "/no/such/program", "transport": "stdio"}}


async def test_a_server_that_fails_is_named_and_the_run_goes_on() -> None:
    ear = Ear()
    async with SessionMiddleware(mcp_servers=BAD) as middleware:
        with use_channel(ear):
            agent = create_agent(ScriptedChatModel("Hi."), [], middleware=[middleware])
            result = await patiently(agent.ainvoke(PROMPT))
    assert result["messages"][-1].content == "Hi."
    (notice,) = [one for one in ear.heard if isinstance(one, ev.Notice)]
    assert "'gone'" in notice.title


@pytest.mark.parametrize("plain", [True, False])
async def test_an_editor_and_the_log_hear_of_a_server_that_fails(
    plain: bool, caplog: pytest.LogCaptureFixture
) -> None:
    editor = RecordingTransport(session_id="s1")
    agent = acp_agent(ScriptedChatModel("Hi."), transport=editor, mcp_servers=BAD)
    await call_graph(agent, PROMPT, plain=plain)
    assert "'gone'" in text(editor, "agent_thought_chunk")
    assert "'gone'" in caplog.text


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (["npx foo"], "'server 1'.* it is no object"),
        ({"a": {"comand": "npx"}}, "'a'.* neither a command nor a url"),
    ],
)
def test_settings_that_name_no_server_are_refused_at_once(wrong: Any, why: str) -> None:
    for make in (SessionMiddleware, acp_middleware):
        with pytest.raises(ConfigurationError, match=why):
            make(mcp_servers=wrong)


def test_a_server_that_fails_does_not_stop_a_plain_invoke(caplog: pytest.LogCaptureFixture) -> None:
    middleware = SessionMiddleware(mcp_servers=BAD)
    agent = create_agent(ScriptedChatModel("Hi.", "Again."), [], middleware=[middleware])
    with caplog.at_level(logging.WARNING):
        assert agent.invoke(PROMPT)["messages"][-1].content == "Hi."
    (record,) = [one for one in caplog.records if one.name == "trunkline.langchain"]
    assert "'gone'" in record.message
    _mcp_servers.LogChannel().emit(ev.Text(message_id="m", delta="unheard"))


async def test_the_options_are_those_of_the_tools() -> None:
    script = ScriptedChatModel(call("add", {"a": 1, "b": 2}), "Three.")
    options = {"prefix_tool_name": False, "standard_content_blocks": False}
    async with SessionMiddleware(mcp_servers=WORKSHOP, mcp_tool_options=options) as middleware:
        await patiently(create_agent(script, [], middleware=[middleware]).ainvoke(PROMPT))
    assert results(script) == ["3"]


def test_an_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="knows prefix_tool_name and standard_content_blocks"):
        SessionMiddleware(mcp_servers=WORKSHOP, mcp_tool_options={"prefix": True})


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from trunkline.agents.interface import McpCapabilities

    monkeypatch.setattr(_mcp_servers, "mcp_capabilities", lambda: McpCapabilities(http=False, sse=False))
    with pytest.raises(ConfigurationError, match=r"trunkline\[mcp\]"):
        SessionMiddleware(mcp_servers=WORKSHOP)


async def test_the_servers_of_sessions_long_unused_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_mcp_servers, "_MOST_SESSIONS", 1)
    script = ScriptedChatModel("Hi.", each_turn=True)
    closed: list[int] = []
    detach = _mcp_servers.detach_servers

    async def detaching(memory: Any) -> None:
        await detach(memory)
        closed.append(id(memory))

    monkeypatch.setattr(_mcp_servers, "detach_servers", detaching)
    async with SessionMiddleware(mcp_servers=WORKSHOP) as middleware:
        agent = create_agent(script, [], middleware=[middleware])
        for session in ("s1", "s2", "s3"):
            await patiently(agent.ainvoke(PROMPT, on_thread(session)))
    assert len(closed) == len(set(closed)) == 3


async def test_the_servers_of_a_session_of_ours_end_with_it() -> None:
    script = ScriptedChatModel(call("w__count", {}), "Counted.")
    agent = LangChainAgent(create_agent(script, [], middleware=[SessionMiddleware(mcp_servers=WORKSHOP)]))
    async with session_for(agent) as session:
        await patiently(collect(session, "go"))
        process = int(results(script)[0].split()[-1])
        assert is_alive(process)
    await until(lambda: not is_alive(process))
