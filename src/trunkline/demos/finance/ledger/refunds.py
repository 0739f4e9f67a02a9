"""Finds the charge that money which came back belongs to. Pure.

It is a charge of the same merchant in the same currency, of the last ``WINDOW`` days, of which at least that
much was not refunded yet. A charge of exactly that amount is taken before a larger one, one in the same
account before another, a late one before an early one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

WINDOW = 180
"""How many days after its charge a refund may come."""


class Charge(NamedTuple):
    """Money that went out to a merchant, or came back from one."""

    id: int
    account: str
    day: date
    amount: int
    currency: str
    merchant: str
    identity: str
    certain: bool = True
    """Whether it is sure that this came back from a merchant; if not, only its own account is searched."""


def find_refunds(charges: Iterable[Charge], returns: Iterable[Charge]) -> dict[int, int]:
    """Give the id of the charge for the id of each return that has one; ``amount`` is negative in charges."""
    known: dict[tuple[str, str], list[Charge]] = defaultdict(list)
    for charge in charges:
        known[charge.merchant, charge.currency].append(charge)
    left: dict[int, int] = {}
    pairs: dict[int, int] = {}
    for back in sorted(returns, key=lambda one: (one.day, one.account, one.identity)):
        fits = [
            charge
            for charge in known.get((back.merchant, back.currency), ())
            if 0 <= (back.day - charge.day).days <= WINDOW
            and left.get(charge.id, -charge.amount) >= back.amount
            and (back.certain or charge.account == back.account)
        ]
        if fits:
            best = max(fits, key=lambda charge: _fitness(charge, back, left.get(charge.id, -charge.amount)))
            left[best.id] = left.get(best.id, -best.amount) - back.amount
            pairs[back.id] = best.id
    return pairs


def _fitness(charge: Charge, back: Charge, left: int) -> tuple[bool, bool, date, str, str]:
    exact = left == back.amount == -charge.amount
    return exact, charge.account == back.account, charge.day, charge.account, charge.identity
