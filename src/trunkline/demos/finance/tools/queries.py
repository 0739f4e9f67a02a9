"""SQL, charts and the plan."""

from __future__ import annotations

import base64
from typing import Any, Literal

import msgspec

from trunkline.content import ImageBlock, TextBlock
from trunkline.demos.finance.ledger.analysis.spending import IN_TIME, spend
from trunkline.demos.finance.ledger.chart import Bar, bar_chart_png, text_bars
from trunkline.demos.finance.ledger.database import Ledger
from trunkline.demos.finance.ledger.errors import LedgerError
from trunkline.demos.finance.ledger.read_only_sql import run_sql as run_read_only
from trunkline.demos.finance.questions.periods import describe_period
from trunkline.demos.finance.tools.documents import spending_document
from trunkline.demos.finance.tools.figures import GroupBy, Today, name_account, read_filters, read_period
from trunkline.events import PlanEntry
from trunkline.tools import Table, ToolContext, ToolRegistry, ToolResult

__all__ = ["register_queries"]

_BARS = 12
"""How many bars are drawn; in time all are."""
_SQL_WORDS = {"allow_once": "Allow once", "allow_always": "Always allow SQL", "reject_once": "Reject"}


class PlanStep(msgspec.Struct, frozen=True):
    """A step of a plan."""

    step: str
    status: Literal["pending", "in_progress", "completed"] = "pending"


def register_queries(registry: ToolRegistry, ledger: Ledger, today: Today) -> None:
    """Add SQL, charts and the plan."""

    @registry.register(
        kind="execute", title="SQL: {query}", permission="ask", options=_SQL_WORDS, shows="table"
    )
    def run_sql(query: str, limit: int = 100) -> Table:
        """Run one SELECT on the ledger; it cannot change anything. Asks the person first.

        Only for what no other tool answers. Views: spending(day, month, spent, currency, merchant, category,
        category_group, account), income(day, month, received, currency, merchant), entries(all transactions).
        Amounts are whole minor units (cents); never add two currencies.

        Args:
            query: One SELECT statement of SQLite.
            limit: How many rows to give at most.
        """
        result = run_read_only(ledger, query, limit=max(1, min(limit, 500)))
        return Table(result.columns, result.rows, result.note)

    @registry.register(kind="read", title="Chart of spending by {group_by}", shows="image")
    def chart_spending(
        start: str | None = None,
        end: str | None = None,
        group_by: GroupBy = "category",
        category: str | None = None,
        merchant: str | None = None,
        account: str | None = None,
        tag: str | None = None,
        currency: str | None = None,
        excluding: list[str] | None = None,
    ) -> ToolResult:
        """Draw a bar chart of what was spent in a period, as a picture and as bars of text.

        The person sees the chart; you read its figures. Not for income or balances. A chart has one currency:
        without ``currency`` that of the most transactions; ``not_in_chart`` are the totals of the others.

        Args:
            start: The first day, YYYY-MM-DD; without it from the beginning.
            end: The last day, included; without it today.
            group_by: What each bar is.
            category: A category or a group of categories.
            merchant: The name of a merchant as the ledger has it.
            account: The name or id of an account.
            tag: A tag.
            currency: A currency such as EUR.
            excluding: Categories, groups or merchants that do not count.
        """
        filters = read_filters(category, merchant, account, tag, currency, excluding)
        period = read_period(start, end, today())
        most = None if group_by in IN_TIME else _BARS
        with ledger.reading() as db:
            result = spend(db, period, filters, by=group_by, limit=most)
            others = [str(money) for money in result.totals[1:]]
            if others:
                filters = msgspec.structs.replace(filters, currency=result.totals[0].currency)
                result = spend(db, period, filters, by=group_by, limit=most)
        bars = [Bar(one.name, one.amount, one.currency) for one in result.groups]
        shown: list[Any] = [TextBlock(text=f"```\n{text_bars(bars)}\n```")]
        title = f"Spending by {group_by}, {describe_period(period, today())}"
        document = name_account(ledger, spending_document(result), account)
        if others:
            document["not_in_chart"] = others
        try:
            png = bar_chart_png(title, bars)
            shown.append(ImageBlock(mime_type="image/png", data=base64.b64encode(png).decode()))
        except LedgerError as error:
            # Without Pillow the bars are still there.
            shown.append(TextBlock(text=str(error)))
        return ToolResult(document, tuple(shown))

    @registry.register(kind="think", title="Plan")
    async def update_plan(steps: list[PlanStep], *, ctx: ToolContext) -> str:
        """Show the person the steps of a longer request and how far they are. Call it again after each step.

        Args:
            steps: All steps, each with its status.
        """
        if ctx.turn is not None:
            ctx.turn.plan([PlanEntry(content=one.step, status=one.status) for one in steps])
        return "shown"
