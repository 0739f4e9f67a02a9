"""The accounts, and the names that the ledger knows."""

from datetime import date

from tests.demos.finance.ledger.ledgers import empty_ledger, household, ledger_of

from trunkline.demos.finance.ledger.analysis.accounts import accounts, names
from trunkline.demos.finance.ledger.results import Money, month_of
from trunkline.demos.finance.tools.documents import accounts_document


def test_accounts_have_a_masked_number_and_what_the_ledger_saw_of_them() -> None:
    db = ledger_of([("2026-01-02", -500, "REWE"), ("2026-01-05", 900, "GEHALT")])
    found = {line.id: line for line in accounts(db).accounts}
    assert found["main"].number == "****2051"
    assert (found["main"].transactions, found["main"].balance) == (2, 400)
    assert (found["main"].first, found["main"].last) == (date(2026, 1, 2), date(2026, 1, 5))
    assert (found["usd"].transactions, found["usd"].first, found["usd"].balance) == (0, None, 0)
    assert not accounts(db).made_up


def test_made_up_data_is_said_to_be() -> None:
    assert accounts(household()).made_up
    assert not accounts(empty_ledger()).made_up


def test_names_are_those_of_the_ledger() -> None:
    db = household()
    db.execute("INSERT INTO tags VALUES (1, 'trip')")
    found = names(db)
    assert {"Groceries", "Uncategorized"} <= set(found.categories)
    assert "Food" in found.groups
    assert found.merchants[0] == "Einstein Kaffee"
    assert ("demo-card", "Travel card") in found.accounts
    assert (found.tags, found.currencies) == (("trip",), ("EUR", "USD"))
    assert found.first is not None
    assert names(empty_ledger()).first is None


def test_the_sums_of_an_account_with_two_currencies_are_both_there() -> None:
    db = ledger_of(
        [
            ("2026-01-02", -500, "REWE"),
            ("2026-01-05", 900, "A", "main", "GBP"),
            ("2026-01-06", -100, "B", "main", "GBP"),
        ]
    )
    (main,) = (line for line in accounts(db).accounts if line.id == "main")
    assert (main.balance, main.others, main.transactions) == (-500, (Money("GBP", 800),), 3)
    assert accounts_document(accounts(db), month_of(date(2026, 1, 1)), "")["accounts"][1]["balance"] == (
        "-5.00 EUR and 8.00 GBP"
    )
