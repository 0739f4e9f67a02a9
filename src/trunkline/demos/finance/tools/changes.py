"""Tools that change categories and tags: they show what will change, and ask unless the mode allows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from trunkline.content import TextBlock
from trunkline.demos.finance.ledger.categories import TAXONOMY, find_category
from trunkline.demos.finance.ledger.database import Ledger
from trunkline.demos.finance.ledger.edits import (
    EditPlan,
    Unknown,
    apply_edit,
    plan_recategorize,
    plan_tag,
    uncategorized,
)
from trunkline.demos.finance.ledger.results import format_amount
from trunkline.demos.finance.ledger.schema import UNCATEGORIZED
from trunkline.demos.finance.today import now
from trunkline.demos.finance.tools.figures import Today, read_filters, read_period
from trunkline.tools import Ask, Table, ToolContext, ToolError, ToolRegistry, ToolResult

__all__ = ["register_changes"]

_SHOWN = 20
_MOST_FIELDS = 8
_LEAVE = "leave it"


def _preview(plan: EditPlan) -> TextBlock:
    rows = [
        (
            str(one.day),
            one.merchant,
            format_amount(one.amount, one.currency),
            one.before or "",
            one.after or "",
        )
        for one in plan.changes[:_SHOWN]
    ]
    more = len(plan.changes) - _SHOWN
    note = f"and {more} more" if more > 0 else None
    return TextBlock(text=Table(("Day", "Merchant", "Amount", "Now", "Then"), rows, note).markdown())


def _changed(count: int) -> str:
    return f"{count} transaction{'' if count == 1 else 's'} changed"


def _may_edit(ctx: ToolContext) -> bool:
    """Whether the session's mode lets categories and tags be changed without asking."""
    return ctx.session is not None and ctx.session.mode == "manage"


def _now() -> str:
    return now().isoformat(timespec="seconds")


def register_changes(registry: ToolRegistry, ledger: Ledger, today: Today) -> None:
    """Add the tools that change the ledger."""

    def asking(make_plan: Callable[..., EditPlan]) -> Callable[[dict[str, Any], ToolContext], Any]:
        """The rule of a tool: show what would change; nothing to change needs no question."""

        def rule(arguments: dict[str, Any], ctx: ToolContext) -> Any:
            plan = make_plan(**arguments)
            if not plan.changes or _may_edit(ctx):
                return "allow"
            count = len(plan.changes)
            noun = "transaction" if count == 1 else "transactions"
            return Ask(message=f"{plan.title}: change {count} {noun}?", content=_preview(plan))

        return rule

    def carry_out(plan: EditPlan) -> int:
        if plan.changes:
            with ledger.writing() as db:
                apply_edit(db, plan, _now())
        return len(plan.changes)

    def plan_merchant(merchant: str, category: str) -> EditPlan:
        with ledger.reading() as db:
            return plan_recategorize(db, merchant, find_category(category))

    @registry.register(kind="edit", title="Put {merchant} under {category}", permission=asking(plan_merchant))
    def recategorize_merchant(merchant: str, category: str) -> ToolResult:
        """Put all transactions of a merchant under a category, now and in future. Asks the person first.

        Args:
            merchant: The name of a merchant as the ledger has it.
            category: The category that they shall have.
        """
        plan = plan_merchant(merchant, category)
        changed = carry_out(plan)
        document = {"merchant": merchant, "category": find_category(category), "changed": changed}
        return ToolResult(document, _changed(changed))

    def plan_tags(
        add: str,
        start: str | None = None,
        end: str | None = None,
        category: str | None = None,
        merchant: str | None = None,
        account: str | None = None,
        tag: str | None = None,
        currency: str | None = None,
    ) -> EditPlan:
        filters = read_filters(category, merchant, account, tag, currency)
        period = read_period(start, end, today()) if start or end else None
        with ledger.reading() as db:
            return plan_tag(db, add, period, filters)

    @registry.register(kind="edit", title="Tag transactions as {add}", permission=asking(plan_tags))
    def tag_transactions(
        add: str,
        start: str | None = None,
        end: str | None = None,
        category: str | None = None,
        merchant: str | None = None,
        account: str | None = None,
        tag: str | None = None,
        currency: str | None = None,
    ) -> ToolResult:
        """Give transactions a tag. Asks the person first.

        Args:
            add: The tag to give.
            start: The first day, YYYY-MM-DD.
            end: The last day, included.
            category: Only those of a category or a group.
            merchant: Only those of a merchant.
            account: Only those of an account.
            tag: Only those that have this tag already.
            currency: Only those in this currency.
        """
        plan = plan_tags(add, start, end, category, merchant, account, tag, currency)
        changed = carry_out(plan)
        return ToolResult({"tag": add, "changed": changed}, _changed(changed))

    def plan_merchants(merchants: dict[str, str] | None = None) -> list[EditPlan]:
        return [plan_merchant(merchant, category) for merchant, category in (merchants or {}).items()]

    def rule_for_merchants(arguments: dict[str, Any], ctx: ToolContext) -> Any:
        plans = [plan for plan in plan_merchants(**arguments) if plan.changes]
        if not plans or _may_edit(ctx):
            return "allow"
        count = sum(len(plan.changes) for plan in plans)
        return Ask(message=f"Categorize {count} transactions?", content=[_preview(plan) for plan in plans])

    def read_uncategorized() -> tuple[list[Unknown], int]:
        with ledger.reading() as db:
            found = list(uncategorized(db, _MOST_FIELDS))
            left = db.execute("SELECT count(*) FROM entries WHERE category = ?", (UNCATEGORIZED,))
            return found, left.fetchone()[0]

    def carry_out_all(chosen: dict[str, str]) -> ToolResult:
        changed = sum(carry_out(plan) for plan in plan_merchants(chosen))
        document = {"changed": changed, "categories": chosen, "left": read_uncategorized()[1]}
        return ToolResult(document, _changed(changed))

    @registry.register(kind="edit", title="Categorize transactions", permission=rule_for_merchants)
    async def categorize(merchants: dict[str, str] | None = None, *, ctx: ToolContext) -> ToolResult:
        """Give the transactions without a category one, merchant by merchant. Asks the person first.

        Without arguments the person chooses the category of each such merchant in a form.

        Args:
            merchants: The category by the name of the merchant, as the ledger has it.
        """
        chosen = merchants
        if chosen is None:
            unknown, left = await asyncio.to_thread(read_uncategorized)
            if not unknown:
                return ToolResult({"changed": 0, "categories": {}, "left": left}, _changed(0))
            answers = await ctx.form("Which categories are these?", _fields(unknown))
            if answers is None:
                raise ToolError("nothing was changed: the form was declined")
            names = {f"merchant_{at}": one.merchant for at, one in enumerate(unknown, 1)}
            chosen = {
                names[field]: str(value)
                for field, value in answers.items()
                if field in names and value not in (None, "", _LEAVE)
            }
        return await asyncio.to_thread(carry_out_all, chosen)


def _fields(unknown: list[Unknown]) -> dict[str, Any]:
    """A form with a choice of categories for each merchant."""
    choices = [_LEAVE, *(name for group in TAXONOMY.values() for name in group)]
    fields: dict[str, Any] = {
        f"merchant_{at}": {
            "type": "string",
            "title": f"{one.merchant} ({one.transactions}, such as {one.example!r})",
            "enum": choices,
            "default": _LEAVE,
        }
        for at, one in enumerate(unknown, 1)
    }
    return {"type": "object", "properties": fields}
