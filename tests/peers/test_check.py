"""``trunkline check`` against agents and servers of other people: it finds their known faults."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.peers.test_agui_source import peer
from tests.peers.test_python_sdk import driver_in

pytestmark = pytest.mark.slow


def check(*words: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and what was found by requirement."""
    command = [sys.executable, "-m", "trunkline", "check", *words, "--json"]
    done = subprocess.run(command, capture_output=True, timeout=150, env={**os.environ})
    assert done.stdout, done.stderr
    return done.returncode, {row["id"]: row for row in json.loads(done.stdout)["requirements"]}


def failed(rows: dict[str, dict[str, Any]]) -> set[str]:
    return {name for name, row in rows.items() if row["outcome"] == "fail"}


def test_the_known_faults_of_an_echo_agent_on_the_sdk_are_found(root: Path) -> None:
    python, _ = driver_in("acp-sdk-0.12", root)
    target = f"acp:{python} {root / 'bench/programs/sdk_echo.py'}"
    code, rows = check(target, "--prompt", "3", "--long-prompt", "3000", "--timeout", "10s")
    assert code == 1
    known = {
        "ACP-INIT-003",  # It echoes any version.
        "ACP-INIT-004",
        "ACP-INVALIDREQ-001",  # A line that is an array or a number ends the process.
        "ACP-META-001",  # What is in _meta takes the place of parameters.
        "ACP-META-002",
        "ACP-PARSE-002",
        "ACP-SESSION-002",
        "ACP-SESSION-003",
        "ACP-SESSION-004",
    }
    assert known <= failed(rows)
    assert "evil" in "".join(rows["ACP-META-002"]["transcript"])
    assert rows["ACP-PROMPT-001"]["outcome"] == rows["ACP-TRANSPORT-001"]["outcome"] == "pass"


def test_an_argument_that_ag_ui_langgraph_loses_is_found(root: Path) -> None:
    prompts = ("--prompt", "hello", "--tool-prompt", "tool", "--permission-prompt", "sell")
    with peer("serve_langgraph", root) as url:
        code, rows = check(f"{url}/", *prompts)
    assert code == 1
    assert rows["AGUI-TOOL-003"]["outcome"] == "fail"
    assert 'streamed with no arguments, but has {"city": "Paris"}' in rows["AGUI-TOOL-003"]["note"]
    # The result has one id in the stream, and another in the snapshot.
    assert "AGUI-MESSAGES-002" in failed(rows)
    assert {"AGUI-RUN-001", "AGUI-RUN-002", "AGUI-TEXT-001"} & failed(rows) == set()
