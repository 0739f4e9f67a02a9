"""The official TypeScript SDK as a client over the network: its WebSocket and its HTTP transport."""

import sys
from pathlib import Path

import pytest

from tests.peers.client_plans import Driver
from tests.peers.contract import ClientContract, CrashContract

pytestmark = pytest.mark.slow


def drive_over(kind: str, root: Path) -> Driver:
    """The driver of the npm SDK, against a server of its own."""
    peers = root / "tests/peers"
    # Node 20 has the WebSocket of browsers behind a flag; newer ones have it anyway.
    node = ("node", "--experimental-websocket", "--no-warnings", str(peers / "node/drive_client.mjs"))
    return (sys.executable, str(peers / "serve_and_drive.py"), kind, *node)


class TestWebSocket(ClientContract):
    """@agentclientprotocol/sdk 2.4.0, experimental/ws-client."""

    @classmethod
    def find_driver(cls, root: Path) -> Driver:
        return drive_over("ws", root)


class TestStreamableHttp(CrashContract):
    """@agentclientprotocol/sdk 2.4.0, experimental/http-client."""

    @classmethod
    def find_driver(cls, root: Path) -> Driver:
        return drive_over("http", root)
