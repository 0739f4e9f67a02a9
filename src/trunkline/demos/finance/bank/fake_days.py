"""What happens at the fake bank of the demo, day by day: the same for everyone, up to a given day."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

from trunkline.demos.finance.bank.fake_bank import FakeBank
from trunkline.demos.finance.bank.items import FAKE_TOKEN

FIRST_DAY = datetime.date(2026, 1, 1)
ACCOUNT = "fake-checking"
_DAYS_UNTIL_POSTED = 2
_SHOPS = (
    ("Sunrise Bakery", 380),
    ("Metro Tickets", 290),
    ("Corner Market", 2345),
    ("City Cinema", 1250),
    ("Green Grocer", 1875),
)


def demo_bank(today: datetime.date) -> FakeBank:
    """Give the bank of the demo as it is on a day; a card payment is pending for two days."""
    bank = FakeBank(FAKE_TOKEN)
    bank.add_account(ACCOUNT, name="Fake Bank Checking", mask="4242")
    for day in _days(today):
        posted = day - datetime.timedelta(_DAYS_UNTIL_POSTED)
        if posted >= FIRST_DAY and (payment := _payment(posted)) is not None:
            pending_id = payment["transaction_id"]
            bank.put(
                {
                    **payment,
                    "transaction_id": f"{pending_id}-posted",
                    "pending": False,
                    "pending_transaction_id": pending_id,
                }
            )
            bank.remove(pending_id)
        if (payment := _payment(day)) is not None:
            bank.put(payment)
        if day.day == 1:
            bank.put(_transaction(f"wage-{day}", day, -190000, "Harbour Works Payroll"))
    return bank


def _days(today: datetime.date) -> Iterator[datetime.date]:
    for number in range((today - FIRST_DAY).days + 1):
        yield FIRST_DAY + datetime.timedelta(number)


def _payment(day: datetime.date) -> dict[str, Any] | None:
    """Give the card payment of a day; on Sundays there is none."""
    if day.weekday() == 6:
        return None
    name, cents = _SHOPS[day.toordinal() % len(_SHOPS)]
    return {**_transaction(f"pay-{day}", day, cents + day.day, name), "pending": True}


def _transaction(identifier: str, day: datetime.date, cents: int, name: str) -> dict[str, Any]:
    return {
        "transaction_id": identifier,
        "account_id": ACCOUNT,
        "amount": cents / 100,
        "iso_currency_code": "EUR",
        "date": day.isoformat(),
        "name": name,
        "merchant_name": name,
        "pending": False,
        "pending_transaction_id": None,
    }
