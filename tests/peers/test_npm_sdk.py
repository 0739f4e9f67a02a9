"""The official TypeScript SDK as a client."""

import json
from pathlib import Path

import pytest

from tests.peers.client_plans import Driver
from tests.peers.contract import CrashContract, StdioContract

pytestmark = pytest.mark.slow


def test_our_copy_of_the_schemas_is_the_packages_own(root: Path) -> None:
    ours = root / "src/trunkline/conformance/acp/official_schema"
    source = json.loads((ours / "source.json").read_text("utf-8"))
    package = root / "tests/peers/node/node_modules" / source["package"]
    assert json.loads((package / "package.json").read_text("utf-8"))["version"] == source["version"]
    for name in ("schema.json", "schema.unstable.json"):
        official = json.loads((package / source["folder"] / name).read_text("utf-8"))
        assert json.loads((ours / name).read_text("utf-8")) == official


class TestNpmSdk(StdioContract, CrashContract):
    """@agentclientprotocol/sdk 2.4.0."""

    @classmethod
    def find_driver(cls, root: Path) -> Driver:
        return ("node", str(root / "tests/peers/node/drive_client.mjs"))
