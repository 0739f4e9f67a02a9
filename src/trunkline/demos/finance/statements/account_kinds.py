"""Tells the kind of an account by words: in its name, its file's name, the lines above a table. Pure.

The kind counts: a payment to a card is no spending, and a card's own rows are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from trunkline.demos.finance.statements.statement import AccountKind, StatementError

KINDS: dict[AccountKind, str] = {
    "checking": "a checking or current account",
    "savings": "a savings account",
    "card": "a credit card",
    "cash": "cash",
}
"""The kinds, as a form names them."""

_ALL: dict[AccountKind, str] = {
    "card": "card|cards|creditcard|kreditkarte|kreditkarten|kreditkartenabrechnung|kartennummer|"
    "visa|mastercard|amex|carte|tarjeta|carta|barclaycard",
    "savings": "savings|saving|tagesgeld|tagesgeldkonto|festgeld|sparkonto|sparbuch|epargne|livret|ahorro|"
    "ahorros|risparmio|spaarrekening",
    "cash": "cash|wallet|bargeld|especes|efectivo|contanti",
    "checking": "checking|current|giro|girokonto|courant|depot|corriente|corrente|betaalrekening|"
    "kontokorrent",
}
_WORDS: dict[AccountKind, frozenset[str]] = {
    kind: frozenset(words.split("|")) for kind, words in _ALL.items()
}
_BILL_PAID = re.compile(
    r"\b(payment|pymt|pmt)\b.{0,20}\bthank you\b|\bthank you for your payment\b|\bbesten dank\b|"
    r"\bpaiement re[cç]u\b",
    re.IGNORECASE,
)
"""What a card's statement says of the payment of its bill."""
_DEBIT = frozenset({"debit", "debito", "girocard", "bankkarte"})
"""With one of these words a card is that of a checking account."""


def kind_by_words(*texts: str) -> AccountKind | None:
    """Give the kind that the first of these texts names; None if none does, or one names several."""
    for text in texts:
        parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)  # "PerformanceSavings" are two words.
        for words in (_words(text), _words(parted)):
            found: list[AccountKind] = [kind for kind, own in _WORDS.items() if words & own]
            if words & _DEBIT:
                return "checking"
            if len(found) == 1:
                return found[0]
    return None


def _words(text: str) -> set[str]:
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    return set(re.split(r"[^a-z]+", plain))


def kind_by_bookings(bookings: Iterable[tuple[str, int]]) -> AccountKind | None:
    """Give the kind that bookings, as (description, amount), tell: a bill that was paid is a card's."""
    paid = any(amount > 0 and _BILL_PAID.search(text) for text, amount in bookings)
    return "card" if paid else None


def read_kind(answer: object) -> AccountKind:
    """Read the kind that a person chose."""
    for kind in KINDS:
        if answer == kind:
            return kind
    raise StatementError(f"account_kind is {answer!r}: it must be one of {', '.join(KINDS)}")
