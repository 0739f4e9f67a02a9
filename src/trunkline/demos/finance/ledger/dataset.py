"""The made-up data of the demo: two years of one household, the same for the same day. Pure.

Every amount comes from a hash of what it is for, so no state of a random generator is used or changed. All of
it is relative to ``today``; what is special is at fixed distances from it, so that each question has
something to find:

The last October is higher than the September before it: a laptop, a weekend in Hamburg, more restaurants.
Netflix costs more since five months ago, Spotify since fourteen; the gym was cancelled nine months ago.
A shop charged one purchase twice, two months ago. A pharmacy charge is far above the usual, last month.
A jacket was sent back and refunded in the next month; a part of a book order was refunded.
A journey to New York was paid in US dollars from the dollar account, about eight months ago.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import NamedTuple

from trunkline.demos.finance.ledger.results import month_of

SEED = "trunkline finance 1"
MONTHS = 24
"""How many whole months there are before the present one."""


class DemoAccount(NamedTuple):
    """An account of the household."""

    id: str
    name: str
    kind: str
    currency: str
    number: str
    institution: str


CHECKING = DemoAccount("demo-checking", "Everyday", "checking", "EUR", "DE02120300000000202051", "Nordbank")
SAVINGS = DemoAccount("demo-savings", "Rainy day", "savings", "EUR", "DE02500105170137075030", "Nordbank")
CARD = DemoAccount("demo-card", "Travel card", "card", "EUR", "4000123456789010", "Kartenhaus")
DOLLARS = DemoAccount("demo-dollars", "Dollar account", "checking", "USD", "8310006751", "Wise")
ACCOUNTS = (CHECKING, SAVINGS, CARD, DOLLARS)

BUDGETS = (
    ("Groceries", 48000, "EUR"),
    ("Restaurants", 16000, "EUR"),
    ("Transport", 14000, "EUR"),
    ("Shopping", 25000, "EUR"),
    ("Leisure", 9000, "EUR"),
)
"""What the household means to spend in a month: category or group, minor units, currency."""


class DemoTransaction(NamedTuple):
    """One line of a statement of the household."""

    account: str
    day: date
    amount: int
    currency: str
    description: str
    identity: str


def household_transactions(today: date, seed: str = SEED) -> list[DemoTransaction]:
    """Give all transactions up to a day, in the order of days; another seed gives another household."""
    made = _Household(today, seed).lines()
    return sorted((line for line in made if line.day <= today), key=lambda line: (line.day, line.identity))


class _Line(NamedTuple):
    account: DemoAccount
    day: date
    amount: int
    description: str


class _Household:
    def __init__(self, today: date, seed: str) -> None:
        self._today = today
        self._seed = seed
        start = today.replace(day=1)
        self._months = [_months_before(start, count) for count in range(MONTHS, -1, -1)]

    def lines(self) -> list[DemoTransaction]:
        counts: dict[tuple[str, date], int] = {}
        found: list[DemoTransaction] = []
        for line in self._all():
            key = (line.account.id, line.day)
            counts[key] = number = counts.get(key, 0) + 1
            identity = f"demo-{line.day}-{number:02d}"
            account = line.account
            found.append(
                DemoTransaction(
                    account.id, line.day, line.amount, account.currency, line.description, identity
                )
            )
        return found

    def _all(self) -> Iterator[_Line]:
        card: list[_Line] = []
        for age, month in zip(range(MONTHS, -1, -1), self._months, strict=True):
            of_month = [*self._fixed(month, age), *self._daily(month, age), *self._special(month, age)]
            card += [line for line in of_month if line.account is CARD]
            yield from of_month
            yield from self._card_payment(month, card)

    # -- numbers --

    def _number(self, *key: object) -> float:
        """Give a number from 0 to 1 for a key; the same for the same key."""
        text = "\0".join(map(str, (self._seed, *key)))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48

    def _between(self, low: int, high: int, *key: object) -> int:
        return low + int(self._number(*key) * (high - low + 1))

    # -- what comes each month --

    def _fixed(self, month: date, age: int) -> Iterator[_Line]:
        def on(day: int) -> date:
            return _day(month, day)

        salary = 318000 if age >= 12 else 331500
        yield _Line(CHECKING, on(27), salary, f"LOHN/GEHALT {month:%m/%Y} HAFEN SOFTWARE GMBH")
        yield _Line(CHECKING, on(1), -98500, "DAUERAUFTRAG MIETE HAUSVERWALTUNG KRUSE")
        yield _Line(
            CHECKING, on(3), -7900 if age >= 10 else -8600, "VATTENFALL EUROPE SALES STROM ABSCHLAG 77120938"
        )
        yield _Line(CHECKING, on(5), -3999, "TELEKOM DEUTSCHLAND GMBH RG 8841 FESTNETZ")
        yield _Line(CHECKING, on(8), -5800, "DEUTSCHLANDTICKET BVG ABO 00417")
        yield _Line(CHECKING, on(15), -1000, "SPENDE UNICEF DANKE")
        yield from self._own_transfers(month, age)
        yield _Line(CARD, on(4), -1199 if age >= 14 else -1299, "Spotify P2F4A8 Stockholm")
        yield _Line(CARD, on(12), -1399 if age >= 5 else -1599, "NETFLIX.COM AMSTERDAM")
        yield _Line(CARD, on(19), -299, "APPLE.COM/BILL ICLOUD")
        if age >= 9:
            yield _Line(CHECKING, on(2), -2990, "MCFIT RSG GROUP MITGLIED 55019")
        if month.month in (2, 5, 8, 11):
            yield _Line(CHECKING, on(16), -5508, "RUNDFUNK ARD ZDF DRADIO BEITRAG")
        if month.month == 3:
            yield _Line(CHECKING, on(10), -7140, "HUK COBURG HAFTPFLICHT JAHRESBEITRAG")
        if month.month == 7:
            yield _Line(CARD, on(21), -8990, "AMAZON PRIME JAHRESMITGLIEDSCHAFT")
        if month.month == 11:
            yield _Line(CARD, on(9), -3588, "1PASSWORD TORONTO ANNUAL")

    def _own_transfers(self, month: date, age: int) -> Iterator[_Line]:
        amount = 35000 if age % 12 else 60000
        out, into = _day(month, 28), _day(month, 28) + timedelta(days=1 if age % 3 else 0)
        yield _Line(CHECKING, out, -amount, "UMBUCHUNG AUF RAINY DAY")
        yield _Line(SAVINGS, into, amount, "UMBUCHUNG VON EVERYDAY")
        if month.month % 3 == 0:
            interest = self._between(1100, 2300, "interest", month)
            yield _Line(SAVINGS, month_of(month).end, interest, "HABENZINSEN QUARTAL")

    def _card_payment(self, month: date, card: list[_Line]) -> Iterator[_Line]:
        """What the card was charged until the 20th is paid on the 22nd, all at once."""
        closing = _day(month, 20)
        due = -sum(line.amount for line in card if line.day <= closing)
        card[:] = [line for line in card if line.day > closing]
        if due > 0:
            yield _Line(CHECKING, _day(month, 22), -due, "LASTSCHRIFT KREDITKARTE KARTENHAUS 9010")
            yield _Line(CARD, _day(month, 23), due, "PAYMENT RECEIVED - THANK YOU")

    # -- what comes on some days --

    def _daily(self, month: date, age: int) -> Iterator[_Line]:
        october = month == self._october()
        for day in _days(month):
            week = day.weekday()
            for shop in _SHOPS:
                chance = shop.week[week] / 100
                if october and shop.what == "restaurant":
                    chance *= 1.8
                if self._number(shop.text, day) < chance:
                    low, high = shop.low, shop.high
                    price = self._between(low, high, shop.text, day, "price")
                    # Prices rise by about two in a hundred each year.
                    price += price * (MONTHS - age) // 600 if low < high else 0
                    yield _Line(shop.account, day, -price, self._text(shop, day))

    def _text(self, shop: _Shop, day: date) -> str:
        number = self._between(1000, 9999, shop.text, "branch", day.month % 3)
        return shop.text.format(number=number, day=f"{day:%d.%m}", code=f"{number * 7919 % 0xFFFFF:05X}")

    # -- what is special --

    def _october(self) -> date:
        """The last October that is over."""
        year = self._today.year if self._today.month > 10 else self._today.year - 1
        return date(year, 10, 1)

    def _special(self, month: date, age: int) -> Iterator[_Line]:
        def on(day: int) -> date:
            return _day(month, day)

        if month == self._october():
            yield _Line(CARD, on(7), -118900, "MEDIAMARKT BERLIN ALEX NOTEBOOK 4471")
            yield _Line(CARD, on(16), -8940, "DB VERTRIEB GMBH ICE HAMBURG")
            yield _Line(CARD, on(18), -23400, "MOTEL ONE HAMBURG ALSTER")
            yield _Line(CARD, on(17), -6480, "RESTAURANT FISCHEREIHAFEN HAMBURG")
        if age == 2:
            yield _Line(CARD, on(11), -6490, "THALIA BUECHER BERLIN 0231")
            yield _Line(CARD, on(11), -6490, "THALIA BUECHER BERLIN 0231")
        if age == 1:
            yield _Line(CHECKING, on(14), -18750, "APOTHEKE AM PARK 1020")
        if age == 4:
            yield _Line(CARD, on(24), -14995, "ZALANDO SE BERLIN 10394")
        if age == 3:
            yield _Line(CARD, on(6), 14995, "ZALANDO SE RETOURE GUTSCHRIFT 10394")
            yield _Line(CARD, on(9), -8920, "HUGENDUBEL DIGITAL 5512")
            yield _Line(CARD, on(17), 2990, "HUGENDUBEL DIGITAL ERSTATTUNG 5512")
        if age == 6:
            yield _Line(CHECKING, on(20), 41260, "FINANZAMT BERLIN STEUERERSTATTUNG")
        if month.month == 12:
            yield _Line(CARD, on(9), -12990, "AMZN MKTP DE*GESCHENKE")
            yield _Line(CARD, on(14), -6900, "THALIA BUECHER BERLIN 0231")
        if month.month == 12 and age < 12:
            yield _Line(CHECKING, on(18), -4550, "BLUMEN UND GESCHENKE LINDE")
        if age in (8, 20):
            yield from self._journey(month, age)
        if age % 6 == 3:
            yield _Line(CHECKING, on(13), -20000, "UBERTRAG TRANSFER TO WISE USD")
            yield _Line(
                DOLLARS, on(14), self._between(21200, 22400, "rate", month), "TOPUP FROM NORDBANK EUR"
            )

    def _journey(self, month: date, age: int) -> Iterator[_Line]:
        """A week abroad: flight and hotel in euros, the rest in dollars."""
        if age != 8:
            yield _Line(CARD, _day(month, 5), -21480, "EASYJET LUTON LISBON")
            yield _Line(CARD, _day(month, 18), -38200, "BOOKING.COM HOTEL LISBOA")
            return
        yield _Line(CARD, _day(month, 3), -61240, "LUFTHANSA FRANKFURT JFK")
        yield _Line(CHECKING, _day(month, 4), -90000, "TRANSFER TO WISE USD OWN TRANSFER")
        yield _Line(
            DOLLARS, _day(month, 5), self._between(96100, 98800, "rate", month), "TOPUP FROM NORDBANK EUR"
        )
        yield _Line(DOLLARS, _day(month, 12), -41200, "POD 51 HOTEL NEW YORK NY")
        for text, low, high, days in _ABROAD:
            for day in days:
                price = self._between(low, high, text, month, day)
                yield _Line(DOLLARS, _day(month, day), -price, text)


class _Shop(NamedTuple):
    """Where the household goes on some days of the week; ``week`` is the chance in a hundred, from Monday."""

    what: str
    text: str
    account: DemoAccount
    low: int
    high: int
    week: tuple[int, int, int, int, int, int, int]


_SHOPS = (
    _Shop("groceries", "REWE SAGT DANKE {number} BERLIN", CHECKING, 1180, 6240, (22, 8, 20, 10, 26, 38, 0)),
    _Shop("groceries", "LIDL DIENSTLEISTUNG {number}", CHECKING, 890, 4480, (10, 18, 6, 16, 12, 24, 0)),
    _Shop("groceries", "EDEKA CENTER {number} {day}", CHECKING, 960, 5310, (6, 6, 10, 8, 14, 22, 0)),
    _Shop("groceries", "ALNATURA PRODUKTIONS {number}", CARD, 740, 3420, (4, 8, 4, 10, 8, 12, 0)),
    _Shop("household", "DM DROGERIE MARKT {number}", CHECKING, 620, 3180, (4, 6, 6, 4, 8, 12, 0)),
    _Shop("restaurant", "SUMUP *TRATTORIA BELLA", CARD, 1840, 5260, (0, 3, 4, 6, 14, 18, 8)),
    _Shop("restaurant", "VAPIANO {number} BERLIN DE", CARD, 1290, 3150, (3, 5, 6, 7, 10, 4, 6)),
    _Shop(
        "restaurant", "KARTENZAHLUNG {day} RAMEN HAUS KREUZBERG", CHECKING, 1350, 2890, (4, 4, 8, 6, 6, 8, 6)
    ),
    _Shop("coffee", "SQ *EINSTEIN KAFFEE {code}", CARD, 340, 890, (26, 22, 28, 24, 30, 16, 10)),
    _Shop("delivery", "LIEFERANDO.DE {code}", CARD, 1690, 3890, (4, 4, 4, 4, 6, 6, 14)),
    _Shop("transport", "FREE NOW *RIDE {code}", CARD, 940, 2870, (2, 2, 2, 4, 10, 12, 4)),
    _Shop("transport", "NEXTBIKE BERLIN {code}", CARD, 100, 450, (6, 6, 8, 6, 8, 12, 10)),
    _Shop("shopping", "AMZN MKTP DE*{code}", CARD, 890, 6450, (4, 5, 5, 4, 4, 3, 5)),
    _Shop("shopping", "H&M {number} BERLIN", CARD, 1999, 7990, (0, 1, 1, 2, 2, 6, 0)),
    _Shop("pharmacy", "APOTHEKE AM PARK {number}", CHECKING, 495, 2260, (3, 2, 3, 2, 3, 3, 0)),
    _Shop("leisure", "YORCK KINOGRUPPE {number}", CARD, 950, 2350, (1, 2, 4, 2, 5, 8, 6)),
    _Shop("hair", "FRISEUR SCHNITTSTELLE", CHECKING, 3200, 4400, (0, 3, 0, 4, 0, 0, 0)),
    _Shop("cash", "BARGELDAUSZAHLUNG GA NR {number} NORDBANK", CHECKING, 5000, 5000, (2, 0, 0, 3, 5, 3, 0)),
    _Shop("unknown", "KOLLEKTIV WERKHOF {number}", CARD, 1150, 3900, (2, 1, 2, 2, 2, 4, 0)),
)

_ABROAD: tuple[tuple[str, int, int, Iterable[int]], ...] = (
    ("MTA*NYCT PAYGO NEW YORK NY", 290, 290, (11, 12, 13, 13, 14, 15, 16)),
    ("SQ *BLUE BOTTLE COFFEE BROOKLYN NY", 520, 980, (11, 13, 14, 16)),
    ("SHAKE SHACK 1208 NEW YORK NY", 1640, 2480, (11, 14)),
    ("KATZS DELICATESSEN NEW YORK NY", 3150, 4420, (12,)),
    ("TRADER JOE S #546 NEW YORK NY", 1980, 3640, (13, 15)),
    ("MUSEUM OF MODERN ART NEW YORK", 3000, 3000, (14,)),
    ("NYC TAXI 6P43 LONG ISLAND CITY", 2380, 6120, (10, 17)),
)


def _months_before(start: date, count: int) -> date:
    months = start.year * 12 + start.month - 1 - count
    return date(months // 12, months % 12 + 1, 1)


def _day(month: date, day: int) -> date:
    return min(month.replace(day=1) + timedelta(days=day - 1), month_of(month).end)


def _days(month: date) -> Iterator[date]:
    end = month_of(month).end
    return (month + timedelta(days=count) for count in range((end - month).days + 1))
