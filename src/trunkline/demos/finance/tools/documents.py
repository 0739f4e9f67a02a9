"""Results of the ledger as the JSON that a model reads: amounts as text with a currency, days as ISO dates.

Amounts are never bare numbers: a model reads 123450 as a price.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from trunkline.demos.finance.ledger.analysis.accounts import AccountList
from trunkline.demos.finance.ledger.analysis.budgets import BudgetReport
from trunkline.demos.finance.ledger.analysis.charges import Charge, ChargeList
from trunkline.demos.finance.ledger.analysis.comparison import Comparison
from trunkline.demos.finance.ledger.analysis.income import IncomeReport
from trunkline.demos.finance.ledger.analysis.spending import Spending
from trunkline.demos.finance.ledger.analysis.subscriptions import SubscriptionList
from trunkline.demos.finance.ledger.analysis.unusual import DoubleList, UnusualList
from trunkline.demos.finance.ledger.results import Money, Period, Result, format_amount
from trunkline.tools import Table, ToolResult

__all__ = [
    "MADE_UP",
    "accounts_document",
    "budgets_document",
    "charges_document",
    "comparison_document",
    "double_document",
    "for_people",
    "income_document",
    "spending_document",
    "subscriptions_document",
    "unusual_document",
]

Document = dict[str, Any]
MADE_UP = "made-up demo data"
"""What a figure says of itself as long as there is no data of one's own."""
_DRIVERS = 8
_MOST_ROWS = 12
_LISTS = ("groups", "drivers", "transactions", "charges", "subscriptions", "budgets", "accounts", "sources")
"""What a document lists; the first that has rows is shown."""
_HIDDEN = frozenset({"id", "state", "currency", "since", "last", "projected"})


def for_people(document: Document) -> ToolResult:
    """Let a person see the figures in a line and a table, where the model reads the whole document."""
    rows = int(document.get("rows", 0))
    counted = f"{rows} transaction{'' if rows == 1 else 's'}"
    head = "; ".join([*(", ".join(one) for one in (document.get("totals"),) if one), counted])
    lists: list[list[Document]] = [document[key] for key in _LISTS if document.get(key)]
    parts = lists[0] if lists else []
    if not parts:
        return ToolResult(document, head)
    columns = [key for key in parts[0] if key not in _HIDDEN]
    shown = [[_flat(one.get(key)) for key in columns] for one in parts[:_MOST_ROWS]]
    more = len(parts) - _MOST_ROWS
    table = Table(columns, shown, f"and {more} more" if more > 0 else None)
    return ToolResult(document, f"{head}\n\n{table.markdown()}")


def _flat(value: Any) -> Any:
    return f"{value['before']} to {value['now']}" if isinstance(value, dict) else value


def _moneys(moneys: Sequence[Money]) -> list[str]:
    return [str(money) for money in moneys]


def _period(period: Period) -> dict[str, str]:
    return {"start": period.start.isoformat(), "end": period.end.isoformat()}


def _basis(result: Result) -> Document:
    return {
        "period": _period(result.period),
        "filters": list(result.filters),
        "rows": result.rows,
        "totals": _moneys(result.totals),
    }


def spending_document(result: Spending) -> Document:
    """What was spent; ``groups`` are its parts."""
    groups = [
        {"name": one.name, "amount": format_amount(one.amount, one.currency), "rows": one.rows}
        for one in result.groups
    ]
    parts = {"by": result.by, "groups": groups, "groups_left_off": result.more} if result.by else {}
    return {**_basis(result), "purchases": result.purchases, **parts, "sql": result.sql}


def comparison_document(result: Comparison, *, by: str) -> Document:
    """Two periods, and what makes the difference."""
    now = {money.currency: money.amount for money in result.totals}
    before = {money.currency: money.amount for money in result.earlier_totals}
    changes = [
        {
            "change": _signed(one.amount, one.currency),
            "now": format_amount(now.get(one.currency, 0), one.currency),
            "before": format_amount(before.get(one.currency, 0), one.currency),
            "percent": _percent(one.amount, before.get(one.currency, 0)),
        }
        for one in result.changes
    ]
    drivers = result.merchants if by == "merchant" else result.categories
    return {
        **_basis(result),
        "against": _period(result.earlier),
        "against_rows": result.earlier_rows,
        "changes": changes,
        "by": by,
        "drivers": [
            {
                "name": one.name,
                "now": format_amount(one.now, one.currency),
                "before": format_amount(one.before, one.currency),
                "change": _signed(one.change, one.currency),
                "reason": one.reason,
            }
            for one in drivers[:_DRIVERS]
        ],
        "new_charges": [_charge(one) for one in result.charges],
        "sql": result.sql,
    }


def _signed(amount: int, currency: str) -> str:
    return f"{'+' if amount > 0 else ''}{format_amount(amount, currency)}"


def _percent(change: int, before: int) -> str | None:
    return f"{Decimal(change) / Decimal(before):+.1%}" if before > 0 else None


def _charge(one: Charge) -> Document:
    return {
        "id": one.id,
        "day": one.day.isoformat(),
        "merchant": one.merchant,
        "amount": format_amount(one.spent, one.currency),
        "category": one.category,
        "account": one.account,
    }


def charges_document(result: ChargeList) -> Document:
    """Single charges; ``rows`` counts also those that the limit left off."""
    return {**_basis(result), "transactions": [_charge(one) for one in result.charges], "sql": result.sql}


def income_document(result: IncomeReport) -> Document:
    """What came in, and what was left of it."""
    received = {money.currency: money.amount for money in result.totals}
    spent = {money.currency: money.amount for money in result.spent}
    rates = {one.currency: one.rate for one in result.rates}
    return {
        **_basis(result),
        "income": _moneys(result.totals),
        "sources": [
            {"name": one.name, "amount": format_amount(one.amount, one.currency), "rows": one.rows}
            for one in result.sources
        ],
        "savings": [
            {
                "saved": str(one),
                "income": format_amount(received.get(one.currency, 0), one.currency),
                "spent": format_amount(spent.get(one.currency, 0), one.currency),
                "rate": None if (rate := rates.get(one.currency)) is None else f"{rate:.1%}",
            }
            for one in result.saved
        ],
        "sql": result.sql,
    }


def unusual_document(result: UnusualList) -> Document:
    """Charges far above the usual."""
    charges = [
        {
            **_charge(one.charge),
            "why": f"{one.times:.1f} times the usual {format_amount(one.usual, one.charge.currency)} of "
            + ("all charges" if one.compared_with == "all" else f"this {one.compared_with}"),
        }
        for one in result.unusual
    ]
    return {**_basis(result), "charges": charges, "sql": result.sql}


def double_document(result: DoubleList) -> Document:
    """Charges that came twice: the second of each."""
    charges = [
        {**_charge(one.second), "why": f"the same amount was charged on {one.first.day.isoformat()}"}
        for one in result.doubles
    ]
    return {**_basis(result), "charges": charges, "sql": result.sql}


def subscriptions_document(result: SubscriptionList, due_days: int) -> Document:
    """What is charged again and again, and what of it is due."""
    listed: list[Document] = []
    for one in result.subscriptions:
        if one.status != "active":
            continue
        rises = [change for change in one.price_changes if change.after > change.before]
        rise = rises[-1] if rises else None
        listed.append(
            {
                "merchant": one.merchant,
                "category": one.category,
                "amount": format_amount(one.amount, one.currency),
                "every": one.cadence,
                "since": one.first.isoformat(),
                "last": one.last.isoformat(),
                "next": one.next_due.isoformat() if one.next_due else None,
                "rise": None
                if rise is None
                else {
                    "before": format_amount(rise.before, one.currency),
                    "now": format_amount(rise.after, one.currency),
                    "since": rise.day.isoformat(),
                    "percent": _percent(rise.after - rise.before, rise.before),
                },
            }
        )
    due = [
        {
            "merchant": one.merchant,
            "next": one.day.isoformat(),
            "amount": format_amount(one.amount, one.currency),
        }
        for one in result.due
    ]
    sums: dict[str, int] = {}
    for one in result.due:
        sums[one.currency] = sums.get(one.currency, 0) + one.amount
    return {
        **_basis(result),
        "monthly": _moneys(result.totals),
        "subscriptions": listed,
        "due_days": due_days,
        "due": due,
        "due_total": [format_amount(amount, currency) for currency, amount in sums.items()],
        "sql": result.sql,
    }


_PACE = {"over": "over budget", "ahead": "faster than the month", "on track": "on track"}


def budgets_document(result: BudgetReport, category: str | None) -> Document:
    """What was meant to be spent in a month, and how it stands. ``budget`` is a plan, ``spent`` is real."""
    lines = [one for one in result.lines if category is None or one.category == category]
    return {
        **_basis(result),
        "rows": sum(one.rows for one in lines),
        "day": result.day,
        "days": result.days,
        "budgets": [
            {
                "category": one.category,
                "budget": format_amount(one.monthly, one.currency),
                "spent": format_amount(one.spent, one.currency),
                "left": format_amount(one.left, one.currency),
                "projected": format_amount(one.projected, one.currency),
                "state": one.state,
                "pace": _PACE[one.state],
            }
            for one in lines
        ],
        "sql": result.sql,
    }


def accounts_document(result: AccountList, period: Period, sql: str) -> Document:
    """The accounts, with masked numbers."""
    return {
        "period": _period(period),
        "filters": [MADE_UP] if result.made_up else ["your own data"],
        "rows": sum(one.transactions for one in result.accounts),
        "accounts": [
            {
                "name": one.name,
                "kind": one.kind,
                "institution": one.institution,
                "number": one.number,
                "currency": one.currency,
                "balance": " and ".join(_moneys((Money(one.currency, one.balance), *one.others))),
                "rows": one.transactions,
                "last": None if one.last is None else one.last.isoformat(),
            }
            for one in result.accounts
        ],
        "sql": sql,
    }
