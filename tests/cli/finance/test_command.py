"""``trunkline finance``: undo, lists and banks."""

from pathlib import Path

import pytest

from tests.cli.child_programs import run
from tests.demos.finance.statements.bank_files import SPARKASSE


@pytest.fixture
def ledger(tmp_path: Path) -> dict[str, str]:
    """Give the environment of a ledger of one's own."""
    (tmp_path / "bank.csv").write_bytes(SPARKASSE.data)
    return {"DATABASE_URL": f"sqlite:///{tmp_path / 'ledger.db'}", "TRUNKLINE_TODAY": "2026-11-18"}


def test_an_import_is_listed_and_undone(tmp_path: Path, ledger: dict[str, str]) -> None:
    run("finance", "import", "bank.csv", "--yes", cwd=tmp_path, **ledger)
    assert "…3000" in run("finance", "accounts", cwd=tmp_path, **ledger).out
    assert "3 of 3 left" in run("finance", "imports", cwd=tmp_path, **ledger).out
    undone = run("finance", "undo", cwd=tmp_path, **ledger)
    assert undone.out.splitlines() == [
        "Import 1 (bank.csv) is undone: 3 removed.",
        "Account Account 3000 had nothing else, and is gone.",
    ]
    assert "undone" in run("finance", "imports", cwd=tmp_path, **ledger).out
    assert "no import to undo" in run("finance", "undo", cwd=tmp_path, **ledger).err
    assert "no accounts yet" in run("finance", "accounts", cwd=tmp_path, **ledger).err


def test_the_fake_bank_is_linked_synced_and_unlinked(tmp_path: Path, ledger: dict[str, str]) -> None:
    assert "no bank is linked" in run("finance", "sync", cwd=tmp_path, **ledger).err
    assert run("finance", "link", "--fake", cwd=tmp_path, **ledger).code == 0
    assert "fake  Fake Bank" in run("finance", "link", cwd=tmp_path, **ledger).out
    first = run("finance", "sync", cwd=tmp_path, **ledger)
    assert first.code == 0
    assert first.out.startswith("Fake Bank: ")
    assert "0 new, 0 changed, 0 removed" in run("finance", "sync", cwd=tmp_path, **ledger).out
    assert "(made up)" in run("finance", "accounts", cwd=tmp_path, **ledger).out
    assert run("finance", "unlink", "fake", cwd=tmp_path, **ledger).code == 0
    assert "no bank 'fake' is linked" in run("finance", "unlink", "fake", cwd=tmp_path, **ledger).err


def test_a_bank_of_plaids_is_linked_by_a_token_that_is_never_shown(
    tmp_path: Path, ledger: dict[str, str]
) -> None:
    words = ("finance", "link", "--item", "it1", "--institution", "First Bank")
    assert "set PLAID_ACCESS_TOKEN" in run(*words, cwd=tmp_path, **ledger).err
    linked = run(*words, cwd=tmp_path, PLAID_ACCESS_TOKEN="access-secret", **ledger)
    assert linked.code == 0
    failed = run("finance", "sync", cwd=tmp_path, **ledger)
    assert (failed.code, "PLAID_CLIENT_ID and PLAID_SECRET are not set" in failed.err) == (1, True)
    assert "access-secret" not in linked.err + failed.err + run("finance", "link", cwd=tmp_path, **ledger).out


@pytest.mark.parametrize("words", [("--fake", "--item", "x"), ("--institution", "x")])
def test_options_that_cannot_apply_are_refused(
    tmp_path: Path, ledger: dict[str, str], words: tuple[str, ...]
) -> None:
    assert run("finance", "link", *words, cwd=tmp_path, **ledger).code == 2


def test_another_database_than_sqlite_is_refused(tmp_path: Path) -> None:
    result = run("finance", "accounts", cwd=tmp_path, DATABASE_URL="postgres://me:secret@host/db")
    assert result.code == 1
    assert "sqlite:///PATH" in result.err
    assert "secret" not in result.err
