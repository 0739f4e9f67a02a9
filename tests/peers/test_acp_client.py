"""AcpClient against real coding agents from npm, among them the one of the seed; their model is a script."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.hubs import soon, until
from tests.peers.coding_agents import AGENTS, GEMINI, CodingAgent
from tests.peers.model.server import serving
from tests.peers.workplace import SECONDS, Workplace, script_for
from trunkline.agents.acp import AcpClient
from trunkline.folding import fold

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture(params=AGENTS, ids=lambda agent: agent.name)
async def place(
    request: pytest.FixtureRequest, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Workplace]:
    """An agent with a scripted model; nothing of it is left at the end."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    agent: CodingAgent = request.param
    with serving(script_for(agent, tmp_path / "work")) as model:
        place = Workplace(root, agent, tmp_path, model)
        yield place
        await asyncio.to_thread(place.wait_until_left)
        assert {*model.outside} <= agent.reaches_for


def client_in(place: Workplace, **settings: Any) -> tuple[AcpClient, list[str]]:
    """A client, and the text that it is told."""
    texts: list[str] = []

    def take(update: Mapping[str, Any]) -> None:
        if update["sessionUpdate"] == "agent_message_chunk":
            texts.append(update["content"]["text"])

    command, arguments = place.installed.command, place.agent.arguments
    # codex tells by the text of a failed command whether its sandbox failed, and a backtrace hides that.
    env = {**place.installed.env, "RUST_BACKTRACE": "0"}
    client = AcpClient(command, arguments, cwd=place.work, env=env, **settings)
    client.set_update_callback(take)
    return client, texts


async def test_it_prompts_allows_cancels_and_finds_the_session_again(place: Workplace) -> None:
    client, texts = client_in(place, permission="allow")
    async with client:
        session_id = await soon(client.ensure_session(), SECONDS)
        assert (await soon(client.prompt("Please #greet me"), SECONDS)).stop_reason == "end_turn"
        assert "Hello world." in "".join(texts)
        assert (await soon(client.prompt("Please #shell it"), SECONDS)).stop_reason == "end_turn"
        assert (place.work / "made.txt").read_text() == "made\n"
        running = asyncio.create_task(client.prompt("Please #wait"))
        await until(lambda: "First " in "".join(texts), SECONDS)
        await client.cancel()
        assert (await soon(running, SECONDS)).stop_reason == "cancelled"
        assert (await soon(client.prompt("#again"), SECONDS)).stop_reason == "end_turn"
    client, _ = client_in(place)
    async with client:
        found = await soon(client.ensure_session(), SECONDS)
        if place.agent is GEMINI:  # It replays nothing of what another process of it said.
            assert client.replayed == [] or found == session_id
            return
        assert found == session_id
        told = fold(client.replayed)
    assert "Please #greet me" in told.messages[0].text
    assert told.messages[1].text == "Hello world."
    assert any(call.status == "completed" for call in told.calls.values())


async def test_it_refuses_what_nobody_allowed(place: Workplace) -> None:
    client, _ = client_in(place)
    async with client:
        await soon(client.prompt("Please #shell it"), SECONDS)
    assert not (place.work / "made.txt").exists()
