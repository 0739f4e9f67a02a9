"""A report of any period as Markdown: what was spent, on what, where, and what came in."""

from __future__ import annotations

from datetime import date, timedelta

from trunkline.demos.finance.answers import figures
from trunkline.demos.finance.answers.phrases import table
from trunkline.demos.finance.ledger.analysis.charges import list_charges
from trunkline.demos.finance.ledger.analysis.comparison import compare
from trunkline.demos.finance.ledger.analysis.income import income
from trunkline.demos.finance.ledger.analysis.spending import spend
from trunkline.demos.finance.ledger.database import Ledger
from trunkline.demos.finance.ledger.results import Period
from trunkline.demos.finance.questions.comparison import period_before
from trunkline.demos.finance.questions.intent import Intent
from trunkline.demos.finance.questions.periods import describe_period
from trunkline.demos.finance.tools import documents

__all__ = ["write_markdown"]

_TOP = 10
_QUIET = timedelta(days=7)
"""How many days without a transaction are nothing unusual."""


def write_markdown(ledger: Ledger, period: Period, today: date) -> str:
    """Write the report; its sentences and tables are those of the answers."""
    with ledger.reading() as db:
        by_category = documents.spending_document(spend(db, period, by="category"))
        by_merchant = documents.spending_document(spend(db, period, by="merchant", limit=_TOP))
        earlier = period_before(period)
        change = documents.comparison_document(compare(db, period, earlier), by="category")
        saved = documents.income_document(income(db, period))
        (first,) = db.execute("SELECT min(posted) FROM entries").fetchone()
        largest = documents.charges_document(list_charges(db, period, order="largest", limit=_TOP))
    step = Intent(what="report", period=period, against=earlier)
    rows = [(one["day"], one["merchant"], one["amount"], one["category"]) for one in largest["transactions"]]
    compared = figures.comparison(step, change, today)
    if first is not None and first > earlier.end.isoformat():
        compared = f"Your ledger begins on {first}: there is nothing to compare with."
    elif first is not None and first > (earlier.start + _QUIET).isoformat():
        compared = f"Your ledger begins on {first}, so the days before are missing here.\n\n{compared}"
    sections = [
        f"# Finances: {describe_period(period, today)}",
        f"## Spending by category\n\n{figures.breakdown(step, by_category, today)}",
        f"## Top merchants\n\n{figures.breakdown(step, by_merchant, today)}",
        f"## Compared with {describe_period(earlier, today)}\n\n{compared}",
        f"## Income and savings\n\n{figures.savings(step, saved, today)}",
        f"## Largest charges\n\n{table(('Day', 'Merchant', 'Amount', 'Category'), rows)}",
    ]
    return "\n\n".join(sections) + "\n"
