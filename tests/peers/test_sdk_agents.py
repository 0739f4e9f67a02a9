"""Agents on the official SDKs, of Python and of npm: driven by AcpClient, and by AcpAgent on the trunk."""

import asyncio
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.hubs import collect, hub_for, soon, text_of, until
from trunkline import events as ev
from trunkline.agents.acp import AcpAgent, AcpClient
from trunkline.commands import Prompt
from trunkline.errors import AgentError
from trunkline.folding import fold

pytestmark = pytest.mark.slow

Command = list[str]


def python_agent(lock: str, root: Path) -> Command:
    """The agent in the environment of a lock."""
    made = subprocess.run(
        [root / "scripts/peer-venv", lock], capture_output=True, text=True, check=True, timeout=300
    )
    return [f"{made.stdout.strip()}/bin/python", str(root / "tests/peers/python/sdk_agent.py")]


AGENTS: dict[str, Callable[[Path], Command]] = {
    "python-0.12": lambda root: python_agent("acp-sdk-0.12", root),
    "python-1.0rc": lambda root: python_agent("acp-sdk-1.0rc", root),
    "npm": lambda root: ["node", str(root / "tests/peers/node/sdk_agent.mjs")],
}


@pytest.fixture(params=AGENTS)
def command(
    request: pytest.FixtureRequest, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Command:
    """The words that start an agent whose sessions are in a folder of the test."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "sessions").mkdir()
    (tmp_path / "work").mkdir()
    return [*AGENTS[request.param](root), str(tmp_path / "sessions")]


def client_of(command: Command, folder: Path, **settings: Any) -> tuple[AcpClient, list[str]]:
    """A client, and the text that it is told."""
    texts: list[str] = []

    def take(update: Mapping[str, Any]) -> None:
        if update["sessionUpdate"] == "agent_message_chunk":
            texts.append(update["content"]["text"])

    client = AcpClient(command[0], command[1:], cwd=folder / "work", **settings)
    client.set_update_callback(take)
    return client, texts


async def test_the_client_talks_asks_and_serves(command: Command, tmp_path: Path) -> None:
    (tmp_path / "work/notes.txt").write_text("milk")
    client, texts = client_of(command, tmp_path, permission="allow")
    async with client:
        for word in ("hello", "ask", "files", "terminal"):
            assert (await soon(client.prompt(word))).stop_reason == "end_turn"
    assert texts == ["You said hello", "once", "milk", "hi\n"]
    assert (tmp_path / "work/copy.txt").read_text() == "MILK"


async def test_the_client_refuses_what_nobody_allowed_and_what_is_outside(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "work/notes.txt").symlink_to(tmp_path / "secret.txt")
    client, texts = client_of(command, tmp_path)
    async with client:
        await soon(client.prompt("ask"))
        with pytest.raises(AgentError):
            await soon(client.prompt("files"))
    assert texts == ["never"]


async def test_the_client_cancels(command: Command, tmp_path: Path) -> None:
    client, texts = client_of(command, tmp_path)
    async with client:
        running = asyncio.create_task(client.prompt("slow"))
        await until(lambda: texts == ["waiting"])
        await client.cancel()
        assert (await soon(running)).stop_reason == "cancelled"
        await soon(client.prompt("on"))
    assert texts[-1] == "You said on"


async def test_the_client_finds_its_session_again(command: Command, tmp_path: Path) -> None:
    client, _ = client_of(command, tmp_path)
    async with client:
        await soon(client.prompt("hello"))
        session_id = client.session_id
    client, _ = client_of(command, tmp_path)
    async with client:
        assert await soon(client.ensure_session()) == session_id
        assert [message.text for message in fold(client.replayed).messages] == ["hello", "You said hello"]
    (tmp_path / "sessions" / str(session_id)).rename(tmp_path / "lost")
    (tmp_path / "sessions/other").write_text("[]")
    client, _ = client_of(command, tmp_path)
    async with client:
        await soon(client.ensure_session())
        assert client.replayed == []


async def test_the_agent_on_the_trunk_talks_asks_serves_and_cancels(command: Command, tmp_path: Path) -> None:
    (tmp_path / "work/notes.txt").write_text("milk")
    agent = AcpAgent(command[0], command[1:], cwd=tmp_path / "work", permission="allow")
    async with hub_for(agent) as hub:
        session = await soon(hub.create(cwd=str(tmp_path / "work")))
        answers = {"hello": "You said hello", "ask": "once", "files": "milk", "terminal": "hi\n"}
        for word, answer in answers.items():
            assert text_of(await collect(session, word)) == answer
        async with session.follow() as reader:
            await soon(session.prompt(Prompt.of("slow")))
            reason = None
            while reason is None:
                for entry in await soon(reader.next()):
                    if isinstance(entry.event, ev.Text):
                        await soon(session.cancel())
                    elif isinstance(entry.event, ev.TurnFinished):
                        reason = entry.event.stop_reason
        assert reason == "cancelled"
        assert text_of(await collect(session, "on")) == "You said on"
    assert (tmp_path / "work/copy.txt").read_text() == "MILK"
