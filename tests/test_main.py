"""``python -m trunkline``: closed streams, the quick way to ACP, and what takes the long way."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.child_programs import Pty, command

GREETING = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n'


def loaded_by_acp(folder: Path, **env: str) -> tuple[dict[str, object], set[str]]:
    """Greet ``trunkline acp demo`` in a folder; give its answer and the modules that it loaded."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "trunkline", "acp", "demo"],
        input=GREETING,
        capture_output=True,
        cwd=folder,
        env={**os.environ, **env},
        timeout=60,
        check=False,
    )
    lines = done.stderr.decode().splitlines()
    modules = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
    return json.loads(done.stdout.splitlines()[0]), modules


def test_an_editor_is_greeted_without_the_command_line(tmp_path: Path) -> None:
    answer, modules = loaded_by_acp(tmp_path)
    assert answer["id"] == 0
    assert "trunkline.cli.options" not in modules


def test_a_configuration_file_takes_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "trunkline.toml").write_text("")
    answer, modules = loaded_by_acp(tmp_path, TRUNKLINE_CONFIG=str(tmp_path / "trunkline.toml"))
    assert answer["id"] == 0
    assert "trunkline.cli.options" in modules


def test_a_person_who_runs_acp_by_hand_is_told_what_it_waits_for(tmp_path: Path) -> None:
    with Pty("acp", "demo", cwd=tmp_path) as terminal:
        terminal.expect("Waiting for an editor: this speaks JSON-RPC on stdin and stdout")
        terminal.interrupt()
        terminal.wait()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_the_parent_closed_is_not_taken_by_a_file(tmp_path: Path, closed: str) -> None:
    journal = f"sqlite:{tmp_path / 'journal.db'}"
    line = f'exec "$@" {closed}'
    words = [*command("exec", "demo", "/tools", "--journal", journal)]
    done = subprocess.run(["sh", "-c", line, "sh", *words], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    checked = subprocess.run(
        command("sessions", "list", "--format", "json", "--journal", journal),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert len(json.loads(checked.stdout)) == 1
