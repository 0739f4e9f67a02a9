"""Finds out what the columns of a CSV file hold: by their names first, then by their cells.

What cannot be told stays open in the draft, for one question to a person. A column with running balances
proves which sign is money out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import permutations, takewhile

import msgspec

from trunkline.demos.finance.statements.amounts import (
    has_fraction,
    looks_like_amount,
    parse_currency,
    parse_direction,
)
from trunkline.demos.finance.statements.balances import count_explained, proven_sign
from trunkline.demos.finance.statements.csv_cells import COMMON_CURRENCIES, Cells, currencies_in, value_of
from trunkline.demos.finance.statements.csv_layout import Table, normalise
from trunkline.demos.finance.statements.dates import detect_order, looks_like_date
from trunkline.demos.finance.statements.header_words import Role, is_foreign, is_sorting, roles_of
from trunkline.demos.finance.statements.mapping import Draft

_ALL = {
    "pending": """pending|vorgemerkt|pendiente|authorised|authorized|offen|reserviert|processing|en attente|
        in sospeso|umsatz vorgemerkt|ausstehend|on hold|held|in progress|unclaimed|scheduled|en cours|a venir|
        in attesa|in elaborazione|in behandeling|gereserveerd|reserverad|reserveret|reservert|venter|vantar|
        odottaa|katevaraus|pendente|w realizacji|oczekujaca""",
    "void": """reverted|failed|declined|cancelled|canceled|rejected|abgelehnt|storniert|denied|refused|voided|
        expired|fehlgeschlagen|zuruckgewiesen|annule|annulee|refuse|refusee|rifiutato|annullato|rechazado|
        cancelado|geannuleerd|geweigerd|afvist|annulleret|avvist|makulerad|hylatty""",
    "done": """completed|posted|gebucht|booked|cleared|settled|complete|done|comptabilise|executed|verbucht|
        paid|umsatz gebucht|abgeschlossen""",
}
_WORDS = {name: frozenset(map(str.strip, words.split("|"))) for name, words in _ALL.items()}
PENDING, VOID, DONE = _WORDS["pending"], _WORDS["void"], _WORDS["done"]
_ACCOUNT_NUMBER = re.compile(r"(?:[\dX*] ?){8}")
_ENOUGH = 0.8
_WORD = re.compile(r"\b[^\W\d_]+\b")
_SHORTEST_ID = 6


def draft_mapping(table: Table) -> Draft:
    """Tell as much about the columns as the file shows."""
    return _Columns(table).draft()


class _Columns(Cells):
    """The columns of one table, and which of them are taken."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        names = [normalise(cell) for cell in table.header or ()]
        self._names = [names[index] if index < len(names) else "" for index in range(self.width)]
        self._roles = [roles_of(name) for name in self._names]
        self._taken: set[int] = set()

    def draft(self) -> Draft:
        """Take the columns role by role; those whose cells prove them come first."""
        date = self._take("date", looks_like_date) if self._named("date") else None
        if date is None:
            date = self._take("value_date", looks_like_date)
        if date is None:
            date = self._only(looks_like_date)
        debit = self._take("debit", looks_like_amount, enough=0.0)
        credit = self._take("credit", looks_like_amount, enough=0.0)
        # A file may have payments only: the other column is empty in it, and will not be in the next.
        if credit is None and debit is not None:
            credit = self._take_empty("credit")
        if debit is None and credit is not None:
            debit = self._take_empty("debit")
        amount = None
        if debit is None or credit is None:
            # A column "Debit" alone may be the amount of a card, and "Credit" a kind of booking.
            amount = self._take("amount", looks_like_amount)
            if amount is not None:
                self._taken.difference_update(index for index in (debit, credit) if index is not None)
                debit = credit = None
        balance = self._take("balance", looks_like_amount)
        if amount is None and debit is None and credit is None:
            amount, balance = self._unnamed_amount(balance, date)
        if amount is None and debit is None and credit is None and balance is None:
            debit, credit, balance = self._unnamed_sides(date)
        currency = self.common_currency(amount, debit, credit, balance)
        currency_column = self._currency_column(amount, debit, credit)
        # One word that is known shows what the column is, in whatever words a bank says that a row is final.
        status = self._take("status", _is_status, enough=0.0)
        marker = self._take("marker", _is_direction)
        if marker is None and self.table.header is not None:
            # One German bank has S and H in a column without a name.
            marker = self._only(_is_direction, lambda index: not self._names[index])
        native_id = next(filter(self._identifies, self._named("native_id")), None)
        account_column = self._own_account()
        named = [index for index in (amount, debit, credit, balance) if index is not None]
        # Where a person will choose the column, those that it may be show how it is written.
        decimal = self.decimal_mark(named or [at for at in range(self.width) if self._may_be_amount(at)])
        if decimal is None:
            decimal = self.decimal_of_currency(currency_column, currency, amount, debit, credit)
        orders = detect_order(self.cells[date]) if date is not None else ()
        draft = Draft(
            date=date,
            date_order=orders[0] if len(orders) == 1 else None,
            decimal=decimal,
            amount=amount,
            debit=debit,
            credit=credit,
            balance=balance,
            currency_column=currency_column,
            status=status,
            marker=marker,
            native_id=native_id,
            account_column=account_column,
            currency=currency,
            amounts_name_currency=self.amounts_name_currency(amount, debit, credit),
        )
        sign, used_marker = self.sign(draft)
        if marker is not None and not used_marker:
            self._taken.discard(marker)
        draft = msgspec.structs.replace(draft, sign=sign, marker=marker if used_marker else None)
        fee = self._fee(draft)
        texts, fallback = self._texts()
        return msgspec.structs.replace(draft, fee=fee, texts=texts, fallback_text=fallback)

    # -- one column for a role ---------------------------------------------------------------------

    def _named(self, role: Role) -> list[int]:
        free = [
            index for index in range(self.width) if role in self._roles[index] and index not in self._taken
        ]
        return sorted(free, key=lambda index: self._roles[index][role])

    def _take(self, role: Role, check: Callable[[str], bool], enough: float = _ENOUGH) -> int | None:
        for index in self._named(role):
            if self.holds(index, check, enough):
                self._taken.add(index)
                return index
        return None

    def _take_empty(self, role: Role) -> int | None:
        for index in self._named(role):
            if not self.cells[index]:
                self._taken.add(index)
                return index
        return None

    def _only(
        self, check: Callable[[str], bool], among: Callable[[int], bool] = lambda index: True
    ) -> int | None:
        """Give the one column whose cells fit; None if there are none or several."""
        found = [
            index
            for index in range(self.width)
            if index not in self._taken and among(index) and self.holds(index, check, _ENOUGH)
        ]
        if len(found) != 1:
            return None
        self._taken.add(found[0])
        return found[0]

    def _may_be_amount(self, index: int) -> bool:
        is_date = self.holds(index, looks_like_date, _ENOUGH)
        return not is_date and self.holds(index, has_fraction, 0.5)

    def _unnamed_amount(self, balance: int | None, date: int | None) -> tuple[int | None, int | None]:
        """Find the amount among columns without a name that is known; two may be amount and balance."""
        exact, order = self._unnamed_amounts(date), self.newest_first(date)
        if len(exact) == 1:
            self._taken.add(exact[0])
            return exact[0], balance
        if len(exact) == 2 and balance is None:
            for amount, other in (exact, exact[::-1]):
                decimal = self.decimal_mark(exact)
                if (
                    decimal
                    and proven_sign(self.pairs(amount, other, decimal), newest_first=order) is not None
                ):
                    self._taken |= {amount, other}
                    return amount, other
        return None, balance

    def _unnamed_amounts(self, date: int | None) -> list[int]:
        # A line above the bookings may have a balance in a column of its own.
        dated = [
            one.cells
            for one in self.records
            if date is None or looks_like_date("".join(one.cells[date : date + 1]))
        ]
        found = [
            index
            for index in range(self.width)
            if index not in self._taken
            and not self._roles[index]
            and any("".join(cells[index : index + 1]).strip() for cells in dated)
            and self.holds(index, looks_like_amount, _ENOUGH)
            and not self.holds(index, looks_like_date, _ENOUGH)
        ]
        return [index for index in found if self._may_be_amount(index)] or found

    def _unnamed_sides(self, date: int | None) -> tuple[int | None, int | None, int | None]:
        """Find debit, credit and balance among columns without a name: the balances prove which is which."""
        found, order = self._unnamed_amounts(date), self.newest_first(date)
        decimal = self.decimal_mark(found)
        if len(found) != 3 or decimal is None:
            return None, None, None
        for debit, credit, balance in permutations(found):
            pairs: list[tuple[Decimal, Decimal]] = []
            for record in self.records:
                out, into, left = (
                    value_of(record.cells[at], decimal) if at < len(record.cells) else None
                    for at in (debit, credit, balance)
                )
                if left is not None and (out is None) is not (into is None):
                    pairs.append(((into or Decimal()) - (out or Decimal()), left))
            whole = len(pairs) == len(self.records)
            if whole and proven_sign(pairs, newest_first=order) == "negative_is_out":
                self._taken |= set(found)
                return debit, credit, balance
        return None, None, None

    def _currency_column(self, *amounts: int | None) -> int | None:
        """Find the column with the currency of the amounts; None if their own header names it."""
        header = self.table.header or ()
        named = {
            code for index in amounts if index is not None and header for code in currencies_in(header[index])
        }
        if len(named) == 1:
            # A column beside "Amount (EUR)" has the currency in which a shop asked for it.
            return None
        found = self._take("currency", lambda cell: parse_currency(cell) is not None)
        if found is not None:
            return found
        return self._only(
            lambda cell: cell in COMMON_CURRENCIES, lambda index: not is_foreign(self._names[index])
        )

    def _fee(self, draft: Draft) -> int | None:
        """Find fees that are not in the amounts: the running balances have gone down by both."""
        if draft.amount is None or draft.balance is None or draft.decimal is None:
            return None
        if draft.sign not in ("negative_is_out", "positive_is_out"):
            return None
        for index in self._named("fee"):
            if not self.holds(index, looks_like_amount, _ENOUGH):
                continue
            factor = 1 if draft.sign == "negative_is_out" else -1
            alone: list[tuple[Decimal, Decimal]] = []
            less: list[tuple[Decimal, Decimal]] = []
            for record in self.records:
                moved, fee, left = (
                    value_of(record.cells[column], draft.decimal) if column < len(record.cells) else None
                    for column in (draft.amount, index, draft.balance)
                )
                if moved is not None and left is not None:
                    alone.append((moved * factor, left))
                    less.append((moved * factor - (fee or 0), left))
            if count_explained(less) > count_explained(alone):
                self._taken.add(index)
                return index
        return None

    def _own_account(self) -> int | None:
        """Find the column with the own account: the partner's changes from row to row, ours does not."""
        above = " ".join(cell for record in self.table.preamble for cell in record.cells)
        is_named = _ACCOUNT_NUMBER.search(above) is not None
        for index in self._named("account"):
            cells = self.cells[index]
            name = normalise(self.table.header[index]) if self.table.header else ""
            partner = name in ("iban", "kontonummer", "name", "karte", "card", "konto")
            few = len(set(cells)) <= max(1, len(cells) // 3)
            full = len(cells) >= _ENOUGH * len(self.records)
            one = len(cells) >= 3 and len(set(cells)) == 1 and not is_named
            if cells and full and few and (one or not partner):
                self._taken.add(index)
                return index
        return None

    def _identifies(self, index: int) -> bool:
        """Whether cells can be the bank's own ids: numbers of rows come again in the next file."""
        cells = self.cells[index]
        return len(set(cells)) == len(cells) and all(len(cell) >= _SHORTEST_ID for cell in cells)

    def _texts(self) -> tuple[tuple[int, ...], int | None]:
        """Give the columns of the description, who first; then the kind of booking as a fallback."""
        payee = self._named("payee")[:2]
        if len(payee) == 2 and self._is_owner(payee[1]):
            payee.pop()  # "Naam" beside "Naam tegenpartij" is the person whose account it is.
        named = [index for index in self._named("text") if index not in payee]
        # "Details" may hold nothing but DEBIT and CREDIT.
        texts = [index for index in named if not self.holds(index, _is_direction, _ENOUGH)]
        text = (texts or named)[:3]
        kind = [index for index in self._named("type") if index not in (*payee, *text)]
        # Also those that are empty in this file: the description must be the same one in the next.
        chosen = [*payee, *text, *self._continued(text)]
        if not any(self._names_somebody(index) for index in chosen):
            free = [
                index
                for index in range(self.width)
                if index not in (*self._taken, *chosen)
                and self._is_text(index)
                and not is_sorting(self._names[index])
            ]
            chosen = [index for index in chosen if not self.cells[index]]
            longest = sorted(free, key=lambda index: -sum(map(len, set(self.cells[index]))))
            # At one German bank "Buchungstext" is the whole description, and not the kind of booking.
            kind = [index for index in kind if index != next(iter(longest), None)]
            chosen += [index for index in longest if index not in kind][:2]
            if not longest:
                kind += [index for index in range(self.width) if is_sorting(self._names[index])]
        fallback = next(iter(kind), None)
        return tuple(chosen), fallback

    def _continued(self, text: Sequence[int]) -> list[int]:
        """Give the columns without a name behind the last one of the description: it goes on in them."""
        after = range(text[-1] + 1, self.width) if text and self.table.header else ()
        return list(takewhile(self._goes_on, after))

    def _goes_on(self, index: int) -> bool:
        is_free = not self._names[index] and index not in self._taken
        return is_free and not self.holds(index, looks_like_amount, _ENOUGH)

    def _is_owner(self, index: int) -> bool:
        """Whether each of some rows has the same name: nobody is paid each time."""
        cells = self.cells[index]
        return len(cells) == len(self.records) >= 3 and len(set(cells)) == 1

    def _names_somebody(self, index: int) -> bool:
        """Whether cells have a word that is no reference such as 1U3C21GQ."""
        return any(_WORD.search(cell) for cell in self.cells[index])

    def _is_text(self, index: int) -> bool:
        cells = self.cells[index]
        words = sum(bool(_WORD.search(cell)) and not looks_like_amount(cell) for cell in cells)
        return bool(cells) and words >= 0.5 * len(cells)


def _is_direction(cell: str) -> bool:
    return parse_direction(cell) is not None


def _is_status(cell: str) -> bool:
    return normalise(cell) in PENDING | VOID | DONE
