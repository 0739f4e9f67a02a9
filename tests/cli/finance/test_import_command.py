"""``trunkline finance import`` as a person runs it."""

import os
import re
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.child_programs import Pty, command, run
from tests.demos.finance.statements.bank_files import SPARKASSE, US_CARD
from tests.demos.finance.statements.ofx_files import BANK_1


@pytest.fixture
def ledger(tmp_path: Path) -> dict[str, str]:
    """Give the environment of a ledger of one's own."""
    (tmp_path / "bank.csv").write_bytes(SPARKASSE.data)
    (tmp_path / "card.csv").write_bytes(US_CARD.data)
    (tmp_path / "bank.ofx").write_text(BANK_1)
    return {"DATABASE_URL": f"sqlite:///{tmp_path / 'ledger.db'}", "TRUNKLINE_TODAY": "2026-11-18"}


def test_a_file_is_imported_once_and_known_from_then_on(tmp_path: Path, ledger: dict[str, str]) -> None:
    first = run("finance", "import", "bank.csv", "bank.ofx", "--yes", cwd=tmp_path, **ledger)
    assert (first.code, first.err) == (0, "")
    assert first.out.splitlines()[:4] == [
        "bank.csv (csv, 2026-02-01 to 2026-02-03): 3 new, 0 known",
        "  account: Account 3000 (EUR, checking, a new one)",
        "  new in sum: 676.55 EUR",
        "  import 1: 3 added; undo it with: trunkline finance undo 1",
    ]
    again = run("finance", "import", "bank.csv", "--yes", cwd=tmp_path, **ledger)
    assert "0 new, 3 known" in again.out
    assert "nothing new: the ledger has every row of the file" in again.out
    listed = run("finance", "imports", cwd=tmp_path, **ledger).out
    assert len(listed.splitlines()) == 2, "what brought nothing is no import"


def test_a_dry_run_over_overlapping_files_counts_right_and_changes_nothing(
    tmp_path: Path, ledger: dict[str, str]
) -> None:
    result = run("finance", "import", "bank.csv", "bank.csv", "--dry-run", cwd=tmp_path, **ledger)
    assert result.code == 0
    assert [line.rpartition(": ")[2] for line in result.out.splitlines() if line.startswith("bank")] == [
        "3 new, 0 known",
        "0 new, 3 known",
    ]
    assert "Nothing was changed" in result.err
    assert "no imports yet" in run("finance", "imports", cwd=tmp_path, **ledger).err


def test_nothing_is_imported_into_a_ledger_that_ends_with_the_command(
    tmp_path: Path, ledger: dict[str, str]
) -> None:
    memory = {**ledger, "DATABASE_URL": "sqlite:///:memory:"}
    refused = run("finance", "import", "bank.csv", "--yes", cwd=tmp_path, **memory)
    assert (refused.code, refused.out) == (2, "")
    assert "a ledger in memory is gone when this command ends: name a file" in refused.err
    assert "3 new" in run("finance", "import", "bank.csv", "--dry-run", cwd=tmp_path, **memory).out


def test_without_a_terminal_nobody_is_asked_and_nothing_is_imported(
    tmp_path: Path, ledger: dict[str, str]
) -> None:
    result = run("finance", "import", "bank.csv", cwd=tmp_path, **ledger)
    assert result.code == 2
    assert "say --yes to import" in result.err


def test_what_a_file_does_not_tell_can_be_said_on_the_command_line(
    tmp_path: Path, ledger: dict[str, str]
) -> None:
    asked = run("finance", "import", "card.csv", "--yes", cwd=tmp_path, **ledger)
    assert asked.code == 2
    assert "--answer currency=..., --account NAME" in " ".join(asked.err.split())
    words = ("--answer", "currency=USD", "--account", "Gold card")
    done = run("finance", "import", "card.csv", "--yes", *words, cwd=tmp_path, **ledger)
    assert done.code == 0
    assert "account: Gold card (USD, card, a new one)" in done.out
    # The next time nothing has to be said.
    assert "0 new, 3 known" in run("finance", "import", "card.csv", "--yes", cwd=tmp_path, **ledger).out


def test_rows_that_cannot_be_read_are_named_and_left_out_only_when_that_is_said(
    tmp_path: Path, ledger: dict[str, str]
) -> None:
    (tmp_path / "bad.csv").write_text(
        "Date,Payee,Amount,Currency\n2026-01-01,A,-1.00,EUR\n2026-01-02,B,x,EUR\n"
    )
    words = ("finance", "import", "bad.csv", "--account", "Main")
    refused = run(*words, "--yes", cwd=tmp_path, **ledger)
    assert refused.code == 1
    assert "line 3: 'x' is no amount" in refused.err
    assert "cannot be read: line 3" in run(*words, "--dry-run", cwd=tmp_path, **ledger).out
    done = run(*words, "--yes", "--leave-out-unreadable", cwd=tmp_path, **ledger)
    assert (done.code, "1 added" in done.out) == (0, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("missing.csv",), "there is no file missing.csv"),
        (("bank.csv", "--dry-run", "--yes"), "leave --yes out"),
        (("bank.csv", "--answer", "currency"), "is no FIELD=VALUE"),
        (("bank.csv", "--answer", "colour=red"), "no file asks for 'colour'"),
        (("bank.csv", "--yes", "--account", "X", "--answer", "account_kind=loan"), "account_kind is 'loan'"),
        (("ledger.pdf", "--yes"), "it is a PDF"),
    ],
)
def test_wrong_usage_is_a_sentence(
    tmp_path: Path, ledger: dict[str, str], words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "ledger.pdf").write_bytes(b"%PDF-1.4")
    result = run("finance", "import", *words, cwd=tmp_path, **ledger)
    assert result.code in (1, 2)
    assert said in result.err
    assert "Traceback" not in result.err


def test_a_person_at_a_terminal_answers_the_form_and_agrees(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"DATABASE_URL=sqlite:///{tmp_path / 'ledger.db'}\n")
    bad = "when,what,how much\n01/02/2026,Shop,20.00\n03/04/2026,Other,30.00\nx,Broken,1.00\n"
    (tmp_path / "mine.csv").write_text(bad)
    with Pty("finance", "import", "mine.csv", cwd=tmp_path) as terminal:
        terminal.expect("| 01/02/2026 | Shop | 20.00 |")
        terminal.expect("How are dates written?")
        terminal.type("mdy")
        terminal.expect("Which amounts are money that went out?")
        terminal.type("positive_is_out")
        terminal.expect("Currency (three letters)")
        terminal.type("eur")
        terminal.expect("Account: a name for a new one")
        terminal.type("Mine")
        terminal.expect("What is it, if it is a new account?")
        terminal.type("savings")
        terminal.expect("Import the file without these rows?")
        terminal.type("y")
        terminal.expect("Add 2 to the ledger?")
        terminal.type("y")
        terminal.expect("2 added")
        assert terminal.wait() == 0
    with Pty("finance", "import", "mine.csv", cwd=tmp_path) as terminal:
        terminal.expect("0 new, 2 known, 1 unreadable")
        terminal.expect("Import the file without these rows?")
        terminal.type("n")
        terminal.expect("nothing was imported")
        assert terminal.wait() == 1


def test_a_file_that_another_process_imports_meanwhile_is_not_imported_twice(
    tmp_path: Path, ledger: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ledger.items():
        monkeypatch.setenv(name, value)
    with Pty("finance", "import", "bank.csv", cwd=tmp_path) as terminal:
        terminal.expect("3 new, 0 known")
        terminal.expect("Add 3 to the ledger?")
        assert "3 added" in run("finance", "import", "bank.csv", "--yes", cwd=tmp_path).out
        terminal.type("y")
        terminal.expect("nothing new: the ledger has every row of the file")
        assert terminal.wait() == 0
    assert "3 transactions" in run("finance", "accounts", cwd=tmp_path).out


@pytest.mark.slow
def test_processes_that_import_overlapping_files_at_once_bring_every_row_once(
    tmp_path: Path, ledger: dict[str, str]
) -> None:
    rows = [f"2026-03-{day:02},Shop {day},-{day}.00,EUR" for day in range(1, 29)]
    files: list[str] = []
    for number, part in enumerate((rows[:20], rows[8:], rows[4:24], rows)):
        files.append(f"part{number}.csv")
        (tmp_path / files[-1]).write_text("\n".join(["Date,Payee,Amount,Currency", *part, ""]))
    words = [command("finance", "import", name, "--account", "Main", "--yes") for name in files]
    pipe = subprocess.PIPE
    started = [
        subprocess.Popen(one, stdout=pipe, stderr=pipe, cwd=tmp_path, env={**os.environ, **ledger})
        for one in words
    ]
    ended = [(one.communicate(timeout=60), one.returncode) for one in started]
    assert [(code, err) for (_, err), code in ended] == [(0, b"")] * len(files)
    added = [int(found[1]) for (out, _), _ in ended if (found := re.search(r"(\d+) added", out.decode()))]
    assert sum(added) == len(rows)
    assert f"{len(rows)} transactions" in run("finance", "accounts", cwd=tmp_path, **ledger).out


def test_a_ledger_that_another_program_keeps_locked_is_named_and_nothing_is_changed(
    tmp_path: Path, ledger: dict[str, str]
) -> None:
    assert run("finance", "accounts", cwd=tmp_path, **ledger).code == 0
    with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        result = run("finance", "import", "bank.csv", "--yes", cwd=tmp_path, **ledger)
    assert result.code == 1
    assert "another program writes to it for too long; try again" in " ".join(result.err.split())
    assert "no imports yet" in run("finance", "imports", cwd=tmp_path, **ledger).err


def test_a_folder_that_is_not_there_is_refused_and_not_made(tmp_path: Path) -> None:
    missing = tmp_path / "nonexist"
    result = run("finance", "accounts", cwd=tmp_path, DATABASE_URL=f"sqlite:///{missing / 'x.db'}")
    assert result.code == 1
    assert f"there is no folder {missing}" in " ".join(result.err.split())
    assert not missing.exists()
