"""When two rows are the same booking."""

import datetime

from hypothesis import given
from hypothesis import strategies as st

from trunkline.demos.finance.statements.identity import (
    Candidate,
    Known,
    identify_rows,
    kind_of,
    match_other_sources,
)
from trunkline.demos.finance.statements.statement import StatementRow

DAY = datetime.date(2026, 3, 2)


def row(text: str = "Coffee", amount: int = -450, day: int = 0, native_id: str | None = None) -> StatementRow:
    posted = DAY + datetime.timedelta(day)
    return StatementRow(
        line=1, posted=posted, amount=amount, currency="EUR", description=text, native_id=native_id
    )


def known(number: int, day: int, *identities: str, amount: int = -450) -> Known:
    posted = DAY + datetime.timedelta(day)
    return Known(number, posted, amount, "EUR", frozenset(identities), "x")


def candidate(number: int, day: int, amount: int = -450) -> Candidate:
    return Candidate(number, DAY + datetime.timedelta(day), amount, "EUR", f"id:{number}")


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.integers(-2, 2), st.integers(0, 2)), max_size=12))
def test_identities_are_unique_in_a_file_and_equal_in_the_next(
    entries: list[tuple[str, int, int]],
) -> None:
    rows = [row(*entry) for entry in entries]
    identities = identify_rows(rows)
    assert len(set(identities)) == len(rows)
    assert identify_rows(rows) == identities
    # The order inside of a file does not matter either.
    assert sorted(identify_rows(rows[::-1])) == sorted(identities)


def test_an_id_of_the_bank_counts_whatever_the_text_is() -> None:
    (first,) = identify_rows([row("Coffee", native_id="A")])
    (second,) = identify_rows([row("COFFEE SHOP 12", day=1, native_id="A")])
    (other,) = identify_rows([row("Coffee", amount=-451, native_id="A")])
    assert first == second != other
    assert kind_of(first) == "id"


def test_an_id_of_several_bookings_identifies_none() -> None:
    identities = identify_rows([row("a", native_id="0"), row("b", native_id="0"), row("c", native_id="1")])
    assert [kind_of(one) for one in identities] == ["text", "text", "id"]


def test_each_transaction_of_another_source_is_matched_once_and_the_nearest_first() -> None:
    ledger = [known(1, 0, "text:1"), known(2, 3, "text:2")]
    matches = match_other_sources([candidate(0, 2), candidate(1, 0), candidate(2, 1)], ledger)
    assert {index: match.transaction_id for index, match in matches.items()} == {1: 1, 0: 2}


def test_the_same_kind_of_source_another_amount_and_far_days_do_not_match() -> None:
    ledger = [known(1, 0, "id:9"), known(2, 0, "text:1", amount=-451), known(3, 9, "text:2")]
    assert match_other_sources([candidate(0, 0)], ledger) == {}
