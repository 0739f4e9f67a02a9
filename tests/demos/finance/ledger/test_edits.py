"""Changes of a person: shown first, applied as shown, undone."""

import sqlite3
from datetime import date

import pytest
from tests.demos.finance.ledger.ledgers import add, facts, household, ledger_of

from trunkline.demos.finance.ledger.classification import classify
from trunkline.demos.finance.ledger.edits import (
    EditPlan,
    apply_edit,
    plan_budget,
    plan_categorize,
    plan_recategorize,
    plan_tag,
    uncategorized,
    undo_edit,
)
from trunkline.demos.finance.ledger.errors import LedgerError
from trunkline.demos.finance.ledger.results import month_of
from trunkline.demos.finance.ledger.selection import Filters

AT = "2026-11-18T10:00:00"


def state(db: sqlite3.Connection) -> list[object]:
    tables = ("transactions", "tags", "category_rules", "budgets")
    return [db.execute(f"SELECT * FROM {table}").fetchall() for table in tables]


def test_a_merchant_gets_another_category_and_so_does_what_comes_later() -> None:
    db = household()
    before = state(db)
    plan = plan_recategorize(db, "rewe", "household goods")
    count = db.execute("SELECT count(*) FROM entries WHERE merchant = 'Rewe'").fetchone()[0]
    assert plan.title == f"Put Rewe under Household goods ({count} transactions)"
    assert {(change.before, change.after) for change in plan.changes} == {("Groceries", "Household goods")}
    assert state(db) == before
    apply_edit(db, plan, AT)
    assert db.execute(
        "SELECT DISTINCT category, category_by FROM entries WHERE merchant = 'Rewe'"
    ).fetchall() == [("Household goods", "rule")]
    db.execute(
        "INSERT INTO transactions (account_id, posted, amount, currency, description, identity) "
        "VALUES ('demo-card', '2026-11-18', -100, 'EUR', 'REWE NEU 7', 'new')"
    )
    classify(db)
    assert db.execute("SELECT category FROM entries WHERE description = 'REWE NEU 7'").fetchall() == [
        ("Household goods",)
    ]


@pytest.mark.parametrize("number", range(4))
def test_undo_restores_everything(number: int) -> None:
    db = household()
    november = month_of(date(2026, 11, 1))
    plans = (
        lambda: plan_recategorize(db, "Rewe", "Gifts"),
        lambda: plan_categorize(db, {1: "Gifts", 5: "Coffee"}),
        lambda: plan_tag(db, "trip", november, Filters(category="Food")),
        lambda: plan_budget(db, "Groceries", 99900, "EUR"),
    )
    before = state(db)
    edit = apply_edit(db, plans[number](), AT)
    assert state(db) != before
    undone = undo_edit(db, AT)
    assert (undone.edit_id, undone.kept) == (edit, 0)
    assert state(db) == before
    with pytest.raises(LedgerError, match="there is no change to undo"):
        undo_edit(db, AT)
    with pytest.raises(LedgerError, match=f"the change {edit} was undone already"):
        undo_edit(db, AT, edit)
    with pytest.raises(LedgerError, match="there is no change 99 to undo"):
        undo_edit(db, AT, 99)


def test_undo_leaves_alone_what_was_changed_since() -> None:
    db = ledger_of([("2026-01-02", -100, "SOMEBODY"), ("2026-01-03", -100, "SOMEBODY")])
    first = apply_edit(db, plan_categorize(db, {1: "Gifts", 2: "Gifts"}), AT)
    apply_edit(db, plan_categorize(db, {2: "Books"}), AT)
    undone = undo_edit(db, AT, first)
    assert (undone.restored, undone.kept) == (1, 1)
    assert facts(db, "category, category_by") == [("Uncategorized", None), ("Books", "user")]


def test_a_rule_that_was_there_comes_back() -> None:
    db = ledger_of([("2026-01-02", -100, "SOMEBODY")])
    apply_edit(db, plan_recategorize(db, "Somebody", "Gifts"), AT)
    apply_edit(db, plan_recategorize(db, "Somebody", "Books"), AT)
    undo_edit(db, AT)
    assert facts(db, "category, category_by") == [("Gifts", "rule")]
    undo_edit(db, AT)
    assert facts(db, "category, category_by") == [("Uncategorized", None)]
    assert db.execute("SELECT * FROM category_rules").fetchall() == []


def test_a_plan_of_another_state_is_refused_and_changes_nothing() -> None:
    db = ledger_of([("2026-01-02", -100, "SOMEBODY"), ("2026-01-03", -100, "REWE")])
    plans = [
        plan_recategorize(db, "Somebody", "Gifts"),
        plan_categorize(db, {1: "Gifts"}),
        plan_tag(db, "trip", filters=Filters(merchant="Somebody")),
        plan_budget(db, "Food", 100, "EUR"),
    ]
    db.execute("UPDATE transactions SET category = 'Books', category_by = 'user' WHERE id = 1")
    db.execute("INSERT INTO tags VALUES (1, 'trip')")
    db.execute("INSERT INTO budgets VALUES ('Food', 5, 'EUR')")
    before = state(db)
    for plan in plans:
        with pytest.raises(LedgerError, match="changed since this was shown"):
            apply_edit(db, plan, AT)
    assert state(db) == before


def test_tags_are_given_by_filters_and_taken_away_by_undo() -> None:
    db = household()
    march = month_of(date(2026, 3, 1))
    plan = plan_tag(db, "#new york", march, Filters(currency="USD"))
    assert plan.title == "Tag as new york: 20 transactions"
    apply_edit(db, plan, AT)
    assert db.execute("SELECT count(*) FROM tags WHERE tag = 'new york'").fetchone() == (20,)
    assert plan_tag(db, "new york", march, Filters(currency="USD")).is_empty
    assert undo_edit(db, AT).restored == 20
    assert db.execute("SELECT count(*) FROM tags WHERE tag = 'new york'").fetchone() == (0,)


def test_undoing_a_tag_of_a_removed_transaction_restores_nothing() -> None:
    db = ledger_of([("2026-01-02", -100, "SOMEBODY")])
    apply_edit(db, plan_tag(db, "trip", filters=Filters(merchant="Somebody")), AT)
    db.execute("DELETE FROM transactions")
    assert undo_edit(db, AT).restored == 0


def test_a_budget_is_set_and_removed() -> None:
    db = ledger_of([])
    classify(db)
    plan = plan_budget(db, "groceries", 40000, "eur")
    assert plan.title == "Budget of 400.00 EUR a month for Groceries"
    apply_edit(db, plan, AT)
    assert db.execute("SELECT * FROM budgets").fetchall() == [("Groceries", 40000, "EUR")]
    apply_edit(db, plan_budget(db, "groceries", None, "EUR"), AT)
    assert db.execute("SELECT * FROM budgets").fetchall() == []
    undo_edit(db, AT)
    assert db.execute("SELECT * FROM budgets").fetchall() == [("Groceries", 40000, "EUR")]


def refuse(db: sqlite3.Connection) -> dict[str, object]:
    return {
        "there is no merchant 'Rewwe'; did you mean Rewe": lambda: plan_recategorize(db, "Rewwe", "Food"),
        "there is no category 'Fod'; did you mean Food": lambda: plan_recategorize(db, "Rewe", "Fod"),
        "there is no transaction 99": lambda: plan_categorize(db, {99: "Food"}),
        "a tag has 1 to 40 characters": lambda: plan_tag(db, " # "),
        "say which transactions are meant": lambda: plan_tag(db, "x"),
        "'EURO' is no currency": lambda: plan_budget(db, "Food", 1, "EURO"),
        "a budget is not negative": lambda: plan_budget(db, "Food", -1, "EUR"),
        "it is so already": lambda: apply_edit(db, plan_categorize(db, {1: "Groceries"}), AT),
    }


def test_what_cannot_be_done_is_said() -> None:
    db = ledger_of([("2026-01-02", -100, "REWE")])
    for said, work in refuse(db).items():
        assert callable(work)
        with pytest.raises(LedgerError, match=said):
            work()


def test_a_plan_says_what_each_transaction_is() -> None:
    db = ledger_of([("2026-01-02", -100, "SOMEBODY 12")])
    plan = plan_categorize(db, {1: "gifts"})
    change = plan.changes[0]
    assert (change.day, change.merchant, change.description) == (date(2026, 1, 2), "Somebody", "SOMEBODY 12")
    assert (change.amount, change.currency, change.before, change.after) == (
        -100,
        "EUR",
        "Uncategorized",
        "Gifts",
    )
    assert isinstance(plan, EditPlan)
    assert not plan.is_empty


def test_the_numbers_of_accounts_are_masked_in_what_is_shown() -> None:
    db = ledger_of([("2026-01-02", -100, "AN DE89370400440532013000 CLUBHAUS")])
    assert plan_categorize(db, {1: "gifts"}).changes[0].description == "AN ****3000 CLUBHAUS"
    assert uncategorized(db)[0].example == "AN ****3000 CLUBHAUS"


def test_unknown_merchants_are_listed_with_their_transactions() -> None:
    db = ledger_of(
        [("2026-01-02", -100, "SOMEBODY 1"), ("2026-01-03", -100, "OTHER"), ("2026-01-04", -100, "REWE")]
    )
    add(db, [("2026-01-05", -100, "SOMEBODY 2")])
    found = [(one.merchant, one.transactions) for one in uncategorized(db)]
    assert found == [("Somebody", 2), ("Other", 1)]
    assert len(uncategorized(db, limit=1)) == 1
