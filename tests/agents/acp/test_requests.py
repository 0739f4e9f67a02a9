"""The requests of an ACP agent: methods, notifications, sessions that close."""

import asyncio
from typing import Any

import pytest

from tests.agents.acp.far_side import Far, ScriptedAgent, refused
from tests.hubs import collect, hub_for, only, soon
from trunkline import events as ev
from trunkline.agents.acp.requests import AgentRequests
from trunkline.commands import Prompt
from trunkline.protocols.acp.decoder import AcpDecoder
from trunkline.session.context import current
from trunkline.session.view import SessionView


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
