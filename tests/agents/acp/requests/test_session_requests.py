"""The requests of an ACP agent: methods, notifications, sessions that close."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.agents.acp.far_side import Far, ScriptedAgent, refused
from tests.hubs import collect, hub_for, only, soon
from trunkline import events as ev
from trunkline.agents.acp.requests.session_requests import AgentRequests
from trunkline.commands import Prompt
from trunkline.protocols.acp.decoder import AcpDecoder
from trunkline.session.context import current
from trunkline.session.view import SessionView
from trunkline.testing import AcpEditor


@pytest.mark.parametrize("method", ["craft/drainMidTurnQueue", "fs/delete", "terminal/", "_x", ""])
async def test_an_unknown_method_is_refused_at_once(method: str) -> None:
    requests = AgentRequests(SessionView(session_id="s"), AcpDecoder())
    with refused(-32601, f"method not found: {method}"):
        await soon(requests.handle(method, {}), within=1)


@pytest.mark.parametrize("params", [None, [], "text", 7])
@pytest.mark.parametrize(
    "method",
    [
        "session/request_permission",
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "terminal/output",
        "terminal/wait_for_exit",
        "terminal/kill",
        "terminal/release",
        "elicitation/create",
    ],
)
async def test_params_that_are_no_object_are_refused_with_a_sentence(method: str, params: Any) -> None:
    requests = AgentRequests(SessionView(session_id="s"), AcpDecoder())
    with refused(-32602, "an object is expected"):
        await requests.handle(method, params)


async def test_a_view_without_a_session_refuses_and_does_not_fail() -> None:
    requests = AgentRequests(SessionView(session_id="s"), AcpDecoder())
    call = {"toolCallId": "c", "title": "x"}
    options = [{"optionId": "a", "name": "A", "kind": "allow_once"}]
    answer = await requests.handle("session/request_permission", {"toolCall": call, "options": options})
    assert answer == {"outcome": {"outcome": "cancelled"}}
    assert requests.turn is None
    await requests.close()


async def test_a_request_is_answered_in_its_turn_and_leaves_no_trace_outside() -> None:
    seen: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        await far.ask("terminal/create", command="true")

    agent = ScriptedAgent(script)
    async with hub_for(agent) as hub:
        session = await hub.create(cwd="/tmp")
        await collect(session, "go")
        seen.append(current())
        assert agent.requests is not None
        assert agent.requests.turn is None
    assert seen == [None]


async def test_unknown_notifications_are_ignored() -> None:
    requests = AgentRequests(SessionView(session_id="s"), AcpDecoder())
    requests.handle_notification("qwen/notify/session", {"x": 1})
    requests.handle_notification("elicitation/complete", None)


async def test_closing_withdraws_what_is_open() -> None:
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        got.append(await far.permission(toolCallId="c", title="x", kind="fetch"))

    agent = ScriptedAgent(script)
    async with hub_for(agent) as hub:
        session = await hub.create()

        async def close(asked: ev.Asked) -> None:
            assert agent.requests is not None
            await agent.requests.close()

        shown = await collect(session, "go", {ev.Asked: close})
        await asyncio.sleep(0)
    assert got == [{"outcome": "cancelled"}]
    assert [answered.outcome for answered in only(shown, ev.Answered)] == ["cancelled"]


async def test_an_editor_in_front_runs_and_reads_for_the_agent(tmp_path: Path) -> None:
    """Files, terminals, forms and permissions of an ACP agent are the ACP editor's own."""
    path, line = str(tmp_path / "a.txt"), "echo x > f && cat f"
    ran: list[list[str]] = []
    got: dict[str, Any] = {}

    def terminal(argv: list[str]) -> tuple[str, int]:
        ran.append(argv)
        return f"ran {argv[0]}\n", 3

    async def script(far: Far, prompt: Prompt) -> None:
        got["read"] = (await far.ask("fs/read_text_file", path=path, line=2, limit=1))["content"]
        with refused(-32002, f"Resource not found: {path}.new"):
            await far.ask("fs/read_text_file", path=f"{path}.new")
        await far.ask("fs/write_text_file", path=f"{path}.new", content="made")
        for command in ({"command": line}, {"command": "make", "args": ["test"]}):
            made = await far.ask("terminal/create", **command)
            content = [{"type": "terminal", **made}]
            far.update("tool_call", toolCallId=made["terminalId"], title="run", content=content)
            got[made["terminalId"]] = await far.ask("terminal/wait_for_exit", **made)
            got["output"] = await far.ask("terminal/output", **made)
            await far.ask("terminal/release", **made)
            far.update("tool_call_update", toolCallId=made["terminalId"], status="completed")
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        got["form"] = await far.ask("elicitation/create", mode="form", message="Who?", requestedSchema=schema)
        got["permission"] = await far.permission(toolCallId="p", title="Fetch", kind="fetch")

    async with AcpEditor(
        ScriptedAgent(script),
        files={path: "unsaved one\nunsaved two\n"},
        terminal=terminal,
        forms=[{"name": "Ada"}],
        permissions=["allow_always"],
    ) as editor:
        session_id = await editor.new_session(str(tmp_path))
        assert (await editor.prompt(session_id, "go"))["stopReason"] == "end_turn"
        assert editor.files == {path: "unsaved one\nunsaved two\n", f"{path}.new": "made"}
        created = [sent.params for sent in editor.asked if sent.method == "terminal/create"]
        shown = [
            update["content"] for update in editor.updates if "toolCallId" in update and "content" in update
        ]
    assert ran == [[line], ["make", "test"]]
    assert "args" not in created[0]
    assert [{"type": "terminal", "terminalId": "terminal-1"}] in shown
    assert got["read"] == "unsaved two\n"
    assert got["terminal-1"] == got["terminal-2"] == {"exitCode": 3, "signal": None}
    assert got["output"]["output"] == "ran make\n"
    assert got["form"] == {"action": "accept", "content": {"name": "Ada"}}
    assert got["permission"] == {"outcome": "selected", "optionId": "proceed_always"}
