"""Which two periods a comparison is about."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from datetime import date, timedelta

from trunkline.demos.finance.questions.periods import Period, find_periods, month_of

__all__ = ["compared_periods", "name_period_before", "period_before", "year_before"]

_SAME_DAYS = re.compile(r"\bsame (?:days?|time|period)\b")
_A_YEAR_BEFORE = re.compile(
    r"\bsame (?:month|period|time|week|quarter|days?)\b|\byear (?:on|over) year\b|\byoy\b|"
    r"\ba year (?:before|earlier)\b"
)
_BEFORE = re.compile(r"\b(?:in |for )?the (month|week|year) before\b(?! \w)", re.IGNORECASE)
_COMPARES = re.compile(r"\b(?:than|compare[ds]?|versus|vs|against)\b", re.IGNORECASE)
_UNIT_BEFORE = re.compile(r"\b(?:month|week|quarter|year|period|one|time)s? before\b|\bbefore (?:that|it)\b")


def period_before(period: Period) -> Period:
    """Give the period of the same kind right before: a month for a month, else as many days."""
    month = month_of(period.start)
    if period == month:
        return month_of(period.start, 1)
    if period.start == month.start and period.end == month_of(period.end).end:
        months = (period.end.year - period.start.year) * 12 + period.end.month - period.start.month + 1
        return Period(month_of(period.start, months).start, period.start - timedelta(days=1))
    if period.days > 31 and period.start == date(period.start.year, 1, 1):
        # A year that is not over: else it would be as many days at the end of the year before.
        return year_before(period)
    if period.start == month.start and period.end <= month.end:
        # A month that is not over: the same days of the month before.
        before = month_of(period.start, 1)
        return Period(before.start, min(before.end, before.start + timedelta(days=period.days - 1)))
    return Period(period.start - timedelta(days=period.days), period.start - timedelta(days=1))


def year_before(period: Period) -> Period:
    """Give the same days of the year before."""
    return Period(_year_back(period.start), _year_back(period.end, is_end=True))


def _year_back(day: date, *, is_end: bool = False) -> date:
    last = calendar.monthrange(day.year - 1, day.month)[1]
    is_last = day.day == calendar.monthrange(day.year, day.month)[1]
    return date(day.year - 1, day.month, last if is_end and is_last else min(day.day, last))


def compared_periods(
    text: str,
    periods: list[Period],
    today: date,
    earlier: Sequence[Period] = (),
    against: Period | None = None,
) -> tuple[Period, Period]:
    """Choose the period that is asked about and the one it is compared with.

    ``earlier`` are the periods of the questions before, the latest first, which a shorter one goes on with;
    ``against`` is what the latest was compared with.
    """
    before = earlier[0] if earlier else None
    if len(periods) >= 2:
        first, second = periods[0], periods[1]
        if _is_year_for_less(first, second):
            return first, year_before(first)
        if first == second:
            return first, period_before(first)
        if _SAME_DAYS.search(text):
            length = timedelta(days=min(first.days, second.days) - 1)
            first, second = (
                Period(first.start, first.start + length),
                Period(second.start, second.start + length),
            )
        if "than" in text.split():
            return first, second
        return (first, second) if first.start > second.start else (second, first)
    if len(periods) == 1:
        (only,) = periods
        stands_after_than = re.search(
            r"\b(?:than|against|versus|vs|compared (?:to|with)|with|to)\b.*<_period>", text
        )
        if _A_YEAR_BEFORE.search(text):
            asked = before if only.days > 360 and before is not None else only
            return asked, year_before(asked)
        if not stands_after_than:
            return only, period_before(only)
        asked = before or (month_of(today) if only != month_of(today) else only)
        asked = Period(asked.start, min(asked.end, today))
        if before is None and only.start == asked.start:
            return only, period_before(only)
        if _is_year_for_less(asked, only):
            return asked, year_before(asked)
        # "Why more than in September?" after September was asked about too means the one before.
        asked = next((one for one in earlier if one != only), asked)
        return (asked, only) if asked != only else (asked, period_before(asked))
    asked = before or month_of(today, 1)
    if _A_YEAR_BEFORE.search(text):
        return asked, year_before(asked)
    if against is not None and not _UNIT_BEFORE.search(text):
        return asked, against
    return asked, period_before(asked)


def _is_year_for_less(period: Period, other: Period) -> bool:
    """Whether "last year" stands for the same days of last year."""
    return other.days >= 365 > period.days and other.start.year == period.start.year - 1


def name_period_before(text: str, last: Period | None, today: date) -> str:
    """Write the days of "the month before": before the period that a text names, else before the last one."""
    found = _BEFORE.search(text)
    named = next((one.period for one in find_periods(text.lower(), today)), None)
    last = named or last
    if found is None or last is None:
        return text
    if found[1].lower() == "month":
        if named == Period(today.replace(day=1), today) and _COMPARES.search(text):
            return text  # A month that is not over is compared with the same days.
        period = month_of(last.start, 1)
    elif found[1].lower() == "year":
        period = Period(date(last.start.year - 1, 1, 1), date(last.start.year - 1, 12, 31))
    else:
        monday = last.start - timedelta(days=last.start.weekday() + 7)
        period = Period(monday, monday + timedelta(days=6))
    return f"{text[: found.start()]}from {period.start} to {period.end}{text[found.end() :]}"
