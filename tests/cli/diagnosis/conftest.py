"""A folder with what a person has: a journal, and ``trunkline`` on PATH."""

import stat
import sys
from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a journal of its own, and ``trunkline`` on PATH."""
    own = tmp_path / "bin"
    own.mkdir()
    program = own / "trunkline"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m trunkline "$@"\n')
    program.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{own}:/usr/bin:/bin")
    monkeypatch.setenv("TRUNKLINE_JOURNAL", f"sqlite:{tmp_path / 'journal.db'}")
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path
