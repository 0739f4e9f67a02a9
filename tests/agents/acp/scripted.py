"""The scripted agent of the tests: how to start it, and a handler that refuses all it asks."""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.hubs import soon
from trunkline.agents.acp.connection import AgentConnection
from trunkline.protocols.jsonrpc.messages import METHOD_NOT_FOUND, RpcError

PROGRAM = Path(__file__).parent / "children/scripted_agent.py"


def scripted(*options: str) -> tuple[str, list[str]]:
    """The command of a scripted agent, and its arguments."""
    return sys.executable, ["-I", str(PROGRAM), *options]


def received(log: Path) -> list[dict[str, Any]]:
    """The messages that an agent with ``--log`` was sent."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


class RefusesAll:
    """Answers no request, and remembers them."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def handle(self, method: str, params: Any) -> Any:
        """Refuse."""
        self.asked.append(method)
        raise RpcError(METHOD_NOT_FOUND, f"method not found: {method}")


@asynccontextmanager
async def connected(*options: str, **settings: Any) -> AsyncGenerator[AgentConnection]:
    """A connection to a scripted agent."""
    command, args = scripted(*options)
    connection = AgentConnection(command, args, **settings)
    await soon(connection.start())
    try:
        yield connection
    finally:
        await soon(connection.close())


class StdioClient:
    """A session at a scripted agent: prompts, and the updates that came."""

    def __init__(self, connection: AgentConnection, session_id: str) -> None:
        self.connection = connection
        self.session_id = session_id
        self.updates: list[Any] = []
        self.notifications: list[str] = []
        self.requests = RefusesAll()
        connection.attach(
            session_id,
            self.updates.append,
            self.requests,
            lambda method, _: self.notifications.append(method),
        )

    async def prompt(self, text: str) -> Any:
        """Send a prompt and wait for its answer."""
        params = {"sessionId": self.session_id, "prompt": [{"type": "text", "text": text}]}
        return await soon(self.connection.request("session/prompt", params))

    @property
    def text(self) -> str:
        """The text that the agent has said."""
        return "".join(
            update["content"]["text"]
            for update in self.updates
            if update["sessionUpdate"] == "agent_message_chunk"
        )


async def talk(connection: AgentConnection) -> StdioClient:
    """Make a session and attach to it."""
    made = await soon(connection.request("session/new", {"cwd": "/tmp", "mcpServers": []}))
    return StdioClient(connection, made["sessionId"])
