from datetime import date
from typing import Any

from trunkline.demos.finance.answers import figures
from trunkline.demos.finance.questions.intent import Intent
from trunkline.demos.finance.questions.periods import month_of

TODAY = date(2026, 11, 18)
BASE: dict[str, Any] = {
    "period": {"start": "2026-10-01", "end": "2026-10-31"},
    "filters": ["refunds netted"],
    "rows": 2,
    "totals": ["1,000.00 EUR", "20.00 USD"],
}


def test_each_currency_has_its_own_figure() -> None:
    said = figures.spending(Intent(what="spend", merchant="Rewe", tag="trip", currency="EUR"), BASE, TODAY)
    assert "**1,000.00 EUR** and **20.00 USD** at Rewe tagged trip in EUR." in said
    assert "2026-10-01 to 2026-10-31; 2 transactions; refunds netted" in said
    none = figures.spending(Intent(what="spend"), BASE | {"totals": [], "rows": 0}, TODAY)
    assert "you spent **nothing**" in none


def test_the_account_is_called_by_its_name() -> None:
    result = BASE | {"named": {"account": "Everyday"}}
    assert "from Everyday" in figures.spending(Intent(what="spend", account="a1"), result, TODAY)


def test_shares_are_of_their_own_currency() -> None:
    groups = [
        {"name": "Rewe", "amount": "250.00 EUR", "rows": 1},
        {"name": "Shop", "amount": "20.00 USD", "rows": 1},
    ]
    result = BASE | {"by": "merchant", "groups": groups, "groups_left_off": 2}
    said = figures.breakdown(Intent(what="breakdown", by="merchant"), result, TODAY)
    assert "| Rewe | 250.00 EUR | 25% | 1 |" in said
    assert "| Shop | 20.00 USD | 100% | 1 |" in said
    assert "and 2 more merchants" in said
    empty = figures.breakdown(Intent(what="top"), BASE | {"groups": []}, TODAY)
    assert "|" not in empty


def test_an_average_is_the_total_over_its_parts() -> None:
    result = BASE | {"period": {"start": "2026-08-01", "end": "2026-10-31"}}
    monthly = figures.average(Intent(what="average"), result, TODAY)
    assert "**333.33 EUR** and **6.67 USD** per month on average" in monthly
    daily = figures.average(Intent(what="average", per="day"), result, TODAY)
    assert "**10.87 EUR**" in daily
    assert "over 92 days" in daily


def test_a_comparison_says_more_less_or_the_same() -> None:
    step = Intent(what="compare", period=month_of(date(2026, 10, 1)), against=month_of(date(2026, 9, 1)))
    against: dict[str, Any] = {"against": {"start": "2026-09-01", "end": "2026-09-30"}, "drivers": []}

    def said(change: str) -> str:
        changes = [{"change": change, "now": "3.00 EUR", "before": "2.00 EUR", "percent": "+50.0%"}]
        return figures.comparison(step, BASE | against | {"changes": changes}, TODAY)

    assert "**1.00 EUR more** in October 2026 than in September 2026 (+50.0%)" in said("+1.00 EUR")
    assert "**1.00 EUR less**" in said("-1.00 EUR")
    assert "the same" in said("0.00 EUR")
    assert "spent nothing" in figures.comparison(step, BASE | against | {"changes": []}, TODAY)


def test_a_period_that_is_not_over_is_named() -> None:
    step = Intent(
        what="compare", period=month_of(TODAY).__class__(date(2026, 11, 1), TODAY), against=month_of(TODAY, 1)
    )
    result: dict[str, Any] = BASE | {
        "period": {"start": "2026-11-01", "end": "2026-11-18"},
        "against": {"start": "2026-10-01", "end": "2026-10-31"},
        "changes": [],
        "drivers": [],
    }
    assert "is not over" in figures.comparison(step, result, TODAY)


def test_who_spent_more_than_came_in_is_told() -> None:
    saving = {"saved": "-5.00 EUR", "income": "10.00 EUR", "spent": "15.00 EUR", "rate": "-50.0%"}
    said = figures.savings(Intent(what="savings"), BASE | {"savings": [saving]}, TODAY)
    assert "spent more than you received, by **5.00 EUR**" in said
    none = figures.savings(Intent(what="savings"), BASE | {"savings": []}, TODAY)
    assert "nothing came in" in none


def test_a_list_says_how_many_it_leaves_out() -> None:
    one = {"day": "2026-10-01", "merchant": "A|B", "amount": "5.00 EUR", "category": "X", "account": "Y"}
    result = BASE | {"transactions": [one], "rows": 7}
    said = figures.listing(Intent(what="list", order="largest"), result, TODAY)
    assert said.startswith("The largest 1 of 7 transactions:")
    assert "A\\|B" in said
    assert "no such transactions" in figures.listing(Intent(what="list"), BASE | {"transactions": []}, TODAY)
