"""Amounts as banks write them: decimal comma or point, thousands, signs, markers and currencies.

>>> parse_amount("1.234,50 S", "comma").value
Decimal('1234.50')
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Literal, NamedTuple

from trunkline.demos.finance.ledger.results import decimals

DecimalMark = Literal["point", "comma"]
Direction = Literal["out", "in"]

_LONGEST = 48
_SYMBOLS = {
    "€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY", "US$": "USD", "C$": "CAD", "A$": "AUD", "CHF": "CHF",
    "FR.": "CHF", "ZŁ": "PLN", "KČ": "CZK", "₹": "INR", "₽": "RUB", "R$": "BRL", "₺": "TRY",
}  # fmt: skip
# "kr" is none of them: Sweden, Norway, Denmark and Iceland write it.
_OUT = ("d", "dr", "db", "dbit", "debit", "s", "soll", "af", "out", "-", "lastschrift", "sale")
_IN = ("c", "cr", "crdt", "credit", "h", "haben", "bij", "in", "+", "gutschrift", "payment")
_MARKERS: dict[str, Direction] = {**dict.fromkeys(_OUT, "out"), **dict.fromkeys(_IN, "in")}

_AMOUNT = re.compile(
    r"(?P<open>\()?\s*(?P<sign>[+-])?\s*(?P<before>[A-Za-z]{0,3}[^\W\d_]?[$€£¥₹₽₺]|[A-Za-z]{3}|Fr\.|kr\.?|z[łŁ]|K[čČ])?\s*"
    r"(?P<second>[+-])?\s*(?P<number>\d[\d.,' ]*|[.,]\d+)\s*(?P<trailing>[+-])?\s*"
    r"(?P<after>[$€£¥₹₽₺]|[A-Za-z]{3}|kr\.?|Fr\.|z[łŁ]|K[čČ])?\s*(?P<marker>CR|DR|[CDSH])?\s*(?P<close>\))?",
    re.IGNORECASE,
)
_SAME = str.maketrans(
    {
        "\xa0": " ",
        "\u202f": " ",
        "\u2009": " ",
        "\u2019": "'",
        "\u2212": "-",
        "\u2013": "-",
        "\u2012": "-",
        "\uffe5": "¥",
    }
)
_GROUPED = {
    # Groups of three; in India those before the last have two digits.
    "point": re.compile(r"(?:\d+|\d{1,3}([, '])(?:\d{2,3}\1)*\d{3})?(?:\.\d*)?"),
    "comma": re.compile(r"(?:\d+|\d{1,3}([. '])(?:\d{2,3}\1)*\d{3})?(?:,\d*)?"),
}


class Amount(NamedTuple):
    """An amount with its sign as it is written; ``marker`` is a D, C, S or H beside it."""

    value: Decimal
    currency: str | None
    marker: Direction | None


def to_minor(value: Decimal, currency: str) -> int:
    """Give an amount in minor units; ValueError if it has a fraction of one."""
    scaled = value.scaleb(decimals(currency))
    if scaled != scaled.to_integral_value():
        raise ValueError(f"{value} has more digits than {currency} has")
    return int(scaled)


def parse_currency(text: str) -> str | None:
    """Give the ISO code of a code or symbol; None for anything else."""
    word = text.strip().upper()
    return _SYMBOLS.get(word) or (word if re.fullmatch(r"[A-Z]{3}", word) else None)


def parse_direction(text: str) -> Direction | None:
    """Give what a marker such as D, C, Soll or Haben means; None for anything else."""
    return _MARKERS.get(text.strip().strip(".").casefold())


def parse_amount(text: str, decimal: DecimalMark) -> Amount:
    """Read one amount; ValueError if it is none in this style."""
    match = _match(text)
    if match is None:
        raise ValueError("this is no amount")
    number = match["number"].strip()
    if _GROUPED[decimal].fullmatch(number) is None or not any(char.isdigit() for char in number):
        raise ValueError(f"this is no amount with a decimal {decimal}")
    mark, other = (".", ",") if decimal == "point" else (",", ".")
    plain = re.sub(r"[ ']", "", number).replace(other, "").replace(mark, ".")
    value = Decimal(plain)
    signs = [sign for sign in (match["sign"], match["second"], match["trailing"]) if sign]
    if len(signs) > 1 or (signs and match["open"]) or bool(match["open"]) != bool(match["close"]):
        raise ValueError("this amount has more than one sign")
    if match["open"] or signs == ["-"]:
        value = -value
    currencies = {
        code for part in ("before", "after") if match[part] and (code := parse_currency(match[part]))
    }
    marker = parse_direction(match["marker"]) if match["marker"] else None
    return Amount(value, currencies.pop() if len(currencies) == 1 else None, marker)


def looks_like_amount(text: str) -> bool:
    """Whether a cell is an amount in one style or the other."""
    for decimal in ("point", "comma"):
        try:
            parse_amount(text, decimal)
        except ValueError:
            continue
        return True
    return False


def has_fraction(text: str) -> bool:
    """Whether a cell is an amount that shows a part after a comma or point."""
    match = _match(text)
    return match is not None and re.search(r"[.,]\d{2}$", match["number"].strip()) is not None


def detect_decimal(texts: Iterable[str]) -> set[DecimalMark]:
    """Give the styles in which all amounts can be read: one when it is clear, two when it is not.

    Where amounts contradict each other the one that most of them show is given.
    """
    seen: dict[DecimalMark, int] = {"point": 0, "comma": 0}
    unclear = False
    for text in texts:
        match = _match(text)
        if match is None:
            continue
        shown = _decimal_of(match["number"].strip())
        if shown is None:
            unclear = unclear or any(mark in match["number"] for mark in ".,")
        else:
            seen[shown] += 1
    if not any(seen.values()):
        return {"point", "comma"} if unclear else {"point"}
    return {"point" if seen["point"] >= seen["comma"] else "comma"}


def _decimal_of(number: str) -> DecimalMark | None:
    """Give the style that one number proves; ``1,234`` proves nothing."""
    marks = [char for char in number if char in ".,"]
    if not marks:
        return None
    names: dict[str, DecimalMark] = {".": "point", ",": "comma"}
    if len(set(marks)) == 2:
        return names[marks[-1]]
    if len(marks) > 1:
        return "comma" if marks[0] == "." else "point"
    before, after = number.replace(" ", "").replace("'", "").split(marks[0])
    thousands = len(after) == 3 and 1 <= len(before) <= 3 and not before.startswith("0")
    return None if thousands else names[marks[0]]


def _match(text: str) -> re.Match[str] | None:
    if len(text) > _LONGEST:
        return None
    return _AMOUNT.fullmatch(text.translate(_SAME).strip())
