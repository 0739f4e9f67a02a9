"""``trunkline finance import`` as a person runs it."""

from pathlib import Path

import pytest

from tests.cli.child_programs import Pty, run
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
        "  account: Account 3000 (EUR, a new one)",
        "  new in sum: 676.55 EUR",
        "  import 1: 3 added; undo it with: trunkline finance undo 1",
    ]
    again = run("finance", "import", "bank.csv", "--yes", cwd=tmp_path, **ledger)
    assert "0 new, 3 known" in again.out
    assert "nothing new" in again.out


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
    assert "account: Gold card (USD, a new one)" in done.out
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
