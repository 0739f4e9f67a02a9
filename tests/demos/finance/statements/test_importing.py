"""Overlapping files add only what is new, equal bookings stay, and nothing is dropped in silence."""

import datetime
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.demos.finance.statements.imports import AT, bring, new_ledger, plan, question, rows, whole
from tests.demos.finance.statements.ofx_files import ofx_of

from trunkline.demos.finance.ledger.analysis.why import why
from trunkline.demos.finance.statements.importing import apply_import
from trunkline.demos.finance.statements.statement import StatementError

HEADER = "Date,Payee,Amount,Currency\n"
DAY = datetime.date(2026, 1, 1)


def csv_of(*bookings: tuple[str, str, str]) -> str:
    return HEADER + "".join(f"{day},{payee},{amount},EUR\n" for day, payee, amount in bookings)


# -- the faults of another program, by name ------------------------------------------------------------


def test_actual_2432_importing_a_file_again_makes_no_phantoms() -> None:
    # https://github.com/actualbudget/actual/issues/2432: three equal amounts on near days, imported twice.
    data = "Date,Payee,Amount\n02/13/2024,A,-1\n02/08/2024,A,-1\n02/02/2024,A,-1\n"
    ledger = new_ledger()
    answers = {"account": "Main", "currency": "USD"}
    assert bring(ledger, data, answers=answers).added == 3
    assert plan(ledger, data).counts == "0 new, 3 known"
    again = bring(ledger, data)
    assert (again.added, again.known) == (0, 3)
    assert len(rows(ledger)) == 3


def test_actual_2420_similar_bookings_of_earlier_days_are_neither_deleted_nor_changed() -> None:
    # https://github.com/actualbudget/actual/issues/2420: an OFX file with bookings like earlier ones.
    ledger = new_ledger()
    bring(ledger, ofx_of([("20260301", "-4.50", "A", "Coffee"), ("20260302", "-4.50", "B", "Coffee")]))
    before = whole(ledger)
    result = bring(
        ledger, ofx_of([("20260303", "-4.50", "C", "Coffee"), ("20260304", "-4.50", "D", "Coffee")])
    )
    assert (result.added, result.possible_duplicates) == (2, 0)
    assert [row for row in whole(ledger) if row in before] == before
    assert len(rows(ledger)) == 4


@pytest.mark.parametrize("kind", ["ofx", "csv"])
def test_actual_8221_two_equal_purchases_of_one_day_stay_two(kind: str) -> None:
    # https://github.com/actualbudget/actual/issues/8221: only one of two equal bookings was imported.
    if kind == "ofx":
        data: bytes | str = ofx_of(
            [("20260301", "-4.50", "A", "Coffee"), ("20260301", "-4.50", "B", "Coffee")]
        )
    else:
        data = csv_of(("2026-03-01", "Coffee", "-4.50"), ("2026-03-01", "Coffee", "-4.50"))
    ledger = new_ledger()
    assert bring(ledger, data, account="Main").added == 2
    assert bring(ledger, data, account="Main").known == 2
    assert rows(ledger) == [("2026-03-01", -450, "Coffee")] * 2


def test_actual_5336_another_source_with_other_names_brings_no_duplicates_and_no_losses() -> None:
    # https://github.com/actualbudget/actual/issues/5336: an OFX file after a sync that had other payees.
    ledger = new_ledger()
    first = csv_of(
        ("2026-03-02", "ACME PAYROLL DEPOSIT PPD 8812", "1000.00"),
        ("2026-03-05", "Coffee shop", "-4.50"),
        ("2026-03-05", "Coffee shop", "-4.50"),
    )
    bring(ledger, first, account="DE89370400440532013000")
    statement = ofx_of(
        [
            ("20260302", "1000.00", "A", "ACME"),
            ("20260306", "-4.50", "B", "COFFEE"),
            ("20260306", "-4.50", "C", "COFFEE"),
            ("20260306", "-4.50", "D", "COFFEE"),
            ("20260320", "-70.00", "E", "MISSING BEFORE"),
        ]
    )
    planned = plan(ledger, statement)
    assert planned.counts == "2 new, 0 known, 3 possible duplicates"
    assert {one.like for one in planned.possible_duplicates} == {
        "ACME PAYROLL DEPOSIT PPD 8812",
        "Coffee shop",
    }
    result = bring(ledger, statement)
    assert (result.added, result.possible_duplicates) == (2, 3)
    assert len(rows(ledger)) == 5
    # What was matched once is known by both names from now on.
    assert plan(ledger, statement).counts == "0 new, 5 known"
    assert plan(ledger, ofx_of([("20260307", "-4.50", "F", "COFFEE")])).counts == "1 new, 0 known"


# -- overlapping files ---------------------------------------------------------------------------------


def test_overlapping_files_add_only_what_is_new() -> None:
    ledger = new_ledger()
    january = csv_of(("2026-01-30", "Rent", "-800.00"), ("2026-01-31", "Coffee", "-3.00"))
    both = january + "2026-02-01,Coffee,-3.00,EUR\n2026-02-01,Coffee,-3.00,EUR\n"
    bring(ledger, january, account="Main")
    result = bring(ledger, both)
    assert (result.added, result.known) == (2, 2)


def test_a_day_that_was_downloaded_at_noon_is_completed_in_the_evening() -> None:
    ledger = new_ledger()
    noon = csv_of(("2026-01-30", "Coffee", "-3.00"))
    bring(ledger, noon, account="Main")
    assert bring(ledger, noon + "2026-01-30,Coffee,-3.00,EUR\n").added == 1
    assert len(rows(ledger)) == 2


def test_case_and_blanks_of_a_text_may_change_between_downloads() -> None:
    ledger = new_ledger()
    bring(ledger, csv_of(("2026-01-30", "Coffee  Shop", "-3.00")), account="Main")
    assert bring(ledger, csv_of(("2026-01-30", "COFFEE SHOP", "-3.00"))).known == 1


BOOKING = st.tuples(
    st.integers(0, 9),
    st.sampled_from([-450, -450, -1200, 250000]),
    st.sampled_from(["Coffee", "Rent", "Wages"]),
)
STYLE = st.sampled_from(["ofx", "signed", "two columns"])
ROUND = st.tuples(st.integers(0, 9), st.integers(0, 9))


@settings(max_examples=60)
@given(st.lists(BOOKING, min_size=1, max_size=16), st.lists(ROUND, max_size=5), st.randoms(), STYLE)
def test_any_split_into_overlapping_files_in_any_order_gives_the_same_ledger(
    bookings: list[tuple[int, int, str]], rounds: list[tuple[int, int]], random: Random, style: str
) -> None:
    bookings = sorted(bookings, key=lambda booking: booking[0])
    numbered = list(enumerate(bookings))

    def file_of(first: int, last: int) -> bytes:
        chosen = [(number, one) for number, one in numbered if first <= one[0] <= last]
        if style == "ofx":
            return ofx_of(
                [
                    (f"{DAY + datetime.timedelta(day):%Y%m%d}", f"{amount / 100:.2f}", f"ID{number}", text)
                    for number, (day, amount, text) in chosen
                ]
            )
        if style == "two columns":
            lines = [
                f"{DAY + datetime.timedelta(day):%d.%m.%Y};{text};{'note' * (amount > 0)};"
                + (f"{-amount // 100},{-amount % 100:02d};" if amount < 0 else f";{amount // 100},00")
                for _, (day, amount, text) in chosen
            ]
            return "\n".join(["Datum;Name;Verwendungszweck;Soll EUR;Haben EUR", *lines]).encode("cp1252")
        return csv_of(
            *(
                ((DAY + datetime.timedelta(day)).isoformat(), text, f"{amount / 100:.2f}")
                for _, (day, amount, text) in chosen
            )
        ).encode()

    answers = {"account": "Main", "sign": "negative_is_out"}
    once = new_ledger()
    bring(once, file_of(0, 9), answers=answers, account=None if style == "ofx" else "Main")
    # Overlapping periods, and at the end whatever they leave out; files are periods of whole days.
    periods = [(min(pair), max(pair)) for pair in rounds]
    covered = {day for first, last in periods for day in range(first, last + 1)}
    periods += [(day, day) for day in range(10) if day not in covered]
    random.shuffle(periods)
    split = new_ledger()
    for first, last in periods:
        if any(first <= day <= last for day, _, _ in bookings):
            bring(split, file_of(first, last), answers=answers, account=None if style == "ofx" else "Main")
    assert whole(split) == whole(once)


# -- nothing in silence --------------------------------------------------------------------------------

BROKEN = HEADER + "2026-01-01,Good,-1.00,EUR\n2026-01-0x,Bad day,-2.00,EUR\n2026-01-03,Bad amount,abc,EUR\n"


def test_rows_that_cannot_be_read_refuse_the_import_and_are_named_with_their_lines() -> None:
    ledger = new_ledger()
    planned = plan(ledger, BROKEN, account="Main")
    assert [problem.line for problem in planned.problems] == [3, 4]
    assert planned.counts == "1 new, 0 known, 2 unreadable"
    with pytest.raises(StatementError, match=r"2 rows cannot be read \(line 3: .*line 4: "):
        bring(ledger, BROKEN, account="Main")
    assert rows(ledger) == []
    result = bring(ledger, BROKEN, account="Main", unreadable="leave_out")
    assert (result.added, result.left_out) == (1, 2)


def test_an_unquoted_delimiter_in_a_text_is_a_problem_and_moves_no_columns() -> None:
    planned = plan(
        new_ledger(), HEADER + "2026-01-01,A,-1.00,EUR\n2026-01-02,B, and C,-2.00,EUR\n", account="M"
    )
    assert planned.problems[0].line == 3
    assert "5 cells where the header has 4" in planned.problems[0].reason


def test_totals_and_opening_balances_are_noted_and_no_problem() -> None:
    data = HEADER + "Opening balance,,100.00,\n2026-01-01,A,-1.00,EUR\nTotal,,-1.00,\n"
    planned = plan(new_ledger(), data, account="Main")
    assert planned.counts == "1 new, 0 known"
    assert [note.partition(":")[0] for note in planned.notes] == [
        "line 2 is no booking",
        "line 4 is no booking",
    ]


def test_pending_rows_wait_until_they_are_final() -> None:
    header = "Date,Payee,Amount,Currency,Status\n"
    ledger = new_ledger()
    first = bring(
        ledger, header + "2026-01-01,A,-1.00,EUR,posted\n2026-01-02,B,-2.00,EUR,pending\n", account="M"
    )
    assert (first.added, first.pending) == (1, 1)
    second = bring(ledger, header + "2026-01-01,A,-1.00,EUR,posted\n2026-01-03,B final,-2.10,EUR,posted\n")
    assert (second.added, second.known, second.pending) == (1, 1, 0)
    assert rows(ledger) == [("2026-01-01", -100, "A"), ("2026-01-03", -210, "B final")]


# -- one form, and a mapping that is kept --------------------------------------------------------------

UNCLEAR = "when,what,how much\n01/02/2026,Shop,20.00\n03/04/2026,Other,30.00\n"


def test_all_that_a_file_does_not_tell_is_one_form_with_the_first_rows() -> None:
    ledger = new_ledger()
    asked = question(ledger, UNCLEAR)
    assert asked.fields["required"] == ["date_order", "sign", "currency", "account"]
    assert list(asked.fields["properties"]) == [*asked.fields["required"], "account_kind"]
    assert not any("default" in field for field in asked.fields["properties"].values()), "none is likely"
    assert "| 01/02/2026 | Shop | 20.00 |" in asked.message
    assert asked.form.fields == asked.fields
    answers = {"date_order": "mdy", "sign": "positive_is_out", "currency": "eur", "account": "Card"}
    assert bring(ledger, UNCLEAR, answers=answers).added == 2
    assert rows(ledger) == [("2026-01-02", -2000, "Shop"), ("2026-03-04", -3000, "Other")]
    with ledger.reading() as db:
        assert db.execute("SELECT kind FROM accounts WHERE name = 'Card'").fetchone() == ("card",)
    # The next file with this header is read without a question, into the same account.
    more = plan(ledger, UNCLEAR + "05/06/2026,Third,1.00\n")
    assert more.counts == "1 new, 2 known"
    assert [account.name for account in more.accounts] == ["Card"]


def test_two_accounts_of_one_bank_are_asked_for_from_the_second_on() -> None:
    ledger = new_ledger()
    data = csv_of(("2026-01-01", "A", "-1.00"))
    bring(ledger, data, account="One")
    bring(ledger, data, account="Two")
    asked = question(ledger, data)
    assert list(asked.fields["properties"]) == ["account"]
    assert "One, Two" in asked.fields["properties"]["account"]["title"]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"currency": "euros"}, "three letters"),
        ({"date_order": "first"}, "must be one of"),
        ({"amount_column": "nine"}, "no such column"),
    ],
)
def test_a_wrong_answer_is_named(answers: dict[str, str], said: str) -> None:
    with pytest.raises(StatementError, match=said):
        plan(new_ledger(), UNCLEAR, answers=answers)


def test_a_kept_mapping_that_no_longer_fits_is_given_up() -> None:
    ledger = new_ledger()
    bring(ledger, csv_of(("2026-01-01", "A", "-1.00"), ("2026-01-02", "A", "-2.00")), account="Main")
    bring(ledger, HEADER.replace(",", ";") + "01.02.2026;A;-1,00;EUR\n", account="Main")
    other = HEADER.replace(",", ";") + "2026-02-03;A;-1.50;EUR\n2026-02-04;A;-1.50;EUR\n"
    assert plan(ledger, other, account="Main").counts == "2 new, 0 known"


def test_an_account_that_contradicts_the_file_is_refused() -> None:
    ledger = new_ledger()
    bring(ledger, ofx_of([("20260301", "-4.50", "A", "Coffee")]), account="Giro")
    other = ofx_of([("20260301", "-4.50", "A", "Coffee")]).replace(b"DE89370400440532013000", b"999")
    with pytest.raises(StatementError, match="has the number"):
        plan(ledger, other, account="Giro")


def test_ids_that_a_bank_uses_twice_drop_no_bookings() -> None:
    ledger = new_ledger()
    data = ofx_of(
        [
            ("20260301", "-4.50", "0", "Coffee"),
            ("20260302", "-4.50", "0", "Tea"),
            ("20260302", "-9", "0", "X"),
        ]
    )
    assert bring(ledger, data).added == 3
    assert bring(ledger, data).known == 3


def test_a_plan_that_is_old_when_it_is_applied_adds_nothing_twice() -> None:
    ledger = new_ledger()
    data = csv_of(("2026-01-01", "A", "-1.00"), ("2026-01-02", "A", "-2.00"))
    old = plan(ledger, data, account="Main")
    bring(ledger, data, account="Main")
    with ledger.writing() as db:
        result = apply_import(db, old, at=AT)
    assert (result.added, result.known) == (0, 2)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"%PDF-1.7 ...", "a PDF"),
        (b"PK\x03\x04....", "ZIP file or a spreadsheet"),
        (b"\x89PNG\r\n", "a picture"),
        (b"!Type:Bank\nD1/2/26\n", "QIF"),
        (b'<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02">', "CAMT"),
        (b"<html><body>Log in</body></html>", "a web page"),
        (b'<?xml version="1.0"?><a/>', "XML, and no OFX"),
        (b'{"a": 1}', "JSON"),
        (bytes(range(1, 9)) * 20, "no text"),
        (b"hello\nworld\n", "no line with a date and an amount"),
        (b"x" * (33 << 20), "larger than 32 MB"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_that_is_no_statement_gets_a_sentence(data: bytes, said: str) -> None:
    with pytest.raises(StatementError, match=r"bank\.csv cannot be imported: ") as caught:
        plan(new_ledger(), data)
    assert said in str(caught.value)


def test_a_plan_says_its_period_its_sums_and_all_counts() -> None:
    ledger = new_ledger()
    planned = plan(ledger, csv_of(("2026-01-01", "A", "-1.00"), ("2026-01-09", "B", "-2.00")), account="Main")
    assert planned.period == (DAY, DAY + datetime.timedelta(8))
    assert [str(money) for money in planned.totals] == ["-3.00 EUR"]
    header = "Date,Payee,Amount,Currency,Status\n"
    empty = plan(ledger, header + "2026-01-02,B,-2.00,EUR,pending\n", account="Main")
    assert (empty.period, empty.counts) == (None, "0 new, 0 known, 1 pending left out")


def test_debits_first_and_credits_in_the_next_file_are_both_read() -> None:
    ledger = new_ledger()
    header = "Date,Text,Debit EUR,Credit EUR\n"
    bring(ledger, header + "2026-01-01,a,5.00,\n", account="Main")
    bring(ledger, header + "2026-01-02,b,,7.00\n")
    assert [amount for _, amount, _ in rows(ledger)] == [-500, 700]


def test_duplicates_of_another_source_are_added_when_that_is_said() -> None:
    ledger = new_ledger()
    bring(ledger, csv_of(("2026-03-05", "Coffee shop", "-4.50")), account="DE89370400440532013000")
    result = bring(ledger, ofx_of([("20260305", "-4.50", "A", "COFFEE")]), duplicates="add")
    assert (result.added, result.possible_duplicates) == (1, 1)
    assert len(rows(ledger)) == 2


def test_a_kind_of_booking_that_moves_money_between_own_accounts_is_no_spending() -> None:
    ledger = new_ledger()
    data = (
        "Transaction ID,Date,Type,Name,Amount,Currency,Description\n"
        "tx_00001,25/10/2026,Pot transfer,Holiday pot,-100.00,GBP,pot_0000\n"
        "tx_00002,26/10/2026,Card payment,Blue Shop,-5.00,GBP,BLUE SHOP\n"
        "tx_00003,27/10/2026,Pot transfer,Bills pot,30.00,GBP,pot_0001\n"
    )
    bring(ledger, data, account="Main")
    with ledger.reading() as db:
        found = db.execute("SELECT amount, kind, category_by FROM transactions ORDER BY id").fetchall()
        (first,) = db.execute("SELECT min(id) FROM transactions").fetchone()
        assert "The imported file or the bank says Transfer" in why(db, first).because
    assert found == [(-10000, "transfer", "import"), (-500, "spend", None), (3000, "transfer", "import")]
