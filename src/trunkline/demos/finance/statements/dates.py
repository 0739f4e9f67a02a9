"""Dates as banks write them, and the order of day, month and year that a whole column shows."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal

DateOrder = Literal["ymd", "dmy", "mdy"]

_LONGEST = 40
_NUMBERS = re.compile(r"(\d{1,4})([./\- ])(\d{1,2})\2(\d{1,4})(?:[T ,].*)?")
_COMPACT = re.compile(r"(\d{8})(?:[T ].*)?")
_NAME_SECOND = re.compile(r"(\d{1,2})\.?[ \-/]([^\W\d_]{3,10})\.?[ \-/,]+(\d{2,4})(?:[T ,].*)?")
_NAME_FIRST = re.compile(r"([^\W\d_]{3,10})\.? (\d{1,2}),? (\d{4})(?:[T ,].*)?")
_ORDERS: tuple[DateOrder, ...] = ("ymd", "dmy", "mdy")
_YEARS = range(1970, 2100)
# The first letters of the names in English, German, French, Spanish, Italian and Dutch; the longest decides.
_MONTHS = {
    **dict.fromkeys(("jan", "ene", "gen"), 1),
    **dict.fromkeys(("feb", "fev", "febr"), 2),
    **dict.fromkeys(("mar", "maer", "mrz", "mrt", "maa"), 3),
    **dict.fromkeys(("apr", "avr", "abr"), 4),
    **dict.fromkeys(("may", "mai", "mag", "mei"), 5),
    **dict.fromkeys(("jun", "juin", "giu"), 6),
    **dict.fromkeys(("jul", "juil", "lug"), 7),
    **dict.fromkeys(("aug", "aou", "ago"), 8),
    **dict.fromkeys(("sep", "set"), 9),
    **dict.fromkeys(("oct", "okt", "ott"), 10),
    **dict.fromkeys(("nov",), 11),
    **dict.fromkeys(("dec", "dez", "dic"), 12),
}


def parse_date(text: str, order: DateOrder) -> datetime.date:
    """Read one date, with or without a time behind it; ValueError if it is none in this order."""
    text = text.strip()
    if len(text) > _LONGEST:
        raise ValueError("this is no date")
    if match := _NUMBERS.fullmatch(text):
        first, second, third = match[1], match[3], match[4]
        if len(first) == 3 or len(third) == 3 or (len(third) == 1 and len(first) != 4):
            raise ValueError("this is no date")
        if len(first) == 4:
            return _date(first, second, third)  # A year in front is always followed by the month.
        if order == "ymd":
            if len(third) == 4:
                raise ValueError("the year is not in front")
            return _date(first, second, third)
        return _date(third, second, first) if order == "dmy" else _date(third, first, second)
    if match := _COMPACT.fullmatch(text):
        digits = match[1]
        parts = {
            "ymd": (digits[:4], digits[4:6], digits[6:]),
            "dmy": (digits[4:], digits[2:4], digits[:2]),
            "mdy": (digits[4:], digits[:2], digits[2:4]),
        }
        return _date(*parts[order])
    if match := _NAME_SECOND.fullmatch(text):
        return _date(match[3], str(_month(match[2])), match[1])
    if match := _NAME_FIRST.fullmatch(text):
        return _date(match[3], str(_month(match[1])), match[2])
    raise ValueError("this is no date")


def looks_like_date(text: str) -> bool:
    """Whether a cell is a date in some order."""
    return any(_reads(text, order) for order in _ORDERS)


def reads_as_date(text: str, order: DateOrder) -> bool:
    """Whether a cell is a date in this order."""
    return _reads(text, order) is not None


def detect_order(texts: Iterable[str]) -> Sequence[DateOrder]:
    """Give the orders in which the dates can be read: one when it is clear, none when there are no dates.

    Two are given only if every date fits both, or if some fit only the one and others only the other.
    """
    fits: list[dict[str, datetime.date]] = []
    dotted = False
    for text in texts:
        read: dict[str, datetime.date] = {
            order: date for order in _ORDERS if (date := _reads(text, order)) is not None
        }
        if read:
            fits.append(read)
            dotted = dotted or "." in text[:3]
    if not fits:
        return ()
    same = all(len(set(read.values())) == 1 and len(read) == 3 for read in fits)
    if same:
        # A year in front or a month by its name: every order reads the same.
        return ("ymd",)
    counts = {order: sum(order in read for read in fits) for order in _ORDERS}
    day_first = sum("dmy" in read and "mdy" not in read for read in fits)
    month_first = sum("mdy" in read and "dmy" not in read for read in fits)
    if counts["ymd"] > max(counts["dmy"], counts["mdy"]) or (
        counts["ymd"] == len(fits) and day_first and month_first
    ):
        return ("ymd",)
    if bool(day_first) != bool(month_first):
        return ("dmy",) if day_first else ("mdy",)
    if dotted and not month_first:
        return ("dmy",)  # Nobody writes month.day.year.
    return ("dmy", "mdy")


def _reads(text: str, order: DateOrder) -> datetime.date | None:
    try:
        return parse_date(text, order)
    except ValueError:
        return None


def _date(year: str, month: str, day: str) -> datetime.date:
    full = int(year) + (2000 if len(year) == 2 else 0)
    if len(year) not in (2, 4) or full not in _YEARS:
        raise ValueError(f"{year} is no year")
    return datetime.date(full, int(month), int(day))


def _month(name: str) -> int:
    plain = name.casefold().replace("ä", "ae")
    plain = "".join(char for char in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(char))
    for length in (4, 3):
        if plain[:length] in _MONTHS:
            return _MONTHS[plain[:length]]
    raise ValueError(f"{name} is no month")
