"""Tools that read figures.

Their descriptions say what they are for and what not: a model must not read a budget as what was spent, nor
add up single transactions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, Literal

from msgspec.structs import replace

from trunkline.demos.finance.ledger.analysis.accounts import accounts as read_accounts
from trunkline.demos.finance.ledger.analysis.accounts import names
from trunkline.demos.finance.ledger.analysis.budgets import budget_status
from trunkline.demos.finance.ledger.analysis.charges import list_charges
from trunkline.demos.finance.ledger.analysis.comparison import compare
from trunkline.demos.finance.ledger.analysis.income import income
from trunkline.demos.finance.ledger.analysis.spending import spend
from trunkline.demos.finance.ledger.analysis.subscriptions import subscriptions as read_subscriptions
from trunkline.demos.finance.ledger.analysis.unusual import double_charges
from trunkline.demos.finance.ledger.analysis.unusual import unusual_charges as read_unusual
from trunkline.demos.finance.ledger.analysis.why import why
from trunkline.demos.finance.ledger.categories import find_category
from trunkline.demos.finance.ledger.database import Ledger
from trunkline.demos.finance.ledger.errors import LedgerError
from trunkline.demos.finance.ledger.results import Period, decimals, month_of
from trunkline.demos.finance.ledger.selection import Filters
from trunkline.demos.finance.questions.periods import BEGINNING
from trunkline.demos.finance.tools import documents
from trunkline.tools import ToolError, ToolRegistry, ToolResult

__all__ = [
    "DUE_DAYS",
    "Today",
    "minor_units",
    "name_account",
    "read_filters",
    "read_period",
    "register_figures",
]

Today = Callable[[], date]
GroupBy = Literal["category", "merchant", "month", "account", "tag", "week", "day"]
DUE_DAYS = 30
_MOST = 10**12


def read_period(start: str | None, end: str | None, today: date) -> Period:
    """Read the days of a call; without a start from the beginning, without an end up to today."""
    first, last = _day(start, BEGINNING), _day(end, today)
    if first > last:
        raise ToolError(f"the period ends before it begins: start {first}, end {last}")
    return Period(first, last)


def _day(text: str | None, default: date) -> date:
    if not text:
        return default
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ToolError(f"{text!r} is no day: write it as YYYY-MM-DD") from None


def read_filters(
    category: str | None = None,
    merchant: str | None = None,
    account: str | None = None,
    tag: str | None = None,
    currency: str | None = None,
    excluding: Sequence[str] | None = None,
) -> Filters:
    """Read the filters of a call; a category by any of its names."""
    return Filters(
        category=None if category is None else find_category(category),
        merchant=merchant,
        account=account,
        tag=tag,
        currency=currency,
        excluding=tuple(map(_left_out, excluding or ())),
    )


def _left_out(name: str) -> str:
    """Give the category that a name means; another name is that of a merchant."""
    try:
        return find_category(name)
    except LedgerError:
        return name


def minor_units(amount: float, currency: str | None) -> int:
    """Give an amount in the minor units of its currency; most have hundredths."""
    if not abs(amount) < _MOST:
        raise ToolError(f"{amount} is no amount: give one below {_MOST:,}")
    return round(amount * 10 ** decimals((currency or "").upper()))


def only_currency(known: Sequence[str]) -> str | None:
    """Give the currency that an amount without one is of, where that makes a difference, else None."""
    if len({decimals(one) for one in known} | {2}) == 1:
        return None
    if len(known) == 1:
        return known[0]
    raise ToolError(f"the ledger has {', '.join(known)}: say of which currency the minimum is")


def name_account(ledger: Ledger, document: dict[str, Any], account: str | None) -> dict[str, Any]:
    """Call an account in a result by its name, in place of its id."""
    if account is None:
        return document
    with ledger.reading() as db:
        called = {one.id: one.name for one in read_accounts(db).accounts}
    name = called.get(account, account)
    filters = [f"account {name}" if one == f"account {account}" else one for one in document["filters"]]
    return {**document, "filters": filters, "named": {"account": name}}


def register_figures(registry: ToolRegistry, ledger: Ledger, today: Today) -> None:
    """Add the tools that read figures."""

    def named(document: dict[str, Any], account: str | None) -> dict[str, Any]:
        return name_account(ledger, document, account)

    @registry.register(kind="read", title="Add up spending")
    def spending(
        start: str | None = None,
        end: str | None = None,
        category: str | None = None,
        merchant: str | None = None,
        account: str | None = None,
        tag: str | None = None,
        currency: str | None = None,
        excluding: list[str] | None = None,
        group_by: GroupBy | None = None,
        limit: int | None = None,
        share: bool = False,
    ) -> ToolResult:
        """Add up what was really spent in a period, in all or in groups.

        For questions such as "how much did I spend on groceries last month" and "top merchants". Transfers
        between own accounts and card payments are left out, refunds are netted, and each currency has its own
        total. Not for budgets (a plan), not for income, not for single transactions.

        Args:
            start: The first day, YYYY-MM-DD; without it from the beginning.
            end: The last day, included, YYYY-MM-DD; without it today.
            category: A category or a group of categories.
            merchant: The name of a merchant as the ledger has it.
            account: The name or id of an account.
            tag: A tag.
            currency: A currency such as EUR.
            excluding: Categories, groups or merchants that do not count.
            group_by: By what the total is split.
            limit: How many groups to give, the largest first.
            share: Whether to give also ``of_all``: the totals that these are a part of. Those are of the
                category if a merchant in it is asked about, else of all spending.
        """
        filters = read_filters(category, merchant, account, tag, currency, excluding)
        with ledger.reading() as db:
            period = read_period(start, end, today())
            most = None if limit is None else max(1, limit)
            result = spend(db, period, filters, by=group_by, limit=most)
            document = documents.spending_document(result)
            if share:
                inside = filters.category if merchant else None
                wider = replace(filters, merchant=None, category=inside, excluding=())
                document["of_all"] = [str(money) for money in spend(db, period, wider).totals]
        return documents.for_people(named(document, account))

    @registry.register(kind="read", title="Compare spending")
    def compare_spending(
        start: str,
        end: str,
        against_start: str,
        against_end: str,
        category: str | None = None,
        merchant: str | None = None,
        account: str | None = None,
        tag: str | None = None,
        currency: str | None = None,
        excluding: list[str] | None = None,
    ) -> ToolResult:
        """Compare what was spent in two periods, with what makes the difference.

        For "why was October higher than September". ``drivers`` are the categories (within one category: the
        merchants) that changed most, each with its reason. Not for comparing with a budget.

        Args:
            start: The first day of the period that is asked about, YYYY-MM-DD.
            end: Its last day, included.
            against_start: The first day of the period to compare with.
            against_end: Its last day, included.
            category: A category or a group of categories.
            merchant: The name of a merchant as the ledger has it.
            account: The name or id of an account.
            tag: A tag.
            currency: A currency such as EUR.
            excluding: Categories, groups or merchants that do not count.
        """
        filters = read_filters(category, merchant, account, tag, currency, excluding)
        now = read_period(start, end, today())
        before = read_period(against_start, against_end, today())
        with ledger.reading() as db:
            result = compare(db, now, before, filters)
        by = "merchant" if category or merchant else "category"
        return documents.for_people(named(documents.comparison_document(result, by=by), account))

    @registry.register(kind="read", title="List transactions")
    def list_transactions(
        start: str | None = None,
        end: str | None = None,
        category: str | None = None,
        merchant: str | None = None,
        account: str | None = None,
        tag: str | None = None,
        currency: str | None = None,
        excluding: list[str] | None = None,
        minimum: float | None = None,
        order: Literal["newest", "largest"] = "newest",
        limit: int = 10,
    ) -> ToolResult:
        """List single charges and refunds, the newest or the largest first.

        For "show my purchases at Rewe" and "biggest expenses". Not for totals: a list is cut at its limit, so
        use `spending` to add up. Transfers and income are not in it.

        Args:
            start: The first day, YYYY-MM-DD; without it from the beginning.
            end: The last day, included; without it today.
            category: A category or a group; Uncategorized for what has none.
            merchant: The name of a merchant as the ledger has it.
            account: The name or id of an account.
            tag: A tag.
            currency: A currency such as EUR.
            excluding: Categories, groups or merchants that do not count.
            minimum: Only charges of at least so much, in the units of the currency, such as 99.50.
            order: Newest or largest first.
            limit: How many to give, at most 100.
        """
        with ledger.reading() as db:
            if minimum is not None and currency is None:
                currency = only_currency(names(db).currencies)
            filters = read_filters(category, merchant, account, tag, currency, excluding)
            if minimum is not None:
                filters = replace(filters, minimum=minor_units(minimum, currency))
            period = read_period(start, end, today())
            result = list_charges(db, period, filters, order=order, limit=max(1, min(limit, 100)))
        return documents.for_people(named(documents.charges_document(result), account))

    @registry.register(kind="read", title="Income and savings")
    def income_and_savings(start: str, end: str) -> ToolResult:
        """Give what came in, what was spent, and how much of the income was saved in a period.

        For "what is my savings rate". Savings are income less spending, also where the money stays on the
        checking account. Not for the balance of a savings account.

        Args:
            start: The first day, YYYY-MM-DD.
            end: The last day, included.
        """
        with ledger.reading() as db:
            result = income(db, read_period(start, end, today()))
        return documents.for_people(documents.income_document(result))

    @registry.register(kind="read", title="Look for unusual charges")
    def unusual_charges(
        start: str | None = None,
        end: str | None = None,
        only_double: bool = False,
        category: str | None = None,
        merchant: str | None = None,
        account: str | None = None,
    ) -> ToolResult:
        """Find charges far above what is usual for their merchant or category, or charges that came twice.

        A hint to look at, never a proof of fraud.

        Args:
            start: The first day, YYYY-MM-DD; without it from the beginning.
            end: The last day, included; without it today.
            only_double: Find charges that came twice instead.
            category: A category or a group of categories.
            merchant: The name of a merchant as the ledger has it.
            account: The name or id of an account.
        """
        period, filters = read_period(start, end, today()), read_filters(category, merchant, account)
        with ledger.reading() as db:
            if only_double:
                document = documents.double_document(double_charges(db, period, filters))
            else:
                document = documents.unusual_document(read_unusual(db, period, filters))
        return documents.for_people(named(document, account))

    @registry.register(kind="read", title="Find subscriptions")
    def subscriptions(
        merchant: str | None = None, category: str | None = None, account: str | None = None
    ) -> ToolResult:
        """Find what is charged again and again: its price, price rises, and what is due in the next 30 days.

        For subscriptions, memberships and regular bills. Not for one-off purchases.

        Args:
            merchant: Only those of one merchant.
            category: Only those of a category or a group of categories.
            account: Only those that are charged to this account, by its name or id.
        """
        filters = read_filters(category, merchant, account)
        with ledger.reading() as db:
            result = read_subscriptions(db, today(), due_within=DUE_DAYS, filters=filters)
        return documents.for_people(named(documents.subscriptions_document(result, DUE_DAYS), account))

    @registry.register(kind="read", title="Check budgets")
    def budgets(category: str | None = None, month: str | None = None) -> ToolResult:
        """Tell how a month's spending stands against the monthly budgets.

        ``budget`` is what was planned, ``spent`` is what was really spent, ``left`` is the rest. For "am I
        within budget" only: to say what was spent use `spending`.

        Args:
            category: Only the budget of one category.
            month: A day of the month, YYYY-MM-DD; without it the present month.
        """
        wanted = None if category is None else find_category(category)
        with ledger.reading() as db:
            result = budget_status(db, today(), month_of(_day(month, today())))
        return documents.for_people(documents.budgets_document(result, wanted))

    @registry.register(kind="read", title="List accounts")
    def list_accounts() -> ToolResult:
        """List the accounts with masked numbers, and what their transactions add up to.

        The sum is the balance only if the ledger has every transaction since the account was opened.
        """
        with ledger.reading() as db:
            result = read_accounts(db)
        days = [one.first for one in result.accounts if one.first is not None]
        period = Period(min(days, default=today()), today())
        sql = (
            "SELECT account, currency, sum(amount), count(*), max(posted) FROM entries "
            "GROUP BY account, currency"
        )
        return documents.for_people(documents.accounts_document(result, period, sql))

    @registry.register(kind="read", title="Explain the category of {merchant}")
    def explain_category(merchant: str) -> ToolResult:
        """Tell why a merchant has its category: by whom or by which rule.

        Args:
            merchant: The name of a merchant as the ledger has it.
        """
        with ledger.reading() as db:
            found = db.execute(
                "SELECT max(id), count(*) FROM entries WHERE merchant = ? COLLATE NOCASE", (merchant,)
            ).fetchone()
            if found[0] is None:
                raise ToolError(f"the ledger has no transaction of {merchant!r}")
            reason = why(db, found[0])
        document = {
            "merchant": reason.merchant,
            "category": reason.category,
            "why": reason.because,
            "rows": found[1],
        }
        return ToolResult(document, f"{reason.category}: {reason.because}")
