"""The reason for a category and a kind names its rule."""

import pytest
from tests.demos.finance.ledger.ledgers import ledger_of

from trunkline.demos.finance.ledger.analysis.why import why
from trunkline.demos.finance.ledger.classification import classify
from trunkline.demos.finance.ledger.errors import LedgerError


@pytest.mark.parametrize(
    ("description", "amount", "said"),
    [
        (
            "REWE SAGT DANKE 12",
            -100,
            'The merchant is Rewe ("rewe" in the description), which is known as Groceries.',
        ),
        ("APOTHEKE AM PARK", -100, 'The description has the word "apotheke": Pharmacy.'),
        ("SOMEBODY", -100, "No rule knows it, so it is Uncategorized."),
        ("ZALANDO RETOURE", 100, "Money came back, so it lowers the spending of its own day."),
        ("GEHALT", 100, "It counts as income."),
        (
            "CREDIT CARD PAYMENT",
            -100,
            "Its words say that money moves between own accounts, so it is no spending.",
        ),
    ],
)
def test_a_reason_names_what_was_found(description: str, amount: int, said: str) -> None:
    assert said in why(ledger_of([("2026-01-02", amount, description)]), 1).because


def test_a_pair_names_the_other_side() -> None:
    db = ledger_of([("2026-01-02", -5000, "Umbuchung", "main"), ("2026-01-03", 5000, "Eingang", "save")])
    assert "the other side is 50.00 EUR in Tagesgeld on 2026-01-03" in why(db, 1).because
    assert why(db, 2).because.startswith("It moves money between own accounts")
    db = ledger_of([("2026-01-02", -5000, "ZALANDO"), ("2026-01-03", 5000, "ZALANDO")])
    assert "a refund of the charge of -50.00 EUR in Giro on 2026-01-02" in why(db, 2).because


@pytest.mark.parametrize(("by", "said"), [("user", "You put it under Gifts."), ("import", "says Gifts.")])
def test_a_choice_is_named(by: str, said: str) -> None:
    db = ledger_of([("2026-01-02", -100, "REWE")])
    db.execute("UPDATE transactions SET category = 'Gifts', category_by = ?", (by,))
    assert said in why(db, 1).because


def test_an_own_rule_is_named_by_its_pattern() -> None:
    db = ledger_of([("2026-01-02", -100, "REWE 12 SNACKS")])
    db.execute("INSERT INTO category_rules VALUES ('snacks', 'Coffee', '2026-01-03')")
    classify(db)
    assert why(db, 1).because.startswith('Your rule "snacks" says Coffee.')


def test_a_transaction_that_is_not_there_is_said() -> None:
    with pytest.raises(LedgerError, match="there is no transaction 99"):
        why(ledger_of([]), 99)
