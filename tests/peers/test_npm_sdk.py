"""The official TypeScript SDK as a client."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.peers.contract import ClientContract
from tests.peers.playing import Driver

pytestmark = pytest.mark.slow


class TestNpmSdk(ClientContract):
    """@agentclientprotocol/sdk 2.4.0."""

    @classmethod
    def find_driver(cls, root: Path) -> Driver:
        return ("node", str(root / "tests/peers/node/drive_client.mjs"))
