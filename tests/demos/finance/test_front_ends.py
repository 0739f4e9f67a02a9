"""The finance agent through its front ends: an ACP editor, AG-UI and the AI SDK, on one ledger."""

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.demos.finance.conversations import TODAY, agent
from tests.server.running_server import frames, run_events, run_input, served

from trunkline.__main__ import finance_acp, finance_mcp
from trunkline.agents.targets import resolve_target
from trunkline.conformance.acp.stdio_client import StdioClient, text
from trunkline.frontends.aisdk import AisdkOptions
from trunkline.testing import AcpEditor

QUESTION = "How much did I spend on groceries last month?"


def said(updates: list[dict[str, Any]]) -> str:
    return "".join(one["content"]["text"] for one in updates if one["sessionUpdate"] == "agent_message_chunk")


async def test_an_editor_gets_the_answer_the_call_and_the_permission(tmp_path: Path) -> None:
    editor = AcpEditor(agent(), permissions=["allow_once", "allow_always"], files={})
    async with editor:
        assert editor.greeting["agentInfo"]["name"] == "trunkline-finance"
        session = await editor.request("session/new", {"cwd": str(tmp_path), "mcpServers": []})
        here = {"sessionId": session["sessionId"]}
        await editor.request("session/prompt", {**here, "prompt": [{"type": "text", "text": QUESTION}]})
        assert said(editor.updates).startswith("In October 2026 you spent **")
        calls = [one for one in editor.updates if one["sessionUpdate"] == "tool_call"]
        assert (calls[0]["title"], calls[0]["kind"]) == ("Add up spending", "read")
        prompt = [{"type": "text", "text": "Write a report for October"}]
        await editor.request("session/prompt", {**here, "prompt": prompt})
        assert editor.files is not None
        (path,) = editor.files
        assert path.endswith("finance-2026-10.md")
        assert editor.files[path].startswith("# Finances: October 2026")
        prompt = [{"type": "text", "text": "SELECT count(*) FROM spending"}]
        await editor.request("session/prompt", {**here, "prompt": prompt})
        asked = [one.params for one in editor.asked if one.method == "session/request_permission"]
        names = [option["name"] for option in asked[-1]["options"]]
        assert any(name.startswith("Always allow SQL") for name in names)


@pytest.mark.slow
def test_the_command_serves_acp_over_stdio(tmp_path: Path) -> None:
    own = {
        "TRUNKLINE_TODAY": TODAY.isoformat(),
        "DATABASE_URL": f"sqlite:///{tmp_path / 'ledger.db'}",
        "TRUNKLINE_JOURNAL": f"sqlite:{tmp_path / 'journal.db'}",
    }
    script = Path(sys.executable).parent / "trunkline-finance-acp"
    with StdioClient([str(script)], env=own) as talk:
        greeting = talk.request("initialize", {"protocolVersion": 1})
        assert greeting is not None
        assert greeting["result"]["agentInfo"]["title"] == "Trunkline Finance"
        session = talk.request("session/new", {"cwd": str(tmp_path), "mcpServers": []})
        assert session is not None
        talk.request(
            "session/prompt", {"sessionId": session["result"]["sessionId"], "prompt": text(QUESTION)}
        )
        updates = [line.update for line in talk.log if line.update is not None]
        assert said(updates).startswith("In October 2026 you spent **")


async def test_ag_ui_and_the_ai_sdk_get_the_same_answer() -> None:
    async with served(agent(), aisdk=AisdkOptions()) as (_, client):
        events = await run_events(client, run_input(QUESTION))
        agui = "".join(one["delta"] for one in events if one["type"] == "TEXT_MESSAGE_CONTENT")
        assert agui.startswith("In October 2026 you spent **")
        assert [one["toolCallName"] for one in events if one["type"] == "TOOL_CALL_START"] == ["spending"]
        message = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": QUESTION}]}
        body = {"id": "chat1", "trigger": "submit-message", "messages": [message]}
        async with client.stream("POST", "/api/chat", json=body) as response:
            chunks = [chunk async for _, chunk in frames(_without_end(response))]
        aisdk = "".join(one["delta"] for one in chunks if one["type"] == "text-delta")
        assert aisdk == agui
        assert any(one["type"].startswith("tool-input") for one in chunks)


def _without_end(response: Any) -> Any:
    """The stream of the AI SDK ends with [DONE], which is no JSON."""

    class Reader:
        async def aiter_bytes(self) -> Any:
            async for piece in response.aiter_bytes():
                yield piece.replace(b"data: [DONE]\n\n", b"")

    return Reader()


@pytest.mark.parametrize("target", ["finance", "finance:openai", "finance:langchain"])
def test_the_targets_are_known(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert resolve_target(target).card.name == "trunkline-finance"


def test_the_scripts_are_short_for_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr("trunkline.__main__.main", lambda: seen.append(sys.argv[1:]))
    for script in (finance_acp, finance_mcp):
        monkeypatch.setattr("sys.argv", ["x", "--help"])
        script()
    assert seen == [["acp", "finance", "--help"], ["mcp", "finance", "--help"]]
