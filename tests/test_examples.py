"""Examples: each runs as its page says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from trunkline.frontends.acp.encoder import LOSSES


def run(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "trunkline", *args],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_hello_asks_and_writes(root: Path, tmp_path: Path) -> None:
    done = run("exec", f"{root}/examples/hello.py:hello", "good morning", "--approve", "all", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "You said good morning.\nI wrote it down.\n"
    assert (tmp_path / "hello.txt").read_text() == "good morning"


def test_hello_greets_an_editor(root: Path, tmp_path: Path) -> None:
    asked = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
    done = subprocess.run(
        [sys.executable, "-m", "trunkline", "acp", f"{root}/examples/hello.py:hello"],
        cwd=tmp_path,
        input=json.dumps(asked) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answer = json.loads(done.stdout)
    assert answer["result"]["agentInfo"] == {"name": "hello", "title": "Hello", "version": "0"}


@pytest.mark.parametrize("page", ["README.md", "docs/editors.md"])
def test_every_editor_block_names_the_example(root: Path, page: str) -> None:
    text = (root / page).read_text()
    assert '"type": "custom"' in text
    assert "examples/hello.py:hello" in text


def test_the_loss_table_of_the_page_is_the_encoders(root: Path) -> None:
    page = (root / "docs/acp.md").read_text()
    for kind, where in LOSSES.items():
        assert f"| `{kind.__name__}` | {where} |" in page
    assert page.count("\n| `") == len(LOSSES)
