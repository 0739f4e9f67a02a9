"""Periods in English: "last month", "October 2025", "Q3", "since March", "between 3 May and 9 June".

The first and the last day belong to a period. A month or a day without a year is the latest one that has
begun. "Last 3 months" are the three whole months before this one; "last 30 days" end today. The weeks of a
month are its first seven days, the next seven, and so on.
"""

from __future__ import annotations

import calendar
import difflib
import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import NamedTuple

from trunkline.demos.finance.ledger import results
from trunkline.demos.finance.ledger.results import Period

__all__ = ["BEGINNING", "Found", "Period", "describe_period", "find_periods", "mend_months", "month_of"]

BEGINNING = date(1900, 1, 1)
"""The start of a period that has no start."""

_MONTHS = [name.lower() for name in calendar.month_name]
_SHORT = {name[:3]: at for at, name in enumerate(_MONTHS) if name} | {"sept": 9}
_DAYS = [name.lower() for name in calendar.day_name]
_NUMBER_NAMES = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {word: at for at, word in enumerate(_NUMBER_NAMES.split())}
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}


class Found(NamedTuple):
    """A period in a text, and where it stands there."""

    period: Period
    begin: int
    end: int


class _Atom(NamedTuple):
    period: Period
    end: int
    has_year: bool = True


# -- calendar --------------------------------------------------------------------------------------


def month_of(day: date, back: int = 0) -> Period:
    """Give the month of a day, or the one so many months before it."""
    year, month = divmod(day.year * 12 + day.month - 1 - back, 12)
    return results.month_of(date(year, month + 1, 1))


def _week_of(day: date, back: int = 0) -> Period:
    monday = day - timedelta(days=day.weekday() + 7 * back)
    return Period(monday, monday + timedelta(days=6))


def _quarter(year: int, number: int) -> Period:
    return Period(date(year, 3 * number - 2, 1), month_of(date(year, 3 * number, 1)).end)


def _quarter_of(day: date, back: int = 0) -> Period:
    year, number = divmod(day.year * 4 + (day.month - 1) // 3 - back, 4)
    return _quarter(year, number + 1)


def _year(year: int) -> Period:
    return Period(date(year, 1, 1), date(year, 12, 31))


def _unit(unit: str, today: date, back: int) -> Period:
    """A calendar unit, so many units back; the present one ends today."""
    if unit == "day":
        day = today - timedelta(days=back)
        return Period(day, day)
    whole = {
        "week": lambda: _week_of(today, back),
        "weekend": lambda: _weekend(today, back),
        "month": lambda: month_of(today, back),
        "quarter": lambda: _quarter_of(today, back),
        "year": lambda: _year(today.year - back),
    }[unit]()
    return _until(whole, today)


def _weekend(today: date, back: int) -> Period:
    saturday = _week_of(today, back).start + timedelta(days=5)
    return Period(saturday, saturday + timedelta(days=1))


def _until(period: Period, today: date) -> Period:
    return Period(period.start, today) if period.start <= today < period.end else period


def _rolling(unit: str, count: int, today: date) -> Period:
    if unit in ("day", "week"):
        return Period(today - timedelta(days=count * (7 if unit == "week" else 1) - 1), today)
    if unit == "year":
        return Period(_same_day(today, today.year - count) + timedelta(days=1), today)
    months = count * (3 if unit == "quarter" else 1)
    return Period(month_of(today, months).start, month_of(today, 1).end)


def _same_day(day: date, year: int) -> date:
    return date(year, day.month, min(day.day, calendar.monthrange(year, day.month)[1]))


def _latest(month: int, day: int | None, today: date, year: int | None) -> Period | None:
    """A month or a day of the given year, else the latest that has begun."""
    try:
        if year is None:
            year = today.year if date(today.year, month, day or 1) <= today else today.year - 1
        if day is not None:
            return Period(date(year, month, day), date(year, month, day))
        return _until(month_of(date(year, month, 1)), today)
    except ValueError:
        return None


# -- one period in words ---------------------------------------------------------------------------

_MONTH = rf"(?P<month>{'|'.join(_MONTHS[1:])}|sept|{'|'.join(_SHORT)})\.?"
_YEAR = (
    r"(?:,? ?(?:of )?(?P<year>(?:19|20)\d\d)\b| '(?P<short>\d\d)\b| (?:of )?(?P<relative>last|this) year\b|"
    r" (?P<ago>a|one|two|three|four|\d) years? ago\b)"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)}|couple of|few)"
_UNITS = r"(?P<unit>day|week|weekend|month|quarter|year)"
_PAST_WORDS = "last|past|previous|preceding|prior"
_PAST = f"(?:{_PAST_WORDS})"

_Maker = Callable[[re.Match[str], date, int | None], "tuple[Period | None, bool]"]


def _year_in(found: re.Match[str], today: date, default: int | None) -> tuple[int | None, bool]:
    groups = found.groupdict()
    if groups.get("year"):
        return int(groups["year"]), True
    if groups.get("short"):
        return 2000 + int(groups["short"]), True
    if groups.get("relative"):
        return today.year - (groups["relative"] == "last"), True
    if groups.get("ago"):
        return today.year - (1 if groups["ago"] == "a" else _count(groups["ago"])), True
    return default, False


def _month(found: re.Match[str], today: date, year: int | None) -> tuple[Period | None, bool]:
    wanted, given = _year_in(found, today, year)
    number = _SHORT[found["month"][:3]]
    groups = found.groupdict()
    if groups.get("which") == "last" and wanted is None:
        # "last October" said in October is a year ago.
        latest = _latest(number, None, today, None)
        wanted = latest.start.year - (latest.start.month == today.month) if latest else None
    day = int(groups["day"]) if groups.get("day") else None
    if day is not None and wanted is None and _is_short_year(found) and 2000 + day <= today.year:
        return _latest(number, None, today, 2000 + day), True
    return _latest(number, day, today, wanted), given


def _is_short_year(found: re.Match[str]) -> bool:
    """Whether it is "in Oct 25": one asks what was *in* a month and *on* a day."""
    return found.string[: found.start()].endswith("in ") and bool(re.fullmatch(r"[a-z]+\.? \d\d", found[0]))


def _iso_day(found: re.Match[str], today: date, year: int | None) -> tuple[Period | None, bool]:
    try:
        day = date(int(found["year"]), int(found["month"]), int(found["day"]))
    except ValueError:
        return None, True
    return Period(day, day), True


def _iso_month(found: re.Match[str], today: date, year: int | None) -> tuple[Period | None, bool]:
    month = int(found["month"])
    return (_latest(month, None, today, int(found["year"])) if 1 <= month <= 12 else None), True


def _parts_of_year(found: re.Match[str], today: date, year: int | None) -> tuple[Period | None, bool]:
    wanted, given = _year_in(found, today, year)
    word = found["number"]
    is_half = found["part"].startswith("h")
    number = (2 if is_half else 4) if word in ("last", "final") else _ORDINALS.get(word) or int(word)
    if number > (2 if is_half else 4):
        return None, given

    def whole(year: int) -> Period:
        if not is_half:
            return _quarter(year, number)
        return Period(_quarter(year, 2 * number - 1).start, _quarter(year, 2 * number).end)

    period = whole(today.year if wanted is None else wanted)
    if wanted is None and period.start > today:
        period = whole(today.year - 1)
    return _until(period, today), given


def _relative(found: re.Match[str], today: date, year: int | None) -> tuple[Period | None, bool]:
    word = found["which"].split()[-1]
    back = {"this": 0, "current": 0, "before": 2}.get(word, 1)
    return _unit(found["unit"], today, back), True


def _counted(found: re.Match[str], today: date, year: int | None) -> tuple[Period | None, bool]:
    count = _count(found["count"])
    return (_rolling(found["unit"], count, today) if 0 < count < 1000 else None), True


def _ago(found: re.Match[str], today: date, year: int | None) -> tuple[Period | None, bool]:
    count = 1 if found["count"] in ("a", "an") else _count(found["count"])
    unit = found["unit"]
    if unit == "year":
        return _unit("year", today, count), True
    return _unit(unit, today, count), True


def _count(word: str) -> int:
    return int(word) if word.isdigit() else {"couple of": 2, "few": 3}.get(word, _NUMBERS.get(word, 0))


def _weekday(found: re.Match[str], today: date, year: int | None) -> tuple[Period | None, bool]:
    back = (today.weekday() - _DAYS.index(found["weekday"])) % 7 or 7
    day = today - timedelta(days=back)
    return Period(day, day), True


def _whole_year(found: re.Match[str], today: date, year: int | None) -> tuple[Period | None, bool]:
    return _until(_year(int(found["year"])), today), True


def _constant(make: Callable[[date], Period]) -> _Maker:
    return lambda found, today, year: (make(today), True)


def _days_back(count: int) -> Callable[[date], Period]:
    return lambda today: Period(today - timedelta(days=count), today - timedelta(days=count))


_RULES: list[tuple[re.Pattern[str], _Maker]] = [
    (re.compile(pattern + r"(?![\w])"), make)
    for pattern, make in (
        (r"the day before yesterday", _constant(_days_back(2))),
        (r"yesterday", _constant(_days_back(1))),
        (r"today", _constant(_days_back(0))),
        (r"(?:year to date|ytd|so far this year)", _constant(lambda today: _unit("year", today, 0))),
        (r"(?:month to date|mtd|so far this month)", _constant(lambda today: _unit("month", today, 0))),
        (r"(?:all time|ever|of all times?|overall)", _constant(lambda today: Period(BEGINNING, today))),
        (r"(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d)", _iso_day),
        (r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>(?:19|20)\d\d)", _iso_day),
        (r"(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)(?!-)", _iso_month),
        (
            rf"(?P<part>q)(?P<number>[1-4]){_YEAR}?",
            _parts_of_year,
        ),
        (
            r"(?:the )?(?P<number>first|second|third|fourth|1st|2nd|3rd|4th) (?P<part>quarter|half)"
            rf"(?: in| of)?{_YEAR}?",
            _parts_of_year,
        ),
        (rf"(?:the )?(?P<number>last|final) (?P<part>quarter|half)(?: in)?{_YEAR}", _parts_of_year),
        (rf"(?P<part>h)(?P<number>[12]){_YEAR}?", _parts_of_year),
        (rf"(?:the )?{_DAY}(?: of)? {_MONTH}{_YEAR}?", _month),
        (rf"{_MONTH} (?:the )?{_DAY}(?!\d){_YEAR}?", _month),
        (rf"(?P<relative>last|this) year,? in {_MONTH}", _month),
        (rf"(?P<year>(?:19|20)\d\d),? in {_MONTH}", _month),
        (rf"(?:(?P<which>last|this|past) )?{_MONTH}{_YEAR}?", _month),
        (rf"(?:the )?{_PAST} {_COUNT} {_UNITS}s?", _counted),
        (rf"(?P<count>\d{{1,3}}|an?|{'|'.join(_NUMBERS)}) {_UNITS}s? ago", _ago),
        (rf"(?:the )?(?P<which>{_PAST_WORDS}|this|current) {_UNITS}", _relative),
        (rf"(?:the )?{_UNITS} (?P<which>before) last", _relative),
        (rf"(?:last |on |this past )?(?P<weekday>{'|'.join(_DAYS)})", _weekday),
        (r"(?P<year>(?:19|20)\d\d)(?!-?\d)", _whole_year),
    )
]

_PLACES = {**_ORDINALS, "last": 0}
_PART = re.compile(
    rf"(?:the )?(?P<place>{'|'.join(_PLACES)}) "
    rf"(?:(?P<unit>week|half)|(?P<count>\d\d?|{'|'.join(_NUMBERS)}) days) "
    rf"(?:of|in) (?:the month of )?{_MONTH}{_YEAR}?(?!\w)"
)
_TO_DAY = r" ?(?:and|to|until|till|through|-|\u2013) ?(?:the )?(?P<last>\d{1,2})(?:st|nd|rd|th)?"
_DAYS_FIRST = re.compile(rf"(?:(?:between|from) )?(?:the )?{_DAY}{_TO_DAY}(?: of)? {_MONTH}{_YEAR}?(?!\w)")
_MONTH_FIRST = re.compile(
    rf"(?:(?:between|from) )?{_MONTH} (?:the )?{_DAY}{_TO_DAY}{_YEAR}?(?![\w.-])"
    rf"(?! (?:of )?(?:{'|'.join(_SHORT)}))"
)
_AFTER = re.compile(r"after (?:the )?(?:end of )?")


def _part_of_month(text: str, at: int, today: date) -> _Atom | None:
    """Find "the first week of October", "the last 10 days of May", "between 10 and 20 October"."""
    for pattern in (_PART, _DAYS_FIRST, _MONTH_FIRST):
        found = pattern.match(text, at)
        if found is None:
            continue
        if " and " in found[0] and not found[0].startswith("between"):
            return None  # "On 10 and 20 October" are two days.
        year, _ = _year_in(found, today, None)
        groups = found.groupdict()
        first = int(groups["day"]) if groups.get("day") else None
        month = _latest(_SHORT[found["month"][:3]], first, today, year)
        if month is None:
            return None
        whole = month_of(month.start)
        if first is not None:
            last = int(found["last"])
            if not first < last <= whole.end.day:
                return None
            start, end = first, last
        else:
            if groups["unit"] == "half" and _PLACES[found["place"]] > 2:
                return None
            start, end = _days_of_part(found["place"], groups["unit"], groups["count"], whole.end.day)
        period = Period(whole.start.replace(day=start), whole.start.replace(day=end))
        return _Atom(_until(period, today), found.end())
    return None


def _days_of_part(part: str, unit: str | None, count: str | None, days: int) -> tuple[int, int]:
    """The first and the last day of a part of a month with so many days."""
    number = _PLACES[part]
    if unit == "half":
        return (1, 15) if number == 1 else (16, days)
    length = 7 if count is None else max(1, min(_count(count), days))
    if number == 0:
        return days - length + 1, days
    start = length * (number - 1) + 1
    return (start, start + length - 1) if start + length - 1 <= days else (days, days)


_BETWEEN = re.compile(r"(?:in )?(?:between|from) ")
_SINCE = re.compile(r"(?:ever )?(?:since|from|starting(?: from| in)?) (?:the )?(?:start of |beginning of )?")
_THINGS = "transaction|purchase|payment|charge|expense|booking|bill|refund|report|receipt|order"
_OF_THINGS = re.compile(rf"\b(?:(?:{_THINGS})s?|entries|summary|spending) $")
"""After these "from October" means that they are of October, and not since then."""
_JOIN = {
    "between": re.compile(r" ?(?:and|to|-|\u2013) ?(?:the )?"),
    "from": re.compile(r" ?(?:to|until|till|through|up to|-|\u2013) ?(?:the )?"),
    "": re.compile(r" ?(?:to|through|until|till|-|\u2013) ?"),
}
_AND = re.compile(r" ?(?:and|or|&) (?:in )?|[ ,]+")
_BEFORE_MAY = re.compile(
    r"\b(?:in|of|since|from|to|and|for|last|this|than|between|until|or|with|vs|against|compare|was|is) $"
)
_WORD = re.compile(r"\b[a-z]{5,}\b")
_LONG_MONTHS = ("january", "february", "september", "october", "november", "december")


def find_periods(text: str, today: date) -> list[Found]:
    """Find every period in a text of small letters, in their order."""
    found: list[Found] = []
    open_ones: list[int] = []
    at = 0
    while at < len(text):
        if at and text[at - 1].isalnum():
            at += 1
            continue
        here = _range_at(text, at, today)
        if here is None:
            at += 1
            continue
        if found and not _AND.fullmatch(text[found[-1].end : at]):
            open_ones = []
        # "October and December 2025" are both of 2025; "October and October 2025" are not.
        for one in open_ones if here.has_year else ():
            same = _atom_at(text, found[one].begin, today, here.period.start.year)
            if same and same.period.end < here.period.start:
                found[one] = found[one]._replace(period=same.period)
        open_ones = [] if here.has_year else [*open_ones, len(found)]
        found.append(Found(here.period, at, here.end))
        at = here.end
    return found


def mend_months(text: str) -> str:
    """Write misspelt months right; only the long names, since "match" is not March."""

    def mend(word: re.Match[str]) -> str:
        near = [] if word[0] in _MONTHS else difflib.get_close_matches(word[0], _LONG_MONTHS, n=1, cutoff=0.8)
        return near[0] if near else word[0]

    return _WORD.sub(mend, text)


def _range_at(text: str, at: int, today: date) -> _Atom | None:
    if part := _part_of_month(text, at, today):
        return part
    if after := _AFTER.match(text, at):
        atom = _atom_at(text, after.end(), today)
        if atom and atom.period.end < today:
            return _Atom(Period(atom.period.end + timedelta(days=1), today), atom.end)
    if begin := _BETWEEN.match(text, at):
        word = "between" if "between" in begin[0] else "from"
        if both := _two(text, begin.end(), word, today):
            return both
    if since := _SINCE.match(text, at):
        atom = _part_of_month(text, since.end(), today) or _atom_at(text, since.end(), today)
        if atom and atom.period.start <= today:
            end = _skip_on(text, atom.end)
            if end == atom.end and since[0].startswith("from") and _OF_THINGS.search(text[:at]):
                return atom
            return _Atom(Period(atom.period.start, today), end)
    return _two(text, at, "", today) or _atom_at(text, at, today)


def _skip_on(text: str, at: int) -> int:
    on = re.compile(r" (?:on|onwards?|until (?:now|today)|till (?:now|today)|to today)\b").match(text, at)
    return on.end() if on else at


def _two(text: str, at: int, word: str, today: date) -> _Atom | None:
    first = _atom_at(text, at, today)
    join = _JOIN[word].match(text, first.end) if first else None
    if first is None or join is None:
        return None
    second = _atom_at(text, join.end(), today)
    if second is None and (text.startswith("now", join.end())):
        second = _Atom(Period(today, today), join.end() + 3)
    if second is None:
        return None
    if not first.has_year:
        year = second.period.end.year
        again = _atom_at(text, at, today, year)
        if again and again.period.start > second.period.end:
            again = _atom_at(text, at, today, year - 1)
        first = again or first
    start = first.period.start
    if start > second.period.end and text[at : first.end].endswith(tuple(_DAYS)):
        start -= timedelta(days=7)  # "From Monday to Wednesday", and today is one of them.
    return _Atom(Period(start, second.period.end), second.end) if start <= second.period.end else None


def _is_month_may(text: str, at: int) -> bool:
    """Whether "may" is the month here, and not the verb of "may I"."""
    if at == 0:
        return not re.match(r"may (?:i|we|you)\b", text)
    return _BEFORE_MAY.search(text[:at]) is not None


def _atom_at(text: str, at: int, today: date, year: int | None = None) -> _Atom | None:
    for pattern, make in _RULES:
        match = pattern.match(text, at)
        if match is None:
            continue
        if match[0] == "may" and not _is_month_may(text, at):
            continue
        period, has_year = make(match, today, year)
        if period is not None:
            return _Atom(period, match.end(), has_year)
    return None


def describe_period(period: Period, today: date) -> str:
    """Say a period in words, so that a reader knows its first and its last day."""
    start, end = period.start, period.end
    if start <= BEGINNING:
        return f"all time up to {_say_day(end)}"
    if start == end:
        return _say_day(start)
    for whole, name in _names_of(start):
        if end == whole.end:
            return name
        if end == today < whole.end:
            return f"{name} so far ({_say_days(start, end)})"
    return _say_days(start, end)


def _names_of(start: date) -> list[tuple[Period, str]]:
    """The calendar units that begin on a day, with their names, the shortest first."""
    found: list[tuple[Period, str]] = []
    month = month_of(start)
    if start == month.start:
        found.append((month, f"{start:%B} {start.year}"))
    quarter = _quarter_of(start)
    if start == quarter.start:
        found.append((quarter, f"Q{(start.month + 2) // 3} {start.year}"))
    if start == date(start.year, 1, 1):
        found.append((_year(start.year), f"{start.year}"))
    return found


def _say_day(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"


def _say_days(start: date, end: date) -> str:
    if start.year != end.year:
        return f"{_say_day(start)} to {_say_day(end)}"
    if start.month != end.month:
        return f"{start.day} {start:%B} to {_say_day(end)}"
    return f"{start.day} to {_say_day(end)}"
