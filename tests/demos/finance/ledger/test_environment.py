"""A file .env of the ledger never overrides the process, and its faults are the ledger's."""

from pathlib import Path

import pytest

from trunkline.demos.finance.ledger.environment import environment
from trunkline.demos.finance.ledger.errors import LedgerError


def test_the_file_never_overrides_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("FIRST=file\nSECOND=file\n")
    monkeypatch.setenv("FIRST", "process")
    monkeypatch.delenv("SECOND", raising=False)
    monkeypatch.chdir(tmp_path)
    assert (environment()["FIRST"], environment()["SECOND"]) == ("process", "file")
    assert environment(tmp_path, {"SECOND": ""}) == {"FIRST": "file", "SECOND": ""}


def test_a_missing_file_is_no_error(tmp_path: Path) -> None:
    assert environment(tmp_path, {"A": "b"}) == {"A": "b"}


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"A=\xff")
    with pytest.raises(LedgerError, match="not text in UTF-8"):
        environment(tmp_path, {})
