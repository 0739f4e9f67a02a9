"""MCP servers that the provider calls: the policy holds for them too."""

from typing import Any, cast

import pytest
from openai.types.responses.response_output_item import McpApprovalRequest

from agents import HostedMCPTool
from tests.agents.openai.sdk_agents import agent_of, finish, started, statuses, stopped
from tests.agents.openai.tools.test_native_tools import streamed
from tests.hubs import collect, only, session_for
from trunkline import events as ev
from trunkline.workspace import Policy
from trunkline.workspace.rules import Rule


def hosted(require_approval: Any, **more: Any) -> HostedMCPTool:
    config = {"type": "mcp", "server_label": "docs", "server_url": "https://docs.example/mcp"}
    return HostedMCPTool(tool_config=cast("Any", {**config, "require_approval": require_approval}), **more)


def request(name: str = "delete_page") -> Any:
    return streamed(
        McpApprovalRequest(
            id="apr", type="mcp_approval_request", server_label="docs", name=name, arguments='{"page": 3}'
        )
    )


def answers(model: Any) -> list[Any]:
    given: list[dict[str, Any]] = model.calls[-1].input
    return [item["approve"] for item in given if item.get("type") == "mcp_approval_response"]


@pytest.mark.parametrize("wanted", ["never", {"never": {"tool_names": ["delete_page"]}}])
@pytest.mark.parametrize("allowed", [True, False])
async def test_the_policy_is_asked_where_the_author_wants_no_approval(wanted: Any, allowed: bool) -> None:
    tool = hosted(wanted)
    agent, model = agent_of(request(), "Done.", tools=[tool])
    policy = Policy(rules=(Rule(decision="allow" if allowed else "deny", tool="delete_page"),))
    async with session_for(agent, policy=policy) as session:
        events = await collect(session, "Delete page 3.")
    assert cast("Any", model.calls[0].tools[0]).tool_config["require_approval"] == "always"
    assert tool.tool_config["require_approval"] == wanted  # pyright: ignore[reportTypedDictNotRequiredAccess]
    assert answers(model) == [allowed]
    assert [one.allowed for one in only(events, ev.Decided)] == [allowed]


async def test_a_person_is_asked_and_refuses() -> None:
    agent, model = agent_of(request(), "Done.", tools=[hosted("never")])
    async with session_for(agent, policy=Policy.ask()) as session:
        await started(session)
        (asked,) = await stopped(session, 1)
        shown = await finish(session, {asked.question.call_id: "reject_once"})
    assert answers(model) == [False]
    assert statuses(shown) == {"apr": "denied"}


async def test_the_authors_own_handler_decides_after_the_policy() -> None:
    def handler(asked: Any) -> Any:
        return {"approve": asked.data.name != "delete_page", "reason": "no"}

    tool = hosted("always", on_approval_request=handler)
    agent, model = agent_of(request(), "Done.", tools=[tool])
    async with session_for(agent, policy=Policy(default="allow")) as session:
        await collect(session, "Delete page 3.")
    assert answers(model) == [False]


async def test_without_a_policy_the_tool_is_as_it_is() -> None:
    tool = hosted("never")
    agent, model = agent_of("Done.", tools=[tool])
    async with session_for(agent) as session:
        await collect(session, "Hello.")
    assert model.calls[0].tools == [tool]
