"""Records of a CSV file as bookings, notes and problems."""

from collections.abc import Sequence

import pytest

from trunkline.demos.finance.statements.csv_columns import draft_mapping
from trunkline.demos.finance.statements.csv_layout import read_table
from trunkline.demos.finance.statements.csv_reader import CsvStatement, account_of, is_iban, read_csv
from trunkline.demos.finance.statements.mapping import finish_draft


def read(text: str) -> CsvStatement:
    table = read_table(text)
    mapping = finish_draft(draft_mapping(table))
    assert mapping is not None, draft_mapping(table)
    return read_csv(table, mapping)


def amounts(text: str) -> Sequence[int]:
    (statement,) = read(text).statements
    assert statement.problems == ()
    return [row.amount for row in statement.rows]


def test_debit_and_credit_columns_mean_the_same_with_and_without_a_minus() -> None:
    header = "Date,Text,Debit EUR,Credit EUR\n"
    assert amounts(header + "2026-01-01,a,5.00,\n2026-01-02,b,,7.00\n") == [-500, 700]
    assert amounts(header + "2026-01-01,a,-5.00,0.00\n2026-01-02,b,0.00,7.00\n") == [-500, 700]


def test_a_row_with_both_or_neither_column_is_a_problem() -> None:
    (statement,) = read(
        "Date,Text,Debit EUR,Credit EUR\n2026-01-01,a,5.00,6.00\n2026-01-02,b,,\n2026-01-03,c,1.00,\n"
    ).statements
    assert [problem.reason for problem in statement.problems] == [
        "both its debit and its credit are filled",
        "it has no amount",
    ]


def test_markers_beside_the_amount_tell_the_direction() -> None:
    assert amounts("Date,Text,Amount EUR\n2026-01-01,a,5.00 DR\n2026-01-02,b,7.00 CR\n") == [-500, 700]


def test_a_marker_that_is_neither_is_a_problem() -> None:
    text = "Date;Text;Amount EUR;D/C\n" + "2026-01-01;a;5.00;D\n" * 9 + "2026-01-02;b;7.00;?\n"
    (statement,) = read(text).statements
    assert "neither debit nor credit" in statement.problems[0].reason


def test_each_account_of_a_file_gets_its_own_statement() -> None:
    text = "Account,Date,Text,Amount EUR\n" + "".join(
        f"{account},2026-01-0{day},x,-1.00\n" for account in ("A-1", "B-2") for day in (1, 2, 3)
    )
    statements = read(text).statements
    assert [(one.account.number if one.account else None, len(one.rows)) for one in statements] == [
        ("A-1", 3),
        ("B-2", 3),
    ]


def test_more_digits_than_the_currency_has_are_a_problem() -> None:
    (statement,) = read(
        "Date,Text,Amount,Currency\n2026-01-01,a,-5.005,EUR\n2026-01-02,a,-5.00,EUR\n"
    ).statements
    assert "more digits" in statement.problems[0].reason


def test_balances_that_do_not_fit_are_told() -> None:
    good = "Date,Text,Debit EUR,Credit EUR,Balance\n2026-01-01,a,5.00,,95.00\n2026-01-02,b,,7.00,102.00\n"
    assert read(good).balance_agrees is True
    swapped = good.replace("Debit EUR,Credit EUR", "Credit EUR,Debit EUR")
    assert read(swapped).balance_agrees is False


def test_a_description_says_each_thing_once() -> None:
    text = "Date,Payee,Memo,Amount EUR\n2026-01-01,Shop,Shop Berlin,-1.00\n2026-01-02,Shop,,-1.00\n"
    (statement,) = read(text).statements
    assert [row.description for row in statement.rows] == ["Shop Berlin", "Shop"]


def test_the_kind_of_a_booking_stands_for_a_missing_description() -> None:
    text = "Date,Description,Type,Amount EUR\n2026-01-01,Shop,Card,-1.00\n2026-01-02,,Fee,-1.00\n"
    (statement,) = read(text).statements
    assert [row.description for row in statement.rows] == ["Shop", "Fee"]


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("Konto;DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
        ("Account Number: 12-34-56 78901234", "12345678901234"),
        ("Kontonummer:;12345678", "12345678"),
        ("Compte de Dépôt carte n° 00012345678;", "00012345678"),
        ("Compte de Jean-Bruno 01/01/2026;", None),
        ("IBAN;DE00 0000 0000 0000 0000 00", None),
        ("Hello;World", None),
    ],
)
def test_the_account_above_the_header_is_found(line: str, number: str | None) -> None:
    account = account_of(read_table(f"{line}\n\nDate;Text;Amount\n2026-01-01;x;-1.00\n"))
    assert (account.number if account else None) == number


def test_an_iban_is_known_by_its_check_digits() -> None:
    assert is_iban("GB82 WEST 1234 5698 7654 32")
    assert not is_iban("GB83 WEST 1234 5698 7654 32")
    assert not is_iban("hello")


@pytest.mark.parametrize(
    ("final", "waiting"), [("Udført", "Venter"), ("Uitgevoerd", "In behandeling"), ("Executed", "On hold")]
)
def test_one_known_word_of_a_status_leaves_out_what_is_not_final(final: str, waiting: str) -> None:
    text = "Date,Text,Amount EUR,Status\n" + "".join(
        f"2026-01-0{day},x,-{day}.00,{final if day < 4 else waiting}\n" for day in (1, 2, 3, 4)
    )
    (statement,) = read(text).statements
    assert [row.pending for row in statement.rows] == [False, False, False, True]
