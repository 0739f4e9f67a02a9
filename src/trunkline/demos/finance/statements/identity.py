"""When two rows are the same booking: by the bank's own id, else by account, day, amount, text and count.

Two equal coffees of one day are the first and the second of that day, so they stay two; and a file that shows
that day again shows a first and a second too, so they stay two then as well. For this a file has to show a
day from its beginning, as statements do.

A row that comes from another kind of source (a CSV file after a bank sync) has another identity for the same
booking. It is matched by amount and day instead, and a person is told: see ``match_other_sources``.
"""

from __future__ import annotations

import datetime
import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from trunkline.demos.finance.statements.statement import StatementRow

NEAR_DAYS = 4
"""How far apart two sources may date one booking: a weekend and a holiday."""


def identify_rows(rows: Sequence[StatementRow]) -> list[str]:
    """Give the identity of each row of one account in one file.

    An id of the bank counts together with the amount: some banks use one again. Ids that a file has for
    several different bookings identify none, and the text is used for those.
    """
    meant: dict[tuple[str, int], set[tuple[datetime.date, str]]] = {}
    for row in rows:
        if row.native_id is not None:
            meant.setdefault((row.native_id, row.amount), set()).add((row.posted, _fold(row.description)))
    seen: dict[str, int] = {}
    identities: list[str] = []
    for row in rows:
        if row.native_id is not None and len(meant[row.native_id, row.amount]) == 1:
            identities.append(_digest("id", row.native_id, str(row.amount)))
            continue
        key = _digest("text", row.posted.isoformat(), str(row.amount), row.currency, _fold(row.description))
        seen[key] = seen.get(key, 0) + 1
        identities.append(f"{key}:{seen[key]}")
    return identities


def kind_of(identity: str) -> str:
    """Give the kind of source that an identity comes from: id, text, plaid, or another word."""
    return identity.partition(":")[0]


class Known(NamedTuple):
    """A transaction of the ledger that a row may be."""

    transaction_id: int
    posted: datetime.date
    amount: int
    currency: str
    identities: frozenset[str]
    description: str


class Candidate(NamedTuple):
    """A row that no identity knows."""

    number: int
    posted: datetime.date
    amount: int
    currency: str
    identity: str


def match_other_sources(candidates: Iterable[Candidate], ledger: Iterable[Known]) -> dict[int, Known]:
    """Give for a row the transaction from another kind of source that it probably is; each is given once.

    The amount and the currency are the same and the days are near; the nearest day wins. Transactions that
    already have an identity of this kind are known to be other bookings.
    """
    by_amount: dict[tuple[int, str], list[Known]] = {}
    for known in ledger:
        by_amount.setdefault((known.amount, known.currency), []).append(known)
    pairs: list[tuple[int, int, int, Candidate, Known]] = []
    for candidate in candidates:
        for known in by_amount.get((candidate.amount, candidate.currency), ()):
            apart = abs((candidate.posted - known.posted).days)
            kinds = {kind_of(one) for one in known.identities}
            if apart <= NEAR_DAYS and kind_of(candidate.identity) not in kinds:
                pairs.append((apart, candidate.number, known.transaction_id, candidate, known))
    matched: dict[int, Known] = {}
    taken: set[int] = set()
    for _, index, transaction_id, _, known in sorted(pairs, key=lambda pair: pair[:3]):
        if index not in matched and transaction_id not in taken:
            matched[index] = known
            taken.add(transaction_id)
    return matched


def _digest(kind: str, *parts: str) -> str:
    return f"{kind}:{hashlib.sha256(chr(31).join(parts).encode('utf-8', 'replace')).hexdigest()[:32]}"


def _fold(text: str) -> str:
    """Give a text without case and blanks: banks change both between two downloads."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())
