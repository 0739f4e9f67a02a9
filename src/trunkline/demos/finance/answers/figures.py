"""Answers about spending, income and comparisons: the figure first, then what it stands on."""

from __future__ import annotations

from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from trunkline.demos.finance.answers.phrases import (
    Document,
    add_up,
    amount_of,
    basis,
    bold,
    count,
    join,
    money,
    period_words,
    read_period,
    table,
    when,
)
from trunkline.demos.finance.questions.intent import Intent

__all__ = [
    "average",
    "breakdown",
    "chart",
    "comparison",
    "counted",
    "income",
    "listing",
    "savings",
    "spending",
]


def _about(step: Intent, result: Document) -> str:
    """What the figure is about: " on Groceries", " at Rewe"."""
    named = result.get("named", {})
    words: list[str] = []
    if step.category:
        words.append(f"on {step.category}")
    if step.merchant:
        words.append(f"at {step.merchant}")
    if step.account:
        words.append(f"from {named.get('account', step.account)}")
    if step.tag:
        words.append(f"tagged {step.tag}")
    if step.currency:
        words.append(f"in {step.currency}")
    return "".join(f" {word}" for word in words)


def _lead(step: Intent, result: Document, today: date) -> str:
    return f"{when(result, today)} you spent {bold(result['totals'])}{_about(step, result)}"


def spending(step: Intent, result: Document, today: date) -> str:
    """Say what was spent."""
    return f"{_lead(step, result, today)}.\n\n{basis(result, today)}"


def counted(step: Intent, result: Document, today: date) -> str:
    """Say how often."""
    rows = count(int(result["rows"]), "time")
    about = _about(step, result).replace(" on ", " for ", 1)
    return (
        f"{when(result, today)} you paid **{rows}**{about}, {bold(result['totals'])} in total.\n\n"
        f"{basis(result, today)}"
    )


def breakdown(step: Intent, result: Document, today: date) -> str:
    """Say what was spent, by category, merchant, month or account."""
    groups: list[Any] = list(result["groups"])
    by = str(result.get("by") or step.by)
    if not groups:
        return f"{_lead(step, result, today)}.\n\n{basis(result, today)}"
    totals = dict(_by_currency(result["totals"]))
    rows = [
        (group["name"], group["amount"], _share(group["amount"], totals), group["rows"]) for group in groups
    ]
    more = int(result.get("groups_left_off", 0))
    rest = f"\n\n… and {count(more, f'more {by}', _plural(f'more {by}'))}." if more else ""
    title = f"{_lead(step, result, today)}"
    shown = table((by.capitalize(), "Spent", "Share", "Transactions"), rows)
    return f"{title}, by {by}:\n\n{shown}{rest}\n\n{basis(result, today)}"


def _plural(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def _by_currency(texts: list[str]) -> list[tuple[str, Decimal]]:
    return [(currency, amount) for amount, currency in map(amount_of, texts)]


def _share(text: str, totals: dict[str, Decimal]) -> str:
    amount, currency = amount_of(text)
    total = totals.get(currency)
    return f"{amount / total:.0%}" if total and total > 0 and amount >= 0 else ""


def average(step: Intent, result: Document, today: date) -> str:
    """Say what is spent per month, week or day."""
    period = read_period(result["period"])
    per = step.per or "month"
    months = (period.end.year - period.start.year) * 12 + period.end.month - period.start.month + 1
    parts = {"month": Decimal(months), "week": Decimal(period.days) / 7, "day": Decimal(period.days)}[per]
    means = [_divided(text, parts) for text in result["totals"]]
    of = f"{count(months, 'month')}" if per == "month" else count(period.days, "day")
    return (
        f"{when(result, today)} you spent {bold(means)} per {per} on average{_about(step, result)}: "
        f"{join(result['totals'] or ['nothing'])} over {of}.\n\n{basis(result, today)}"
    )


def _divided(text: str, parts: Decimal) -> str:
    amount, currency = amount_of(text)
    exponent = amount.as_tuple().exponent
    assert isinstance(exponent, int)
    return money((amount / parts).quantize(Decimal(1).scaleb(exponent), ROUND_HALF_UP), currency)


def comparison(step: Intent, result: Document, today: date) -> str:
    """Say how two periods differ, and what made the difference."""
    now, before = period_words(result, today), period_words(result, today, "against")
    lines: list[str] = []
    for change in result["changes"]:
        amount, currency = amount_of(change["change"])
        said = (
            "the same"
            if not amount
            else f"**{money(abs(amount), currency)} {'more' if amount > 0 else 'less'}**"
        )
        percent = f" ({change['percent']})" if change.get("percent") else ""
        lines.append(
            f"You spent {said}{_about(step, result)} in {now} than in {before}{percent}: "
            f"{change['now']} against {change['before']}."
            if amount
            else f"You spent {said}{_about(step, result)} in {now} and in {before}: {change['now']}."
        )
    if not lines:
        lines.append(f"You spent nothing{_about(step, result)} in {now} or in {before}.")
    drivers: list[Any] = list(result["drivers"])
    made = ""
    if drivers:
        rows = [(one["name"], one["now"], one["before"], one["change"], one["reason"]) for one in drivers]
        head = (str(result.get("by", "category")).capitalize(), "Now", "Before", "Change", "Why")
        made = f"\n\nWhat made the difference:\n\n{table(head, rows)}"
    if read_period(result["period"]).end == today and _is_open(step, today):
        made += f"\n\nThe first period is not over: it ends today, {today.day} {today:%B}."
    return f"{' '.join(lines)}{made}\n\n{basis(result, today)}"


def _is_open(step: Intent, today: date) -> bool:
    return step.period is not None and step.against is not None and step.period.days < step.against.days


def income(step: Intent, result: Document, today: date) -> str:
    """Say what came in, and from whom."""
    sources: list[Any] = list(result["sources"])
    shown = ""
    if sources:
        rows = [(one["name"], one["amount"], one["rows"]) for one in sources]
        shown = f"\n\n{table(('From', 'Received', 'Transactions'), rows)}"
    received = f"{when(result, today)} you received {bold(result['income'])}"
    return f"{received}.{shown}\n\n{basis(result, today)}"


def savings(step: Intent, result: Document, today: date) -> str:
    """Say what was left of the income, and which share."""
    said: list[str] = []
    for one in result["savings"]:
        amount, currency = amount_of(one["saved"])
        rate = f", a savings rate of **{one['rate']}**" if one.get("rate") else ""
        verb = "saved" if amount >= 0 else "spent more than you received, by"
        said.append(
            f"you {verb} **{money(abs(amount), currency)}**{rate} "
            f"({one['income']} received, {one['spent']} spent)"
        )
    figures = "; ".join(said) or "nothing came in and nothing was spent"
    return f"{when(result, today)} {figures}.\n\n{basis(result, today)}"


def listing(step: Intent, result: Document, today: date) -> str:
    """Show transactions."""
    shown: list[Any] = list(result["transactions"])
    if not shown:
        return f"There are no such transactions.\n\n{basis(result, today)}"
    rows = [(one["day"], one["merchant"], one["amount"], one["category"], one["account"]) for one in shown]
    total = int(result["rows"])
    order = "largest" if step.order == "largest" else "latest"
    head = (
        f"{count(total, 'transaction')}{_about(step, result)}:"
        if total == len(shown)
        else f"The {order} {len(shown)} of {count(total, 'transaction')}{_about(step, result)}:"
    )
    sums = add_up(one["amount"] for one in shown)
    spent = f"\n\nTogether {join(sums)}." if len(shown) > 1 else ""
    listed = table(("Day", "Merchant", "Amount", "Category", "Account"), rows)
    return f"{head}\n\n{listed}{spent}\n\n{basis(result, today)}"


def chart(step: Intent, result: Document, today: date) -> str:
    """Say what the chart shows; the bars are in the tool's own output."""
    groups: list[Any] = list(result["groups"])
    top = f" The largest is {groups[0]['name']} with {groups[0]['amount']}." if groups else ""
    by = str(result.get("by") or step.by)
    return (
        f"The chart shows your spending{_about(step, result)} by {by} in {period_words(result, today)}: "
        f"{bold(result['totals'])} in total.{top}\n\n{basis(result, today)}"
    )
