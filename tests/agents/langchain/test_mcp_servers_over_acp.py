"""A session's MCP servers over a real ACP connection."""

import sys
from typing import Any

from langchain_core.messages import ToolMessage

from tests.agents.langchain.graphs import agent_of
from tests.agents.langchain.mcp_example import SCRIPT, patiently, text_in, unhurried
from tests.frontends.acp.memory_editor import ABLE, Editor, editing
from tests.hubs import until
from tests.process_state import is_alive
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.testing.chat import ScriptedChatModel, call

GOOD: dict[str, Any] = {"name": "w", "command": sys.executable, "args": [SCRIPT, "stdio"], "env": []}
BAD: dict[str, Any] = {"name": "broken", "command": "/no/such/thing", "args": [], "env": []}


async def open_with(editor: Editor, *servers: dict[str, Any]) -> str:
    made = await editor.call("session/new", cwd="/", mcpServers=list(servers))
    return made["sessionId"]


async def prompt(editor: Editor, session_id: str) -> Any:
    """Play a turn that may have to wait for a server."""
    content = [{"type": "text", "text": "go"}]
    asking = editor.connection.request("session/prompt", {"sessionId": session_id, "prompt": content})
    return await patiently(asking)


def card_of(agent: LangChainAgent) -> tuple[bool, bool]:
    return agent.card.mcp.http, agent.card.mcp.sse


async def test_session_servers_are_used_and_a_bad_command_is_named() -> None:
    agent, model = agent_of(call("w__count", {}, "k1"), "Counted.", call("w__count", {}, "k2"), "Again.")
    assert card_of(agent) == (True, True)
    async with unhurried(agent) as hub, editing(hub, ABLE) as editor:
        session_id = await open_with(editor, BAD, GOOD)
        assert await prompt(editor, session_id) == {"stopReason": "end_turn"}
        (notice,) = editor.updates("notice")
        assert notice["title"] == "MCP server 'broken' is not available"
        assert notice["description"] == (
            "'/no/such/thing' or its folder was not found: install it, or give its whole path"
        )
        (result,) = [m for m in model.calls[1].messages if isinstance(m, ToolMessage)]
        pid = int(text_in(result).split()[-1])
        assert text_in(result) == f"1 in {pid}"
        shown = [u for u in editor.updates("tool_call_update") if u.get("status") == "completed"]
        assert [u["toolCallId"] for u in shown] == ["k1"]
        assert editor.text == "Counted."
        # Loaded again without servers, the session has none.
        await editor.call("session/load", sessionId=session_id, cwd="/", mcpServers=[])
        await prompt(editor, session_id)
        assert "w__count" not in model.calls[2].tool_names
        await until(lambda: not is_alive(pid))


async def test_mcp_progress_and_elicitation_reach_the_editor_on_their_calls() -> None:
    calls = [call("w__work", {"name": "saw", "steps": 2}, "k1"), call("w__taste", {}, "k2")]
    agent, model = agent_of(calls, "Done.")
    async with unhurried(agent) as hub, editing(hub, ABLE) as editor:
        answer = {"action": "accept", "content": {"colour": "red"}}
        editor.answers["elicitation/create"] = lambda params: answer
        await prompt(editor, await open_with(editor, GOOD))
        (asked,) = editor.asked("elicitation/create")
        assert (asked["message"], asked["mode"]) == ("w asks: Which colour?", "form")
        results = {m.tool_call_id: text_in(m) for m in model.calls[1].messages if isinstance(m, ToolMessage)}
        assert results == {"k1": "saw done", "k2": "red False"}
        worked = [u for u in editor.updates("tool_call_update") if u["toolCallId"] == "k1"]
        words = [str(update.get("content")) for update in worked]
        assert any("100% saw 2" in text for text in words)
        others = [u for u in editor.updates("tool_call_update") if u["toolCallId"] == "k2"]
        assert "saw" not in str(others)


async def test_mcp_elicitation_is_answered_by_the_next_message_in_an_editor_without_forms() -> None:
    agent, model = agent_of(call("w__taste", {}, "k1"), "Done.")
    async with unhurried(agent) as hub, editing(hub) as editor:
        session_id = await open_with(editor, GOOD)
        await prompt(editor, session_id)
        assert editor.text.startswith("w asks: Which colour?\n\n- `colour` (text)\n- `shiny` (yes or no, ")
        editor.log.clear()
        ended = await editor.prompt(session_id, "colour: red\nshiny: yes")
        (result,) = [m for m in model.calls[1].messages if isinstance(m, ToolMessage)]
        assert (text_in(result), editor.text, ended["stopReason"]) == ("red True", "Done.", "end_turn")
        assert editor.updates("tool_call_update")[-1]["status"] == "completed"


def test_a_model_alone_offers_no_less() -> None:
    assert card_of(LangChainAgent(ScriptedChatModel("hi"))) == (True, True)
