"""Answers about spending, income and comparisons: the figure first, then what it stands on."""

from __future__ import annotations

from datetime import date, timedelta
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
from trunkline.demos.finance.ledger.analysis.spending import IN_TIME
from trunkline.demos.finance.ledger.categories import INCOME, TAXONOMY
from trunkline.demos.finance.ledger.results import month_of
from trunkline.demos.finance.questions.intent import Intent
from trunkline.demos.finance.questions.periods import Period
from trunkline.demos.finance.questions.refusals import SHORTEST

__all__ = [
    "TOP",
    "average",
    "breakdown",
    "chart",
    "comparison",
    "counted",
    "income",
    "listing",
    "savings",
    "share",
    "spending",
]


TOP = 5
"""How many a ranking has where no number is said."""


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
    if step.excluding:
        words.append(f"without {join(step.excluding)}")
    return "".join(f" {word}" for word in words)


def _lead(step: Intent, result: Document, today: date) -> str:
    return f"{when(result, today)} you spent {bold(result['totals'])}{_about(step, result)}"


def spending(step: Intent, result: Document, today: date) -> str:
    """Say what was spent."""
    return f"{_lead(step, result, today)}.\n\n{basis(result, today)}"


def counted(step: Intent, result: Document, today: date) -> str:
    """Say how often."""
    rows = count(sum(result["purchases"].values()), "time")
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
    more = int(result.get("groups_left_off", 0))
    if step.what == "top" and by in IN_TIME:
        ranked = _ranked(groups, list(totals), step.count or TOP)
        groups, more = ranked, len(groups) - len(ranked)
    rows = [
        (group["name"], group["amount"], _share(group["amount"], totals), group["rows"]) for group in groups
    ]
    rest = f"\n\n… and {count(more, f'more {by}', _plural(f'more {by}'))}." if more else ""
    title = f"{_lead(step, result, today)}"
    shown = table((by.capitalize(), "Spent", "Share", "Transactions"), rows)
    return f"{title}, by {by}:\n\n{shown}{rest}\n\n{basis(result, today)}"


def _ranked(groups: list[Any], currencies: list[str], most: int) -> list[Any]:
    """Order groups by their amounts, each currency for itself, and keep so many of each."""
    amounts = [(amount_of(group["amount"]), group) for group in groups]
    kept: list[Any] = []
    for currency in currencies:
        own = [(amount, group) for (amount, unit), group in amounts if unit == currency]
        kept += [group for _, group in sorted(own, key=lambda one: -one[0])[:most]]
    return kept


def _plural(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("ry") else f"{word}s"


def _by_currency(texts: list[str]) -> list[tuple[str, Decimal]]:
    return [(currency, amount) for amount, currency in map(amount_of, texts)]


def _share(text: str, totals: dict[str, Decimal]) -> str:
    amount, currency = amount_of(text)
    total = totals.get(currency)
    return f"{amount / total:.0%}" if total and total > 0 and amount >= 0 else ""


def average(step: Intent, result: Document, today: date) -> str:
    """Say what is spent per year, month, week, day or purchase."""
    period = read_period(result["period"])
    per = step.per or "month"
    if per == "purchase":
        return _average_purchase(step, result, today)
    if "ledger" in result:
        # No data is not "nothing": days that the ledger does not have do not count.
        known = read_period(result["ledger"])
        start, end = max(period.start, known.start), min(period.end, known.end)
        period = Period(start, end) if start <= end else period
        days = {"start": period.start.isoformat(), "end": period.end.isoformat()}
        when_known = when({**result, "period": days}, today)
    else:
        when_known = when(result, today)
    if period.days < SHORTEST.get(per, 1):
        return (
            f"{when_known} you spent {bold(result['totals'])}{_about(step, result)}. Your ledger has only "
            f"{count(period.days, 'day')} of what you asked about: too few for an average per {per}.\n\n"
            f"{basis(result, today)}"
        )
    months = _months(period)
    parts = {
        "year": months / 12,
        "month": months,
        "week": Decimal(period.days) / 7,
        "day": Decimal(period.days),
    }[per]
    means = [_divided(text, parts) for text in result["totals"]]
    length = f"{months:.2f}".rstrip("0").rstrip(".")
    whole = count(int(months), "month") if months == int(months) else f"{length} months"
    of = whole if per in ("month", "year") else count(period.days, "day")
    return (
        f"{when_known} you spent {bold(means)} per {per} on average{_about(step, result)}: "
        f"{join(result['totals'] or ['nothing'])} over {of}.\n\n{basis(result, today)}"
    )


def _months(period: Period) -> Decimal:
    """How many months a period has; the days after the last whole one are a part of a month."""
    end = period.end + timedelta(days=1)
    months = (end.year - period.start.year) * 12 + end.month - period.start.month
    months -= end.day < period.start.day
    year, month = divmod(period.start.year * 12 + period.start.month - 1 + months, 12)
    last = month_of(date(year, month + 1, 1))
    rest = end - last.start.replace(day=min(period.start.day, last.end.day))
    return months + Decimal(rest.days) / last.days


def _average_purchase(step: Intent, result: Document, today: date) -> str:
    bought = [
        (text, number)
        for text in result["totals"]
        if (number := int(result["purchases"].get(amount_of(text)[1], 0)))
    ]
    means = [_divided(text, Decimal(number)) for text, number in bought]
    sums = [f"{text} in {count(number, 'purchase')}" for text, number in bought]
    return (
        f"{when(result, today)} you spent {bold(means)} per purchase on average{_about(step, result)}: "
        f"{join(sums or ['nothing'])}.\n\n{basis(result, today)}"
    )


def _divided(text: str, parts: Decimal) -> str:
    amount, currency = amount_of(text)
    exponent = amount.as_tuple().exponent
    assert isinstance(exponent, int)
    return money((amount / parts).quantize(Decimal(1).scaleb(exponent), ROUND_HALF_UP), currency)


def share(step: Intent, result: Document, today: date) -> str:
    """Say which part of the spending something was."""
    totals = dict(_by_currency(result["of_all"]))
    shares = [(one, text) for text in result["totals"] if (one := _share(text, totals))]
    if not shares:
        return spending(step, result, today)
    percents = bold([one for one, _ in shares])
    parts = [f"{text} of {money(totals[unit], unit)}" for _, text in shares if (unit := amount_of(text)[1])]
    inside = step.category is not None and step.merchant is not None
    whole = f"your spending on {step.category}" if inside else "your spending"
    rest = f" without {join(step.excluding)}" if step.excluding else ""
    sentence = f"{step.merchant or step.category}{rest} was {percents} of {whole}: {join(parts)}."
    return f"{when(result, today)} {sentence}\n\n{basis(result, today)}"


def comparison(step: Intent, result: Document, today: date) -> str:
    """Say how two periods differ, and what made the difference."""
    now, before = period_words(result, today), period_words(result, today, "against")
    lines: list[str] = []
    for change in result["changes"]:
        amount, currency = amount_of(change["change"])
        more_or_less = (
            "the same"
            if not amount
            else f"**{money(abs(amount), currency)} {'more' if amount > 0 else 'less'}**"
        )
        percent = f" ({change['percent']})" if change.get("percent") else ""
        lines.append(
            f"You spent {more_or_less}{_about(step, result)} in {now} than in {before}{percent}: "
            f"{change['now']} against {change['before']}."
            if amount
            else f"You spent {more_or_less}{_about(step, result)} in {now} and in {before}: {change['now']}."
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
    part = [one for one in sources if one["name"] == step.category]
    shown = ""
    if sources:
        rows = [(one["name"], one["amount"], one["rows"]) for one in sources]
        shown = f"\n\n{table(('From', 'Received', 'Transactions'), rows)}"
    received = f"{when(result, today)} you received"
    everything = bold(result["income"])
    if step.category in TAXONOMY[INCOME]:
        rows = count(sum(int(one["rows"]) for one in part), "transaction")
        sentence = f"{received} {bold([one['amount'] for one in part])} of {step.category} ({rows})"
        return f"{sentence}. All income together is {everything}.{shown}\n\n{basis(result, today)}"
    return f"{received} {everything}.{shown}\n\n{basis(result, today)}"


def savings(step: Intent, result: Document, today: date) -> str:
    """Say what was left of the income, and which share."""
    sentences: list[str] = []
    for one in result["savings"]:
        amount, currency = amount_of(one["saved"])
        rate = f", a savings rate of **{one['rate']}**" if one.get("rate") else ""
        verb = "saved" if amount >= 0 else "spent more than you received, by"
        sentences.append(
            f"you {verb} **{money(abs(amount), currency)}**{rate} "
            f"({one['income']} received, {one['spent']} spent)"
        )
    figures = "; ".join(sentences) or "nothing came in and nothing was spent"
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
    rest = f" All {total:,} together: {join(result['totals'])}." if total > len(shown) else ""
    spent = f"\n\nTogether {join(sums)}.{rest}" if len(shown) > 1 else ""
    listed = table(("Day", "Merchant", "Amount", "Category", "Account"), rows)
    return f"{head}\n\n{listed}{spent}\n\n{basis(result, today)}"


def chart(step: Intent, result: Document, today: date) -> str:
    """Say what the chart shows; the bars are in the tool's own output."""
    groups: list[Any] = list(result["groups"])
    largest = max(groups, key=lambda group: amount_of(group["amount"])[0], default=None)
    top = f" The largest is {largest['name']} with {largest['amount']}." if largest else ""
    by = str(result.get("by") or step.by)
    if more := int(result.get("groups_left_off", 0)):
        top += f" Not drawn: {count(more, f'smaller {by}', _plural(f'smaller {by}'))}."
    return (
        f"The chart shows your spending{_about(step, result)} by {by} in {period_words(result, today)}: "
        f"{bold(result['totals'])} in total.{top}{_not_in_chart(result)}\n\n{basis(result, today)}"
    )


def _not_in_chart(result: Document) -> str:
    others = list(result.get("not_in_chart", ()))
    return f" Not in it, since a chart has one currency: {join(others)}." if others else ""
