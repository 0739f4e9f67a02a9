"""Copies of agents: handoffs of every form, MCP servers of the agent's own, tools that hide their agent."""

import sys
from pathlib import Path
from typing import Any

import pytest
from agents.mcp import MCPServerStdio
from agents.testing import ScriptedModel

from agents import Agent, AsyncComputer, ComputerTool, FunctionTool, handoff
from tests.agents.openai.sdk_agents import (
    agent_of,
    call,
    finish,
    named,
    say,
    started,
    statuses,
    stopped,
    weather,
)
from tests.hubs import collect, only, run_turn, session_for, text_of
from trunkline import events as ev
from trunkline.agents.openai.tools import nested_agents
from trunkline.folding import fold
from trunkline.workspace import Policy

SCRIPT = str(Path(__file__).parents[1] / "langchain" / "servers" / "example_server.py")


def other_agent() -> Agent[Any]:
    model = ScriptedModel([[call("weather", "w1", city="Oslo")], say("Rain.")])
    return Agent(name="Other", model=model, tools=[weather])


async def test_a_handoff_object_leads_to_the_copy_and_keeps_what_it_does() -> None:
    seen: list[str] = []
    made = handoff(other_agent(), on_handoff=lambda context: seen.append("handed"))
    agent, _ = agent_of([call("transfer_to_other", "h1")], handoffs=[made])
    async with session_for(agent, policy=Policy.ask()) as session:
        await started(session, "Go.")
        (asked,) = await stopped(session, 1)
        shown = await finish(session, {asked.question.call_id: "allow_once"})
    assert seen == ["handed"]
    assert statuses(shown)["w1"] == "completed"


async def test_agents_that_hand_to_each_other_are_copied_once_each() -> None:
    first = other_agent()
    agent, model = agent_of([call("transfer_to_other", "h1")], handoffs=[first])
    first.handoffs.append(agent.agent)
    assert text_of(await run_turn(agent)) == "Rain."
    assert len(model.calls) == 1


async def test_a_tool_of_the_agents_own_mcp_server_is_asked_about_too() -> None:
    params: Any = {"command": sys.executable, "args": [SCRIPT, "stdio"]}
    async with MCPServerStdio(params, name="w", client_session_timeout_seconds=40) as server:
        agent, _ = agent_of([call("count", "k1")], "Done.", tools=[], mcp_servers=[server])
        async with session_for(agent, policy=Policy.ask()) as session:
            await started(session, "Count.")
            (asked,) = await stopped(session, 1)
            shown = await finish(session, {asked.question.call_id: "allow_once"})
        assert agent.agent.mcp_servers == [server]
    assert statuses(shown) == {"k1": "completed"}
    assert "1 in" in str(named(shown)["k1"].raw_output or named(shown)["k1"].content)


async def test_an_agent_whose_tool_cannot_be_read_runs_and_a_notice_says_so_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nested_agents, "_LISTENER", "renamed_in_a_later_version")
    inner: Agent[Any] = Agent(name="Scout", model=ScriptedModel([say("Rain."), say("Sun.")]))
    agent, _ = agent_of(
        [call("scout", "s1", input="Oslo?")],
        "It rains.",
        [call("scout", "s2", input="Rome?")],
        "Sun.",
        tools=[inner.as_tool("scout", "Look.")],
    )
    async with session_for(agent) as session:
        events = [*await collect(session, "Oslo?"), *await collect(session, "Rome?")]
    assert [notice.title for notice in only(events, ev.Notice)] == ["What Scout does is not shown"]
    assert statuses(fold(events)) == {"s1": "completed", "s2": "completed"}


async def test_under_a_policy_an_agent_whose_tool_cannot_be_read_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nested_agents, "_LISTENER", "renamed_in_a_later_version")
    inner: Agent[Any] = Agent(name="Scout", model=ScriptedModel([]), tools=[weather])
    agent, model = agent_of("I cannot look.", tools=[inner.as_tool("scout", "Look."), weather])
    async with session_for(agent, policy=Policy(default="deny")) as session:
        events = await collect(session, "Oslo?")
    assert [notice.title for notice in only(events, ev.Notice)] == ["Scout is left out"]
    assert [tool.name for tool in model.calls[0].tools] == ["weather"]


async def test_an_agents_own_listener_still_hears_what_happens_inside() -> None:
    heard: list[str] = []
    inner: Agent[Any] = Agent(name="Scout", model=ScriptedModel([say("Rain.")]))
    tool: FunctionTool = inner.as_tool(
        "scout", "Look.", on_stream=lambda payload: heard.append(payload["event"].type)
    )
    agent, _ = agent_of([call("scout", "s1", input="Oslo?")], "It rains.", tools=[tool])
    shown = fold(await run_turn(agent))
    assert "raw_response_event" in heard
    assert [lane.name for lane in shown.lanes.values()] == ["Scout"]


async def test_two_calls_of_one_agent_at_once_have_a_lane_each() -> None:
    inner: Agent[Any] = Agent(name="Scout", model=ScriptedModel([say("Rain."), say("Rain.")]))
    agent, _ = agent_of(
        [call("scout", "s1", input="Oslo?"), call("scout", "s2", input="Rome?")],
        "It rains.",
        tools=[inner.as_tool("scout", "Look.")],
    )
    shown = fold(await run_turn(agent))
    assert sorted(lane.parent_call_id or "" for lane in shown.lanes.values()) == ["s1", "s2"]
    assert [message.text for message in shown.messages if message.lane] == ["Rain.", "Rain."]


async def _nothing(*args: Any, **kwargs: Any) -> str:
    return ""


_METHODS = dict.fromkeys(AsyncComputer.__abstractmethods__, _nothing)
_SCREEN = {"environment": "browser", "dimensions": (10, 10)}
Screen: Any = type("Screen", (AsyncComputer,), {**_METHODS, **_SCREEN})
"""A screen that nobody looks at."""


@pytest.mark.parametrize("policy", [None, Policy.ask()])
async def test_a_computer_that_no_policy_can_judge_is_left_out_under_one(policy: Policy | None) -> None:
    computer: Any = ComputerTool(computer=Screen())
    agent, model = agent_of("Hi.", tools=[weather, computer])
    events = await run_turn(agent, policy=policy)
    names = [tool.name for tool in model.calls[0].tools]
    assert len(names) == (2 if policy is None else 1)
    assert len(only(events, ev.Notice)) == (0 if policy is None else 1)
