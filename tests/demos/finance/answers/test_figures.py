from datetime import date
from typing import Any

import pytest

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


def test_a_source_of_income_is_told_apart_from_all_of_it() -> None:
    sources = [{"name": "Salary", "amount": "900.00 EUR", "rows": 2}]
    sources += [{"name": "Interest", "amount": "100.00 EUR", "rows": 1}]
    result = BASE | {"income": ["1,000.00 EUR"], "sources": sources}
    said = figures.income(Intent(what="income", category="Salary"), result, TODAY)
    assert "you received **900.00 EUR** of Salary (2 transactions)." in said
    assert "All income together is **1,000.00 EUR**." in said
    none = figures.income(Intent(what="income", category="Benefits"), result, TODAY)
    assert "you received **nothing** of Benefits (0 transactions)." in none
    assert "you received **1,000.00 EUR**." in figures.income(Intent(what="income"), result, TODAY)


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


def test_a_share_is_told_with_both_of_its_figures() -> None:
    result = BASE | {"of_all": ["4,000.00 EUR", "20.00 USD"]}
    said = figures.share(Intent(what="share", category="Rent"), result, TODAY)
    assert "Rent was **25%** and **100%** of your spending: 1,000.00 EUR of 4,000.00 EUR and" in said
    inside = figures.share(Intent(what="share", category="Groceries", merchant="Rewe"), result, TODAY)
    assert "Rewe was **25%** and **100%** of your spending on Groceries:" in inside
    none = figures.share(Intent(what="share", category="Rent"), result | {"totals": []}, TODAY)
    assert "you spent **nothing** on Rent" in none


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


def test_an_average_of_a_year_or_a_purchase() -> None:
    result = BASE | {"purchases": {"EUR": 4, "USD": 2}}
    said = figures.average(Intent(what="average", per="purchase"), result, TODAY)
    assert "**250.00 EUR** and **10.00 USD** per purchase on average" in said
    assert "1,000.00 EUR in 4 purchases and 20.00 USD in 2 purchases" in said
    none = figures.average(Intent(what="average", per="purchase"), BASE | {"purchases": {}}, TODAY)
    assert "**nothing** per purchase" in none
    result = BASE | {"period": {"start": "2024-11-01", "end": "2026-10-31"}}
    assert "**500.00 EUR**" in figures.average(Intent(what="average", per="year"), result, TODAY)


@pytest.mark.parametrize(
    ("start", "end", "per", "mean", "over"),
    [
        ("2024-11-19", "2026-11-18", "year", "500.00", "24 months"),
        ("2024-11-19", "2026-11-18", "month", "41.67", "24 months"),
        ("2026-01-01", "2026-11-18", "month", "94.34", "10.6 months"),
        ("2026-01-31", "2026-02-27", "month", "1,107.14", "0.9 months"),
        ("2026-01-31", "2026-03-30", "month", "500.00", "2 months"),
    ],
)
def test_an_average_is_over_the_length_of_its_period(
    start: str, end: str, per: Any, mean: str, over: str
) -> None:
    result = BASE | {"period": {"start": start, "end": end}, "totals": ["1,000.00 EUR"]}
    said = figures.average(Intent(what="average", per=per), result, TODAY)
    assert f"**{mean} EUR** per {per}" in said
    assert f"over {over}." in said


def test_days_that_the_ledger_does_not_have_do_not_lower_an_average() -> None:
    known = {"ledger": {"start": "2026-07-01", "end": "2026-10-31"}}
    period = {"period": {"start": "2021-11-01", "end": "2026-10-31"}, "totals": ["1,000.00 EUR"]}
    said = figures.average(Intent(what="average"), BASE | period | known, TODAY)
    assert "**250.00 EUR** per month" in said
    assert "over 4 months" in said


def test_the_largest_bar_of_a_chart_in_time_is_the_one_with_most() -> None:
    groups = [{"name": f"2026-{at:02}", "amount": f"{at % 3}.00 EUR", "rows": 1} for at in (1, 2, 3)]
    shown = figures.chart(Intent(what="chart", by="month"), BASE | {"by": "month", "groups": groups}, TODAY)
    assert "The largest is 2026-02 with 2.00 EUR." in shown
    cut = BASE | {"by": "category", "groups": groups, "groups_left_off": 7}
    assert "Not drawn: 7 smaller categories." in figures.chart(Intent(what="chart"), cut, TODAY)


def test_days_are_counted_in_plain_english() -> None:
    groups = [{"name": f"2026-10-{at:02}", "amount": "5.00 EUR", "rows": 1} for at in range(1, 10)]
    said = figures.breakdown(Intent(what="top", by="day"), BASE | {"by": "day", "groups": groups}, TODAY)
    assert "and 4 more days" in said


def test_a_list_that_is_cut_has_also_the_total_of_all() -> None:
    one = {"day": "2026-10-01", "merchant": "A", "amount": "5.00 EUR", "category": "X", "account": "Y"}
    said = figures.listing(Intent(what="list"), BASE | {"transactions": [one, one], "rows": 7}, TODAY)
    assert "Together 10.00 EUR. All 7 together: 1,000.00 EUR and 20.00 USD." in said


def test_a_refund_is_no_purchase() -> None:
    said = figures.counted(Intent(what="count"), BASE | {"purchases": {"EUR": 1}}, TODAY)
    assert "you paid **1 time**" in said


def test_a_ranking_of_months_begins_with_the_largest_of_all() -> None:
    names = [f"2026-{month:02}" for month in range(1, 11)]
    groups = [{"name": name, "amount": f"{900 - at:.2f} EUR", "rows": 1} for at, name in enumerate(names)]
    result = BASE | {"by": "month", "groups": groups, "totals": ["8,955.00 EUR"]}
    said = figures.breakdown(Intent(what="top", by="month"), result, TODAY)
    rows = [line for line in said.splitlines() if line.startswith("| 2026")]
    assert [row.split()[1] for row in rows] == names[:5]
    assert "and 5 more months" in said
    assert len(figures.breakdown(Intent(what="breakdown", by="month"), result, TODAY).split("| 2026")) == 11


def test_what_is_left_out_is_said() -> None:
    said = figures.spending(Intent(what="spend", excluding=("Rent", "Rewe")), BASE, TODAY)
    assert "without Rent and Rewe." in said
    shown = figures.chart(Intent(what="chart"), BASE | {"groups": [], "not_in_chart": ["5.00 USD"]}, TODAY)
    assert "Not in it, since a chart has one currency: 5.00 USD." in shown
    outside = figures.spending(
        Intent(what="spend"), BASE | {"ledger": {"start": "2026-01-02", "end": "2026-03-04"}}, TODAY
    )
    assert "Your ledger has transactions from 2026-01-02 to 2026-03-04 only." in outside


def test_a_ledger_that_is_too_short_has_no_average_and_says_so() -> None:
    period = {"period": {"start": "2025-11-01", "end": "2026-10-31"}, "totals": ["60.00 EUR"]}
    short = BASE | period | {"ledger": {"start": "2026-10-20", "end": "2026-10-30"}}
    said = figures.average(Intent(what="average"), short, TODAY)
    assert "From 20 to 30 October 2026 you spent **60.00 EUR**" in said
    assert "only 11 days of what you asked about: too few for an average per month" in said
    weekly = figures.average(Intent(what="average", per="week"), short, TODAY)
    assert "From 20 to 30 October 2026 you spent **38.18 EUR** per week" in weekly
    nearly = BASE | period | {"ledger": {"start": "2026-10-01", "end": "2026-10-30"}}
    assert "60.00 EUR over 0.97 months" in figures.average(Intent(what="average"), nearly, TODAY)
