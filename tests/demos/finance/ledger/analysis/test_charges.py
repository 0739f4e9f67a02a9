"""Single charges: the newest, the largest."""

from datetime import date

from tests.demos.finance.ledger.ledgers import household, ledger_of
from tests.demos.finance.ledger.oracle import raw_spending, within

from trunkline.demos.finance.ledger.analysis.charges import list_charges
from trunkline.demos.finance.ledger.results import Money, Period, month_of
from trunkline.demos.finance.ledger.selection import Filters

OCTOBER = month_of(date(2026, 10, 1))


def test_the_largest_come_first_and_all_are_counted() -> None:
    db = household()
    rows = within(raw_spending(db), OCTOBER)
    result = list_charges(db, OCTOBER, order="largest", limit=3)
    assert [charge.spent for charge in result.charges] == sorted((row.spent for row in rows), reverse=True)[
        :3
    ]
    assert result.rows == len(rows)
    assert result.charges[0].merchant == "MediaMarkt"
    assert result.charges[0].money == Money("EUR", 118900)


def test_the_newest_come_first() -> None:
    result = list_charges(household(), OCTOBER, Filters(category="Groceries"), limit=5)
    days = [charge.day for charge in result.charges]
    assert days == sorted(days, reverse=True)
    assert len(days) == 5


def test_the_largest_are_those_of_each_currency() -> None:
    march = month_of(date(2026, 3, 1))
    result = list_charges(household(), march, order="largest", limit=2)
    assert [charge.currency for charge in result.charges] == ["EUR", "EUR", "USD", "USD"]


def test_the_numbers_of_accounts_are_masked() -> None:
    db = ledger_of([("2026-10-02", -100, "Lastschrift DE89370400440532013000 Verein")])
    assert list_charges(db, OCTOBER).charges[0].description == "Lastschrift ****3000 Verein"


def test_a_refund_is_listed_on_the_day_of_its_charge() -> None:
    db = ledger_of([("2026-01-28", -14995, "ZALANDO SE 12"), ("2026-02-06", 14995, "ZALANDO RETOURE")])
    result = list_charges(db, Period(date(2026, 1, 1), date(2026, 1, 31)))
    assert [(charge.spent, charge.kind) for charge in result.charges] == [
        (-14995, "refund"),
        (14995, "spend"),
    ]
    assert str(result.charges[0].posted) == "2026-02-06"
    assert result.totals == (Money("EUR", 0),)
    assert len(db.execute(result.sql).fetchall()) == 2
