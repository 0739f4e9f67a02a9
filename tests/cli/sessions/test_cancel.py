"""``trunkline sessions cancel``."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.child_programs import command, run

pytestmark = pytest.mark.slow


def test_a_turn_that_runs_in_another_process_is_cancelled_there(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'journal.db'}"
    words = command("exec", "demo", "/wait-for-cancel", "--format", "events", "--journal", url)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as program:
        assert program.stdout is not None
        while b"tool_update" not in (line := program.stdout.readline()):
            assert line
        listed = run("sessions", "list", "--format", "json", "--journal", url).json
        done = run("sessions", "cancel", listed[0]["session_id"], "--journal", url)
        assert done.code == 0
        assert done.err.startswith("cancelled the turn of sess_")
        assert program.wait(60) == 1
