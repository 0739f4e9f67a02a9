"""A report of a period as Markdown."""

from datetime import date

import pytest

from trunkline.demos.finance.ledger.database import MEMORY, Ledger
from trunkline.demos.finance.ledger.results import month_of
from trunkline.demos.finance.tools.report import write_markdown

OCTOBER = month_of(date(2026, 10, 1))


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("2026-10-02", "Your ledger begins on 2026-10-02: there is nothing to compare with."),
        ("2026-09-20", "Your ledger begins on 2026-09-20, so the days before are missing here."),
        ("2026-09-03", "less** in October 2026 than in September 2026"),
    ],
)
def test_days_before_the_ledger_begins_are_not_compared_as_nothing(first: str, said: str) -> None:
    ledger = Ledger(MEMORY)
    with ledger.writing() as db:
        db.execute("INSERT INTO accounts VALUES ('a', 'Giro', 'checking', 'EUR', '', '', 'file')")
        for number, (day, amount) in enumerate(((first, -900), ("2026-10-05", -500))):
            db.execute(
                "INSERT INTO transactions (account_id, posted, amount, currency, description, identity) "
                "VALUES ('a', ?, ?, 'EUR', 'REWE', ?)",
                (day, amount, f"n{number}"),
            )
    report = write_markdown(ledger, OCTOBER, date(2026, 11, 18))
    assert said in report
    assert ("more** in October" in report) is False
