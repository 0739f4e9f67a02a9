"""Sessions and records in SQL; what all engines promise is in test_interface."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from tests.journal.interleavings import Step, run_steps, steps

from trunkline.journal.sqlite import SqliteJournal


@pytest.mark.timeout(120)
@settings(max_examples=40)
@given(steps)
def test_any_interleaving_of_processes_on_a_file_is_one_log(steps: list[Step]) -> None:
    now = [0.0]
    with tempfile.TemporaryDirectory() as folder:
        first, second = (SqliteJournal(Path(folder, "j.db"), lease_clock=lambda: now[0]) for _ in range(2))
        asyncio.run(run_steps(steps, (first, second), now))
