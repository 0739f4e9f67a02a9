"""Tools that change categories, tags and budgets: they show what changes, and ask unless the mode allows."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Any

from trunkline.content import TextBlock
from trunkline.demos.finance.ledger.analysis.accounts import names
from trunkline.demos.finance.ledger.categories import TAXONOMY, find_category
from trunkline.demos.finance.ledger.database import Ledger
from trunkline.demos.finance.ledger.edits import (
    EditPlan,
    Undone,
    Unknown,
    apply_edit,
    last_edit,
    plan_budget,
    plan_recategorize,
    plan_tag,
    uncategorized,
)
from trunkline.demos.finance.ledger.edits import undo_edit as take_back
from trunkline.demos.finance.ledger.results import format_amount
from trunkline.demos.finance.ledger.schema import UNCATEGORIZED
from trunkline.demos.finance.today import now
from trunkline.demos.finance.tools.figures import Today, minor_units, read_filters, read_period
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
    """Whether the session's mode lets categories, tags and budgets be changed without asking."""
    return ctx.session is not None and ctx.session.mode == "manage"


def _now() -> str:
    return now().isoformat(timespec="seconds")


def register_changes(registry: ToolRegistry, ledger: Ledger, today: Today) -> None:
    """Add the tools that change the ledger."""

    def asking(make_plan: Callable[..., EditPlan]) -> Callable[[dict[str, Any], ToolContext], Any]:
        """The rule of a tool: show what would change; nothing to change needs no question."""

        def rule(arguments: dict[str, Any], ctx: ToolContext) -> Any:
            plan = make_plan(**arguments)
            if _may_edit(ctx) or not (plan.changes or _sets_budget(plan)):
                return "allow"
            if plan.budget is not None:
                return Ask(message=f"{plan.title}?", content=TextBlock(text=_budget_change(plan.budget)))
            count = len(plan.changes)
            noun = "transaction" if count == 1 else "transactions"
            return Ask(message=f"{plan.title}: change {count} {noun}?", content=_preview(plan))

        return rule

    def carry_out(plan: EditPlan) -> int:
        if plan.changes or _sets_budget(plan):
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
        add: str, start: str | None = None, end: str | None = None, **named: str | None
    ) -> EditPlan:
        filters = read_filters(**named)
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
        named = {
            "category": category, "merchant": merchant, "account": account, "tag": tag, "currency": currency
        }  # fmt: skip
        changed = carry_out(plan_tags(add, start, end, **named))
        return ToolResult({"tag": add, "changed": changed}, _changed(changed))

    def plan_monthly(
        category: str, monthly: float | None = None, currency: str | None = None, remove: bool = False
    ) -> EditPlan:
        if (monthly is None) is not remove:
            raise ToolError("give the amount for one month in `monthly`, or `remove`, and not both")
        with ledger.reading() as db:
            unit = currency or _budget_currency(db, find_category(category))
            return plan_budget(db, category, None if monthly is None else minor_units(monthly, unit), unit)

    @registry.register(kind="edit", title="Set the budget of {category}", permission=asking(plan_monthly))
    def set_budget(
        category: str, monthly: float | None = None, currency: str | None = None, remove: bool = False
    ) -> ToolResult:
        """Set what shall be spent on a category in a month at most, or remove that. Asks the person first.

        Args:
            category: A category or a group of categories.
            monthly: The amount for one month, in the units of the currency, such as 400.
            currency: Its currency such as EUR; without it that of the present budget, or the usual one.
            remove: Whether the budget is removed.
        """
        plan = plan_monthly(category, monthly, currency, remove)
        changed = _sets_budget(plan)
        carry_out(plan)
        assert plan.budget is not None
        name, unit, before, after = plan.budget
        document = {
            "category": name,
            "before": None if before is None else format_amount(before, unit),
            "monthly": None if after is None else format_amount(after, unit),
            "changed": changed,
        }
        return ToolResult(document, plan.title if changed else "nothing changed")

    def read_last() -> tuple[int, str] | None:
        with ledger.reading() as db:
            return last_edit(db)

    def undo(edit_id: int) -> Undone:
        with ledger.writing() as db:
            return take_back(db, _now(), edit_id)

    @registry.register(kind="edit", title="Undo the last change")
    async def undo_edit(*, ctx: ToolContext) -> ToolResult:
        """Take the last change of categories, tags or budgets back. Asks the person first.

        Not for an import: that has `undo_import`.
        """
        last = await asyncio.to_thread(read_last)
        if last is None:
            raise ToolError("there is no change to take back")
        if not _may_edit(ctx):
            await ctx.require_permission(f"Take back: {last[1]}?")
        # The one that was shown, also if another came between.
        done = await asyncio.to_thread(undo, last[0])
        document = {"title": done.title, "restored": done.restored, "kept": done.kept}
        return ToolResult(document, f"taken back: {done.title}")

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


def _sets_budget(plan: EditPlan) -> bool:
    return plan.budget is not None and not plan.is_empty


def _budget_change(budget: tuple[str, str, int | None, int | None]) -> str:
    category, currency, *amounts = budget
    before, after = ("none" if one is None else format_amount(one, currency) for one in amounts)
    return f"The monthly budget of {category}: {before} now, {after} then."


def _budget_currency(db: sqlite3.Connection, category: str) -> str:
    """Give the currency of the present budget of a category; if there is none, the one of most rows."""
    known = db.execute("SELECT currency FROM budgets WHERE category = ?", (category,)).fetchall()
    found = known[0][0] if len(known) == 1 else next(iter(names(db).currencies), None)
    if found is None or len(known) > 1:
        raise ToolError("say of which currency the budget is")
    return found


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
