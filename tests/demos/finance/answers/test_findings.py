from datetime import date
from typing import Any

from trunkline.demos.finance.answers import findings
from trunkline.demos.finance.questions.intent import Intent

TODAY = date(2026, 11, 18)
BASE: dict[str, Any] = {
    "period": {"start": "2026-11-01", "end": "2026-11-18"},
    "filters": [],
    "rows": 1,
    "totals": [],
}


def test_nothing_found_is_said() -> None:
    assert "no double charges" in findings.unusual(
        Intent(what="double_charges"), BASE | {"charges": []}, TODAY
    )
    assert "no subscriptions" in findings.subscriptions(
        Intent(what="subscriptions"), BASE | {"subscriptions": []}, TODAY
    )
    assert "no price rise of Netflix" in findings.price_rises(
        Intent(what="price_rises", merchant="Netflix"), BASE | {"subscriptions": []}, TODAY
    )
    assert "No subscription is due" in findings.due(
        Intent(what="due"), BASE | {"due": [], "due_days": 30}, TODAY
    )
    assert "no budget for Rent" in findings.budgets(
        Intent(what="budget", category="Rent"), BASE | {"budgets": []}, TODAY
    )


def budget(category: str, state: str, currency: str = "EUR") -> dict[str, Any]:
    return {
        "category": category,
        "spent": "1.00 EUR",
        "budget": f"2.00 {currency}",
        "left": "1.00 EUR",
        "state": state,
        "pace": state,
    }


def test_budgets_that_are_over_or_ahead_are_named_first() -> None:
    lines = [budget("Food", "over"), budget("Fun", "ahead"), budget("Rent", "on track")]
    said = findings.budgets(Intent(what="budget"), BASE | {"budgets": lines}, TODAY)
    assert said.startswith("Over budget: Food. Spent faster than the month passes: Fun.")
    one = findings.budgets(Intent(what="budget"), BASE | {"budgets": lines[2:]}, TODAY)
    assert "**1.00 EUR** of the 2.00 EUR budget for Rent" in one


def test_two_budgets_of_a_category_are_told_apart_by_their_currency() -> None:
    lines = [budget("Food", "over"), budget("Food", "over", "USD"), budget("Rent", "on track")]
    said = findings.budgets(Intent(what="budget"), BASE | {"budgets": lines}, TODAY)
    assert said.startswith("Over budget: Food (EUR) and Food (USD).")
