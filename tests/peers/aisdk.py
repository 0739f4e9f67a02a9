"""The AI SDK in node, at three versions: it reads streams, and says what it makes of them."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trunkline.protocols.aisdk.wire import Chunk, JsonObject

SECONDS = 60.0
VERSIONS = (5, 6, 7)


def installed(root: Path, version: int) -> str:
    """The folder where ``make setup`` has installed a version."""
    command = [root / "scripts/peer-node", f"aisdk-{version}"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout.strip()


class AiSdk:
    """A node process with the AI SDK at each version."""

    def __init__(self, root: Path) -> None:
        self.sends: list[bool] = []
        """Whether the page sent the answers by itself, after each response of the last message but one."""
        folders = [installed(root, version) for version in VERSIONS]
        self._process = subprocess.Popen(
            ["node", str(root / "tests/peers/node/aisdk_validate.mjs"), *folders],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def close(self) -> None:
        """End node."""
        self._process.communicate(timeout=SECONDS)

    def read(
        self,
        version: int,
        responses: Sequence[Sequence[Chunk]],
        answers: JsonObject | None = None,
        outputs: JsonObject | None = None,
    ) -> tuple[list[str], Any]:
        """Read the responses that make one message; gives what is wrong with them, and the message."""
        order = {
            "folder": VERSIONS.index(version),
            "responses": responses,
            "answers": answers or {},
            "outputs": outputs or {},
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        report = json.loads(self._process.stdout.readline())
        self.sends = report["sends"]
        return report["problems"], report.get("message")
