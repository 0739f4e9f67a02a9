"""Answers about unusual charges, subscriptions, budgets and accounts."""

from __future__ import annotations

from datetime import date
from typing import Any

from trunkline.demos.finance.answers.phrases import (
    Document,
    amount_of,
    basis,
    bold,
    count,
    join,
    period_words,
    table,
    when,
)
from trunkline.demos.finance.questions.intent import Intent

__all__ = ["accounts", "budgets", "due", "price_rises", "subscriptions", "unusual"]


def unusual(step: Intent, result: Document, today: date) -> str:
    """Show charges that stand out, with the reason."""
    charges: list[Any] = list(result["charges"])
    what = "double charge" if step.what == "double_charges" else "unusual charge"
    if not charges:
        return f"{when(result, today)} I find no {what}s.\n\n{basis(result, today)}"
    rows = [(one["day"], one["merchant"], one["amount"], one["why"]) for one in charges]
    return (
        f"{when(result, today)} I find {count(len(charges), what)}:\n\n"
        f"{table(('Day', 'Merchant', 'Amount', 'Why'), rows)}\n\n{basis(result, today)}"
    )


def subscriptions(step: Intent, result: Document, today: date) -> str:
    """Show what is charged again and again."""
    found: list[Any] = list(result["subscriptions"])
    if not found:
        return f"I find no subscriptions.\n\n{basis(result, today)}"
    rows = [(one["merchant"], one["amount"], one["every"], one["next"], _rise(one)) for one in found]
    return (
        f"{count(len(found), 'subscription')}, together {bold(result['monthly'])} per month:\n\n"
        f"{table(('Merchant', 'Amount', 'Every', 'Next', 'Price rise'), rows)}\n\n{basis(result, today)}"
    )


def _rise(one: Any) -> str:
    rise = one.get("rise")
    return f"{rise['before']} to {rise['now']} on {rise['since']}" if rise else ""


def price_rises(step: Intent, result: Document, today: date) -> str:
    """Show the subscriptions that got dearer."""
    dearer = [one for one in result["subscriptions"] if one.get("rise")]
    if not dearer:
        name = f" of {step.merchant}" if step.merchant else ""
        return f"I find no price rise{name} in your subscriptions.\n\n{basis(result, today)}"
    rows = [
        (
            one["merchant"],
            one["rise"]["before"],
            one["rise"]["now"],
            one["rise"]["percent"],
            one["rise"]["since"],
        )
        for one in dearer
    ]
    return (
        f"{count(len(dearer), 'subscription')} got dearer:\n\n"
        f"{table(('Merchant', 'Before', 'Now', 'Rise', 'Since'), rows)}\n\n{basis(result, today)}"
    )


def due(step: Intent, result: Document, today: date) -> str:
    """Show what will be charged soon."""
    soon: list[Any] = list(result["due"])
    if not soon:
        return f"No subscription is due in the next {result['due_days']} days.\n\n{basis(result, today)}"
    rows = [(one["next"], one["merchant"], one["amount"]) for one in soon]
    return (
        f"Due in the next {result['due_days']} days, {bold(result['due_total'])} in "
        f"{count(len(soon), 'charge')}:\n\n"
        f"{table(('Day', 'Merchant', 'Amount'), rows)}\n\n{basis(result, today)}"
    )


def budgets(step: Intent, result: Document, today: date) -> str:
    """Say how the budgets stand."""
    found: list[Any] = list(result["budgets"])
    if not found:
        name = f" for {step.category}" if step.category else ""
        return f"There is no budget{name}.\n\n{basis(result, today)}"
    if len(found) == 1:
        (one,) = found
        lead = (
            f"You have spent **{one['spent']}** of the {one['budget']} budget for {one['category']} in "
            f"{period_words(result, today)}: **{one['left']}** left, {one['pace']}."
        )
        return f"{lead}\n\n{basis(result, today)}"
    names = [str(one["category"]) for one in found]
    # A category may have a budget in each of several currencies.
    sentences = [
        f"{name} ({amount_of(one['budget'])[1]})" if names.count(name) > 1 else name
        for name, one in zip(names, found, strict=True)
    ]
    over = [name for name, one in zip(sentences, found, strict=True) if one["state"] == "over"]
    risky = [name for name, one in zip(sentences, found, strict=True) if one["state"] == "ahead"]
    verdict = f"Over budget: {join(over)}." if over else "No budget is used up."
    verdict += f" Spent faster than the month passes: {join(risky)}." if risky else ""
    rows = [(one["category"], one["spent"], one["budget"], one["left"], one["pace"]) for one in found]
    listed = table(("Category", "Spent", "Budget", "Left", "Pace"), rows)
    return f"{verdict}\n\n{listed}\n\n{basis(result, today)}"


def accounts(step: Intent, result: Document, today: date) -> str:
    """Show the accounts."""
    found: list[Any] = list(result["accounts"])
    rows = [
        (
            one["name"],
            one["kind"],
            one["number"],
            one["institution"],
            one["balance"],
            one["rows"],
            one["last"],
        )
        for one in found
    ]
    head = ("Account", "Kind", "Number", "Institution", "Sum of its transactions", "Transactions", "Latest")
    return f"{count(len(found), 'account')}:\n\n{table(head, rows)}\n\n{basis(result, today)}"
