"""A session's MCP servers over an ACP connection."""

import sys
from pathlib import Path
from typing import Any, cast

from agents.testing import ScriptedModel

from agents import Agent
from tests.agents.openai.sdk_agents import agent_of, call, say, sent
from tests.frontends.acp.memory_editor import ABLE, Editor, editing
from tests.hubs import hub_for, soon, until
from tests.process_state import is_alive
from trunkline.workspace import Policy

SCRIPT = str(Path(__file__).parents[2] / "langchain" / "servers" / "example_server.py")
GOOD: dict[str, Any] = {"name": "w", "command": sys.executable, "args": [SCRIPT, "stdio"], "env": []}
BAD: dict[str, Any] = {"name": "broken", "command": "/no/such/thing", "args": [], "env": []}
PATIENCE = 40.0


async def open_with(editor: Editor, *servers: dict[str, Any]) -> str:
    made = await editor.call("session/new", cwd="/", mcpServers=list(servers))
    return made["sessionId"]


async def prompt(editor: Editor, session_id: str) -> Any:
    content = [{"type": "text", "text": "go"}]
    asking = editor.connection.request("session/prompt", {"sessionId": session_id, "prompt": content})
    return await soon(asking, PATIENCE)


def outputs(model: ScriptedModel, number: int = -1) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind, output in sent(model, number):
        if kind.startswith("output "):
            parts = cast("list[Any]", output if isinstance(output, list) else [{"text": output}])
            found[kind.removeprefix("output ")] = "".join(part["text"] for part in parts)
    return found


async def test_session_servers_are_used_by_every_agent_and_a_bad_command_is_named() -> None:
    second = ScriptedModel([[call("w__count", "k2")], say("Twice.")])
    other: Agent[Any] = Agent(name="Other", model=second)
    agent, model = agent_of(
        [call("w__count", "k1")], [call("transfer_to_other", "h1")], "Alone.", tools=[], handoffs=[other]
    )
    assert (agent.card.mcp.http, agent.card.mcp.sse) == (True, True)
    async with hub_for(agent, detach_after=10.0) as hub, editing(hub, ABLE) as editor:
        session_id = await open_with(editor, BAD, GOOD)
        assert (await prompt(editor, session_id))["stopReason"] == "end_turn"
        (notice,) = editor.updates("notice")
        assert notice["title"] == "MCP server 'broken' is not available"
        text = outputs(model)["k1"]
        pid = int(text.split()[-1])
        assert text == f"1 in {pid}"
        assert editor.text == "Twice."
        assert outputs(second)["k2"] == f"2 in {pid}"
        # Loaded again without servers, the session has none.
        await editor.call("session/load", sessionId=session_id, cwd="/", mcpServers=[])
        await prompt(editor, session_id)
        assert model.calls[-1].tools == []
        await until(lambda: not is_alive(pid), PATIENCE)
    assert (agent.agent.mcp_servers, agent.agent.tools) == ([], [])


async def test_progress_and_questions_of_a_server_reach_the_editor_on_their_calls() -> None:
    calls = [call("w__work", "k1", name="saw", steps=2), call("w__taste", "k2")]
    agent, model = agent_of(calls, "Done.", tools=[])
    async with hub_for(agent, detach_after=10.0) as hub, editing(hub, ABLE) as editor:
        answer = {"action": "accept", "content": {"colour": "red"}}
        editor.answers["elicitation/create"] = lambda params: answer
        await prompt(editor, await open_with(editor, GOOD))
        (asked,) = editor.asked("elicitation/create")
        assert (asked["message"], asked["mode"]) == ("w asks: Which colour?", "form")
        assert outputs(model) == {"k1": "saw done", "k2": "red False"}
        worked = [update for update in editor.updates("tool_call_update") if update["toolCallId"] == "k1"]
        assert any("100% saw 2" in str(update.get("content")) for update in worked)


async def test_the_policy_holds_for_a_servers_tools() -> None:
    agent, model = agent_of([call("w__count", "k1")], "No.", tools=[])
    async with hub_for(agent, policy=Policy.ask(), detach_after=10.0) as hub, editing(hub, ABLE) as editor:
        editor.permit("reject_once")
        editor.answers["elicitation/create"] = lambda params: {"action": "decline"}
        await prompt(editor, await open_with(editor, GOOD))
        assert len(editor.asked("session/request_permission")) == 1
    assert outputs(model)["k1"] == "The user refused this call."
