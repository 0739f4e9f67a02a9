"""The official Python SDK as a client: the newest final release and the newest candidate."""

import subprocess
from pathlib import Path

import pytest

from tests.peers.client_plans import Driver
from tests.peers.contract import StdioContract

pytestmark = pytest.mark.slow


def driver_in(name: str, root: Path) -> Driver:
    """The driver in the environment of a lock, which ``make setup`` has made."""
    made = subprocess.run(
        [root / "scripts/peer-venv", name], capture_output=True, text=True, check=True, timeout=300
    )
    return (f"{made.stdout.strip()}/bin/python", str(root / "tests/peers/python/drive_client.py"))


class TestRelease(StdioContract):
    """agent-client-protocol 0.12.1."""

    notices = False
    deletes = False

    @classmethod
    def find_driver(cls, root: Path) -> Driver:
        return driver_in("acp-sdk-0.12", root)


class TestCandidate(StdioContract):
    """agent-client-protocol 1.0.0rc3."""

    @classmethod
    def find_driver(cls, root: Path) -> Driver:
        return driver_in("acp-sdk-1.0rc", root)
