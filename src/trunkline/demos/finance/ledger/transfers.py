"""Finds the two sides of money that moves between own accounts, card payments too. Pure.

Two transactions are one transfer if they are in different accounts, have opposite amounts in one currency,
are at most ``WINDOW`` days apart, and one of them says so: by the words of a bank, or by naming the other
account. Where both name the same person on nearly the same day, that is their owner. What is known as a
purchase, a bill or an income is none, however well an amount fits; unless both sides name the account of
the other ("Withdrawal to Savings 9876"), or a bank pays into another own account for a purchase there: the
one side names that account, and the other says that it was filled. Of several that fit, the clearest words
count first, then the nearest days.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

from trunkline.demos.finance.ledger.words import contains, fold

WINDOW = 5
"""How many days a transfer may take: a weekend and a holiday."""
SAME_PERSON_WINDOW = 3
"""How many days apart two sides that only name the same person may be."""
_WORDS = (
    "transfer",
    "transfers",
    "uberweisung",
    "ueberweisung",
    "dauerauftrag",
    "standing order",
    "sparen",
    "savings",
    "sparkonto",
    "payment",
    "ausgleich",
    "xfer",
    "kreditkarte",
    "credit card",
    "american express",
    "amex",
)


_AT_A_SHOP = (
    *("card payment", "card purchase", "contactless", "kartenzahlung", "pos purchase"),
    *("purchase authorized", "debit card purchase", "paiement par carte", "compra con tarjeta"),
)
"""How descriptions begin that tell a purchase, whatever else they say."""


class Leg(NamedTuple):
    """A transaction that may be one side of a transfer."""

    id: int
    account: str
    day: date
    amount: int
    currency: str
    folded: str
    identity: str
    names_transfer: bool
    """Whether its own words say that it is a transfer, so that it counts as one also without a pair."""
    names: tuple[str, ...]
    """By which folded words the other side may name this account."""
    bought: bool = False
    """Whether its words tell a purchase or an income."""


def account_names(name: str, number: str, institution: str) -> tuple[str, ...]:
    """Give the folded words that name an account: its name, its institution, and the end of its number."""
    digits = "".join(filter(str.isalnum, number)).lower()
    found = [fold(name).strip(), fold(institution).strip(), digits, digits[-4:] if len(digits) > 4 else ""]
    return tuple(words for words in dict.fromkeys(found) if len(words) > 2)


def find_transfers(legs: Iterable[Leg]) -> list[tuple[int, int]]:
    """Give the pairs of ids: the side that goes out, and the side that comes in.

    The order of the legs and their ids do not matter, so it is the same however they were imported.
    """
    outgoing: dict[tuple[str, int], list[Leg]] = defaultdict(list)
    incoming: list[Leg] = []
    for leg in legs:
        if leg.amount < 0:
            outgoing[leg.currency, -leg.amount].append(leg)
        elif leg.amount > 0:
            incoming.append(leg)
    fits = [
        (rank, out.id, into.id)
        for into in incoming
        for out in outgoing.get((into.currency, into.amount), ())
        if (rank := _rank(out, into)) is not None
    ]
    return _take(fits)


def find_exchanges(legs: Sequence[Leg]) -> list[tuple[int, int]]:
    """Give the pairs between two currencies: both sides say so, and nothing else fits."""
    if len({leg.currency for leg in legs}) < 2:
        return []
    outgoing = [leg for leg in legs if leg.amount < 0 and leg.names_transfer]
    incoming = [leg for leg in legs if leg.amount > 0 and leg.names_transfer]
    found: list[tuple[int, int]] = []
    for into in incoming:
        near = [out for out in outgoing if _exchanges(out, into)]
        if len(near) == 1 and sum(_exchanges(near[0], other) for other in incoming) == 1:
            found.append((near[0].id, into.id))
    return found


def _exchanges(out: Leg, into: Leg) -> bool:
    apart = abs((out.day - into.day).days)
    return out.currency != into.currency and out.account != into.account and apart <= WINDOW


_Rank = tuple[int, int, date, str, str, str, str]


def _rank(out: Leg, into: Leg) -> _Rank | None:
    """How well two sides fit, the best first; None if they do not."""
    apart = abs((out.day - into.day).days)
    if out.account == into.account or apart > WINDOW:
        return None
    named = {one.id: _names(one, other) for one, other in ((out, into), (into, out))}
    if not all(named.values()) and any(
        one.bought and not (other.names_transfer and named[one.id])
        for one, other in ((out, into), (into, out))
    ):
        return None
    tells_transfer = out.names_transfer or into.names_transfer or named[out.id]
    if out.folded.strip().startswith(_AT_A_SHOP) and not tells_transfer:
        return None
    evidence = _evidence(out, into) + _evidence(into, out)
    if not evidence and apart <= SAME_PERSON_WINDOW and _name_one_person(out, into):
        evidence = 1
    if not evidence:
        return None
    return (-evidence, apart, out.day, out.account, out.identity, into.account, into.identity)


def _names(leg: Leg, other: Leg) -> bool:
    return any(contains(leg.folded, words) for words in other.names)


def _evidence(leg: Leg, other: Leg) -> int:
    return (
        3 * _names(leg, other) + 2 * leg.names_transfer + any(contains(leg.folded, words) for words in _WORDS)
    )


def _name_one_person(out: Leg, into: Leg) -> bool:
    """Whether both begin with the same two words: the bank of each names the owner as the other side."""
    names = out.folded.split()[:2]
    return len(names) == 2 and all(map(str.isalpha, names)) and into.folded.split()[:2] == names


def _take(fits: list[tuple[_Rank, int, int]]) -> list[tuple[int, int]]:
    taken: set[int] = set()
    pairs: list[tuple[int, int]] = []
    for _, out, into in sorted(fits):
        if out not in taken and into not in taken:
            taken |= {out, into}
            pairs.append((out, into))
    return pairs
