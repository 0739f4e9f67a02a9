"""Which charge money that came back belongs to, and what remains of it."""

from hypothesis import given
from hypothesis import strategies as st
from tests.demos.finance.ledger.ledgers import Line, facts, ledger_of


def spent(*lines: Line | tuple[str, int, str] | tuple[str, int, str, str]) -> dict[str, int]:
    db = ledger_of(lines)
    return dict(db.execute("SELECT month, sum(spent) FROM spending GROUP BY month").fetchall())


def test_a_refund_lowers_its_charge_in_the_month_of_the_charge() -> None:
    lines = (("2026-01-28", -14995, "ZALANDO SE 12"), ("2026-02-06", 14995, "ZALANDO SE RETOURE"))
    assert spent(*lines) == {"2026-01": 0}
    assert facts(ledger_of(lines), "kind, pair_id, category") == [
        ("spend", None, "Clothes"),
        ("refund", 1, "Clothes"),
    ]


def test_an_equal_charge_is_taken_before_a_larger_and_later_one() -> None:
    lines = (
        ("2026-01-02", -5000, "ZALANDO 1"),
        ("2026-01-20", -9000, "ZALANDO 2"),
        ("2026-02-01", 5000, "ZALANDO"),
    )
    assert facts(ledger_of(lines), "pair_id")[2] == (1,)


def test_parts_come_back_until_nothing_is_left() -> None:
    lines = (
        ("2026-01-02", -5000, "ZALANDO 1"),
        ("2026-02-01", 3000, "ZALANDO"),
        ("2026-02-02", 2000, "ZALANDO"),
        ("2026-02-03", 1000, "ZALANDO"),
    )
    assert [pair for (pair,) in facts(ledger_of(lines), "pair_id")] == [None, 1, 1, None]
    assert spent(*lines) == {"2026-01": 0, "2026-02": -1000}


def test_money_of_a_shop_without_a_charge_is_still_no_income() -> None:
    assert facts(ledger_of([("2026-01-02", 5000, "ZALANDO 1")]), "kind, pair_id") == [("refund", None)]
    assert facts(ledger_of([("2026-01-02", 500, "SOMETHING", "card")]), "kind") == [("refund",)]


def test_a_charge_after_the_refund_or_long_before_it_is_not_the_one() -> None:
    late = (("2026-01-03", -5000, "ZALANDO"), ("2026-01-02", 5000, "ZALANDO"))
    early = (("2025-01-03", -5000, "ZALANDO"), ("2026-01-02", 5000, "ZALANDO"))
    for lines in (late, early):
        assert facts(ledger_of(lines), "pair_id") == [(None,), (None,)]


def test_a_friend_who_pays_back_lowers_what_was_paid() -> None:
    lines = (("2026-01-02", -5000, "Max Mustermann"), ("2026-01-12", 2500, "Max Mustermann"))
    assert spent(*lines) == {"2026-01": 2500}


def test_what_names_nobody_is_no_refund_of_something_else() -> None:
    lines = [("2026-01-02", -5000, "8812"), ("2026-01-03", 5000, "9913")]
    assert facts(ledger_of(lines), "kind") == [("spend",), ("income",)]


def test_what_a_german_bank_calls_a_credit_is_an_income() -> None:
    assert facts(ledger_of([("2026-01-03", 5000, "Gutschrift von Erika Musterfrau")]), "kind") == [
        ("income",)
    ]


def test_salary_and_rent_of_a_tenant_are_income() -> None:
    lines = [("2026-01-27", 300000, "GEHALT HAFEN"), ("2026-01-28", 80000, "MIETE UNTERMIETER")]
    assert facts(ledger_of(lines), "kind, category") == [("income", "Salary"), ("income", "Other income")]


amounts = st.lists(st.integers(-5000, 5000).filter(bool), max_size=12)


@given(amounts)
def test_no_charge_is_refunded_twice(values: list[int]) -> None:
    lines = [(f"2026-01-{day:02d}", amount, "ZALANDO") for day, amount in enumerate(values, 1)]
    db = ledger_of(lines)
    net = db.execute(
        "SELECT charge.amount + sum(back.amount) FROM transactions AS back JOIN transactions AS charge "
        "ON charge.id = back.pair_id GROUP BY charge.id"
    ).fetchall()
    assert all(left <= 0 for (left,) in net)
    assert db.execute("SELECT coalesce(sum(spent), 0) FROM spending").fetchone()[0] == -sum(values)


def test_a_direct_debit_that_came_back_is_no_income() -> None:
    db = ledger_of(
        [
            ("2026-10-15", -90000, "MIETE WOHNUNG"),
            ("2026-10-16", 90000, "RUECKLASTSCHRIFT MIETE"),
            ("2026-10-17", -90000, "MIETE WOHNUNG"),
        ]
    )
    assert db.execute("SELECT sum(spent) FROM spending WHERE category = 'Rent'").fetchone() == (90000,)
    assert db.execute("SELECT count(*) FROM income").fetchone() == (0,)
