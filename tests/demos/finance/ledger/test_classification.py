"""Merchants, categories, kinds and pairs: once and for all, in any order, and what a person chose stays."""

import sqlite3
from datetime import date
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.demos.finance.ledger.ledgers import Line, add, empty_ledger, facts, household, ledger_of

from trunkline.demos.finance.ledger.classification import classify
from trunkline.demos.finance.ledger.demo import seed_demo

ALL = "account_id, posted, amount, description, merchant, category, category_by, kind"


def test_a_second_run_changes_nothing() -> None:
    db = household()
    before = facts(db, f"{ALL}, pair_id")
    run = classify(db)
    assert (run.changed, run.transactions) == (0, len(before))
    assert run.transfers > 40
    assert run.refunds == 2
    assert 0 < run.uncategorized < 40
    assert facts(db, f"{ALL}, pair_id") == before


def by_content(db: sqlite3.Connection) -> list[tuple[object, ...]]:
    pair = "(SELECT o.account_id || o.posted || o.amount FROM transactions AS o WHERE o.id = t.pair_id)"
    return sorted(db.execute(f"SELECT {ALL}, {pair} FROM transactions AS t").fetchall(), key=repr)


LINES = st.lists(
    st.builds(
        Line,
        st.dates(date(2026, 1, 1), date(2026, 1, 20)).map(str),
        st.sampled_from((-5000, 5000, -1200, 1200)),
        st.sampled_from(("Umbuchung", "Transfer", "ZALANDO", "REWE 12", "Anna", "Kreditkarte", "Eingang")),
        st.sampled_from(("main", "save", "card", "usd")),
        st.just("EUR"),
    ),
    max_size=14,
    unique=True,
)


@given(LINES, st.randoms(use_true_random=False), st.integers(0, 14))
def test_the_order_and_the_number_of_imports_do_not_matter(
    lines: list[Line], random: Random, cut: int
) -> None:
    """Each line is its own identity here, as in a statement."""

    def fill(parts: list[list[Line]]) -> sqlite3.Connection:
        db = ledger_of([])
        for part in parts:
            for line in part:
                db.execute(
                    "INSERT INTO transactions (account_id, posted, amount, currency, description, identity) "
                    "VALUES (?, ?, ?, ?, ?, ?)",
                    (line.account, line.day, line.amount, line.currency, line.description, repr(line)),
                )
            classify(db)
        return db

    shuffled = random.sample(lines, len(lines))
    assert by_content(fill([shuffled[:cut], shuffled[cut:]])) == by_content(fill([lines]))


def test_own_rules_come_before_the_import_and_that_before_the_merchant() -> None:
    db = ledger_of(
        [("2026-01-02", -100, "REWE 1"), ("2026-01-03", -100, "REWE 2"), ("2026-01-04", -100, "LIDL")]
    )
    db.execute("UPDATE transactions SET category = 'Gifts', category_by = 'import' WHERE id IN (2, 3)")
    classify(db)
    assert facts(db, "category, category_by") == [
        ("Groceries", "merchant"),
        ("Gifts", "import"),
        ("Gifts", "import"),
    ]
    db.execute("INSERT INTO category_rules VALUES ('=Rewe', 'Household goods', '2026-01-05')")
    classify(db)
    assert facts(db, "category, category_by") == [
        ("Household goods", "rule"),
        ("Household goods", "rule"),
        ("Gifts", "import"),
    ]


def test_what_a_person_chose_stays() -> None:
    db = ledger_of([("2026-01-02", -100, "REWE 1")])
    db.execute("UPDATE transactions SET category = 'Gifts', category_by = 'user'")
    db.execute("INSERT INTO category_rules VALUES ('=Rewe', 'Household goods', '2026-01-05')")
    classify(db)
    assert facts(db, "category, category_by") == [("Gifts", "user")]


@pytest.mark.parametrize(("category", "kind"), [("Transfer", "transfer"), ("Gifts", "spend")])
def test_a_persons_category_decides_whether_it_is_a_transfer(category: str, kind: str) -> None:
    db = ledger_of([("2026-01-02", -100, "Umbuchung", "main"), ("2026-01-02", 100, "Eingang", "save")])
    db.execute("UPDATE transactions SET category = ?, category_by = 'user' WHERE id = 1", (category,))
    classify(db)
    assert facts(db, "kind")[0] == (kind,)


def test_made_up_money_steps_aside_for_ones_own_and_never_pairs_with_it() -> None:
    db = empty_ledger()
    seed_demo(db, date(2026, 11, 18))
    made_up = db.execute("SELECT count(*) FROM entries").fetchone()[0]
    assert made_up > 1000
    db.execute("INSERT INTO accounts (id, name, kind, currency) VALUES ('own', 'Own', 'checking', 'EUR')")
    assert db.execute("SELECT count(*) FROM entries").fetchone()[0] == made_up
    add(db, [("2026-10-28", 35000, "Umbuchung", "own")])
    assert db.execute("SELECT account_id, kind, pair_id FROM entries").fetchall() == [
        ("own", "transfer", None)
    ]
    assert db.execute("SELECT id FROM visible_accounts").fetchall() == [("own",)]
    db.execute("DELETE FROM transactions WHERE account_id = 'own'")
    assert db.execute("SELECT count(*) FROM entries").fetchone()[0] == made_up


def test_when_one_side_is_removed_the_other_is_looked_at_again() -> None:
    db = ledger_of([("2026-01-02", -100, "Somewhere", "main"), ("2026-01-02", 100, "Transfer", "save")])
    assert facts(db, "kind, category") == [("transfer", "Transfer")] * 2
    db.execute("DELETE FROM transactions WHERE id = 2")
    classify(db)
    assert facts(db, "kind, category, pair_id") == [("spend", "Uncategorized", None)]
