"""Undoing an import: what goes, what stays, and what is said."""

from typing import Literal

import pytest
from tests.demos.finance.statements.imports import AT, bring, new_ledger, rows
from tests.demos.finance.statements.test_importing import csv_of

from trunkline.demos.finance.ledger.database import Ledger
from trunkline.demos.finance.statements.accounts import list_accounts
from trunkline.demos.finance.statements.importing import begin_import
from trunkline.demos.finance.statements.statement import StatementError
from trunkline.demos.finance.statements.undo import Undone, list_imports, undo_import

JANUARY = csv_of(("2026-01-30", "Rent", "-800.00"), ("2026-01-31", "Coffee", "-3.00"))
FEBRUARY = csv_of(("2026-01-31", "Coffee", "-3.00"), ("2026-02-01", "Tea", "-2.00"))


def undo(ledger: Ledger, import_id: int | None = None, edited: Literal["keep", "remove"] = "keep") -> Undone:
    with ledger.writing() as db:
        return undo_import(db, import_id, at=AT, edited=edited)


def test_an_undo_removes_the_transactions_the_account_and_what_depends_on_them() -> None:
    ledger = new_ledger()
    bring(ledger, JANUARY, account="Main")
    result = undo(ledger)
    assert (result.removed, result.also_in_others, result.edited) == (2, 0, ())
    assert result.accounts_removed == ("Main",)
    assert rows(ledger) == []
    with ledger.reading() as db:
        assert db.execute("SELECT count(*) FROM sightings").fetchone() == (0,)
        assert [account.name for account in list_accounts(db)] == []
        assert list_imports(db)[0].undone_at is not None
    # And the file can be imported again.
    assert bring(ledger, JANUARY, account="Main").added == 2


def test_what_another_import_shows_too_stays() -> None:
    ledger = new_ledger()
    bring(ledger, JANUARY, account="Main")
    bring(ledger, FEBRUARY)
    result = undo(ledger, 1)
    assert (result.removed, result.also_in_others) == (1, 1)
    assert rows(ledger) == [("2026-01-31", -300, "Coffee"), ("2026-02-01", -200, "Tea")]
    assert undo(ledger).removed == 2
    assert rows(ledger) == []


def test_undoing_both_in_any_order_leaves_nothing() -> None:
    ledger = new_ledger()
    bring(ledger, JANUARY, account="Main")
    bring(ledger, FEBRUARY)
    assert undo(ledger).removed == 1
    assert undo(ledger).removed == 2
    with pytest.raises(StatementError, match="no import to undo"):
        undo(ledger)


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE transactions SET category = 'Dining', category_by = 'user' WHERE description = 'Coffee'",
        "UPDATE transactions SET note = 'with Ann' WHERE description = 'Coffee'",
        "INSERT INTO tags SELECT id, 'holiday' FROM transactions WHERE description = 'Coffee'",
    ],
    ids=["category", "note", "tag"],
)
def test_what_a_person_changed_since_is_kept_and_named_unless_it_is_to_go(edit: str) -> None:
    ledger = new_ledger()
    bring(ledger, JANUARY, account="Main")
    with ledger.writing() as db:
        db.execute(edit)
    result = undo(ledger)
    assert (result.removed, result.edited, result.edited_kept) == (1, ("2026-01-31 Coffee",), True)
    assert rows(ledger) == [("2026-01-31", -300, "Coffee")]
    # Imported again, the one that was kept is known.
    again = bring(ledger, JANUARY, account="Main")
    assert (again.added, again.known) == (1, 1)
    assert undo(ledger, edited="remove").removed == 1


def test_edited_transactions_go_when_that_is_asked() -> None:
    ledger = new_ledger()
    bring(ledger, JANUARY, account="Main")
    with ledger.writing() as db:
        db.execute("UPDATE transactions SET note = 'x'")
    assert undo(ledger, edited="remove").removed == 2
    assert rows(ledger) == []


def test_wrong_undos_are_refused_with_a_sentence() -> None:
    ledger = new_ledger()
    bring(ledger, JANUARY, account="Main")
    with pytest.raises(StatementError, match="no import 7"):
        undo(ledger, 7)
    undo(ledger, 1)
    with pytest.raises(StatementError, match="was undone at"):
        undo(ledger, 1)
    with ledger.writing() as db:
        bank = begin_import(db, AT, "bank", "First Bank", "")
    with pytest.raises(StatementError, match="is a bank sync"):
        undo(ledger, bank)
