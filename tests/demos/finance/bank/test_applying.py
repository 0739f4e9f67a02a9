"""A bank and files about the same account: every booking once, and nothing is lost."""

from tests.demos.finance.bank.banks import held, new_bank, new_ledger, sync, transaction
from tests.demos.finance.statements.imports import AT, bring, rows
from tests.demos.finance.statements.ofx_files import ofx_of

from trunkline.demos.finance.statements.accounts import list_accounts
from trunkline.demos.finance.statements.undo import list_imports, undo_import

FILE = ofx_of([("20260301", "-4.50", "A", "COFFEE 1234"), ("20260302", "-9.00", "B", "LUNCH")])


def test_a_bank_that_is_linked_after_an_import_shares_the_account_and_brings_no_duplicates() -> None:
    ledger = new_ledger()
    bring(ledger, FILE)
    with new_bank() as bank:  # Its account ends with the same four digits.
        bank.put(transaction(1, 4.5, day=2, name="Coffee Shop"))
        bank.put(transaction(2, 7.0, day=5, name="New"))
        result = sync(ledger, bank)
    assert (result.added, result.known) == (1, 1)
    assert rows(ledger) == [
        ("2026-03-01", -450, "COFFEE 1234"),
        ("2026-03-02", -900, "LUNCH"),
        ("2026-03-05", -700, "New"),
    ]
    with ledger.reading() as db:
        assert len(list_accounts(db)) == 1


def test_what_the_bank_takes_back_stays_while_a_file_shows_it() -> None:
    ledger = new_ledger()
    bring(ledger, FILE)
    with new_bank() as bank:
        bank.put(transaction(1, 4.5, day=1, name="Coffee Shop"))
        sync(ledger, bank)
        bank.put(transaction(1, 4.5, day=1, name="Coffee Shop Berlin"))
        sync(ledger, bank)
        bank.remove("t1")
        assert sync(ledger, bank).removed == 0
    assert len(rows(ledger)) == 2


def test_a_file_after_a_sync_names_possible_duplicates_and_an_undo_leaves_the_banks_own() -> None:
    ledger = new_ledger()
    with new_bank() as bank:
        bank.put(transaction(1, 4.5, day=1, name="Coffee Shop"))
        sync(ledger, bank)
        with ledger.writing() as db:
            db.execute("UPDATE accounts SET number = 'DE89370400440532013000'")
        result = bring(ledger, FILE)
        assert (result.added, result.possible_duplicates) == (1, 1)
        again = bring(ledger, FILE)
        assert (again.known, again.import_id) == (2, None), "nothing new is no import"
        with ledger.writing() as db:
            undone = undo_import(db, at=AT)
        assert undone.removed == 1
        assert list(held(ledger)) == ["t1"]
        # Now only the bank has it, so the bank can take it back.
        bank.remove("t1")
        assert sync(ledger, bank).removed == 1
        assert rows(ledger) == []


def test_a_sync_with_news_is_listed_among_the_imports_and_one_without_is_not() -> None:
    ledger = new_ledger()
    with new_bank() as bank:
        bank.put(transaction(1))
        sync(ledger, bank)
        sync(ledger, bank)
    with ledger.reading() as db:
        assert [(one.source, one.file, one.added) for one in list_imports(db)] == [("bank", "Test Bank", 1)]


def test_kinds_of_accounts_and_currencies_are_those_of_the_bank() -> None:
    ledger = new_ledger()
    with new_bank() as bank:
        bank.add_account(
            "card", name="Gold", mask="1111", type="credit", subtype="credit card", currency="USD"
        )
        bank.add_account("save", name="Nest", mask="2222", subtype="savings")
        bank.put(transaction(1, account_id="card", iso_currency_code=None))
        bank.put(transaction(2, account_id="save"))
        bank.put(transaction(3, account_id="closed"))
        sync(ledger, bank)
    with ledger.reading() as db:
        found = [(one.name, one.kind, one.currency) for one in list_accounts(db)]
        assert found == [
            ("Gold", "card", "USD"),
            ("Nest", "savings", "EUR"),
            ("Test Bank", "checking", "EUR"),
        ]
        currencies = db.execute("SELECT currency FROM transactions ORDER BY identity").fetchall()
        assert currencies == [("USD",), ("EUR",), ("EUR",)]
