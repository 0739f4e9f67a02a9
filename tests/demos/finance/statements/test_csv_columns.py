"""What the columns of CSV files hold, in the dialects of many banks."""

import pytest
from tests.demos.finance.statements.bank_files import BELGIAN, DIALECTS, US_CARD, Dialect

from trunkline.demos.finance.statements.csv_columns import draft_mapping
from trunkline.demos.finance.statements.csv_layout import read_table
from trunkline.demos.finance.statements.csv_reader import read_csv
from trunkline.demos.finance.statements.mapping import Draft, answer_draft, finish_draft
from trunkline.demos.finance.statements.text_encoding import decode_text


def draft(text: str) -> Draft:
    return draft_mapping(read_table(text))


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name[:30])
def test_the_bookings_of_a_bank_are_read_without_a_question_about_columns_dates_or_signs(
    dialect: Dialect,
) -> None:
    table = read_table(decode_text(dialect.data)[0])
    known = draft_mapping(table)
    assert None not in (known.date, known.date_order, known.decimal, known.sign)
    asked = known.currency is None and known.currency_column is None and not known.amounts_name_currency
    assert asked == (dialect is US_CARD)  # Nothing in that file names a currency.
    if asked:
        known = answer_draft(table, known, {"currency": "usd"})
    mapping = finish_draft(known)
    assert mapping is not None
    read = read_csv(table, mapping)
    rows = [row for statement in read.statements for row in statement.rows if not row.pending]
    shown = [(row.posted.isoformat(), row.amount, row.currency) for row in rows]
    assert shown == [booking[:3] for booking in dialect.bookings]
    assert all(part in row.description for row, (*_, part) in zip(rows, dialect.bookings, strict=True))
    assert [problem for statement in read.statements for problem in statement.problems] == []
    assert read.balance_agrees is not False


def test_dates_are_ambiguous_only_if_every_row_is() -> None:
    unclear = "Date,Text,Amount EUR\n01/02/2026,a,-1.00\n03/04/2026,b,-2.00\n"
    assert draft(unclear).date_order is None
    assert draft(unclear + "25/04/2026,c,-2.00\n").date_order == "dmy"
    assert draft(unclear + "04/25/2026,c,-2.00\n").date_order == "mdy"


def test_days_before_dots_are_never_ambiguous() -> None:
    assert draft("Datum;Text;Betrag EUR\n01.02.26;a;-1,00\n").date_order == "dmy"


def test_what_people_sort_their_bookings_into_is_no_description() -> None:
    """A category that is changed at the bank would make the booking of the next file a new one."""
    header = "Buchungstag;Umsatzart;Buchungstext;Betrag EUR;IBAN Auftraggeberkonto;Kategorie\n"
    rows = "".join(
        f"0{day}.01.2026;Lastschrift;REWE {day} sagt danke;-1,0{day};DE89370400440532013000;Unkategorisiert\n"
        for day in range(1, 4)
    )
    assert draft(header + rows).texts == (2,)


def test_the_owner_of_the_account_is_no_payee() -> None:
    table = read_table(decode_text(BELGIAN.data)[0])
    mapping = finish_draft(draft_mapping(table))
    assert mapping is not None
    (statement,) = read_csv(table, mapping).statements
    assert not any("MUSTER" in row.description for row in statement.rows)


def test_the_partners_account_is_not_taken_for_the_own_one() -> None:
    text = "Datum;Name;IBAN;Betrag EUR\n" + "".join(f"0{n}.01.2026;x;DE0{n};-1,00\n" for n in range(1, 6))
    assert draft(text).account_column is None
    same = "".join(f"0{n}.01.2026;x;DE02120300000000202051;-1,00\n" for n in range(1, 6))
    header = "Datum;Name;IBAN;Betrag EUR\n"
    assert draft(header + same).account_column == 2
    assert draft("Girokonto;DE89 3704 0044 0532 0130 00\n\n" + header + same).account_column is None


def test_numbers_of_rows_are_no_ids_of_the_bank() -> None:
    header, rows = "ID,Date,Text,Amount EUR\n", "2026-01-01,x,-1.00\n{},2026-01-02,x,-1.00\n"
    assert draft(f"{header}1,{rows.format(2)}").native_id is None
    assert draft(f"{header}4711000,{rows.format(4711000)}").native_id is None
    assert draft(f"{header}4711000,{rows.format(4711001)}").native_id == 0


def test_columns_without_names_are_told_by_their_cells() -> None:
    known = draft(
        "2026-01-01;Bakery;-3,20;96,80\n2026-01-02;Shop;-10,00;86,80\n2026-01-03;Pay;50,00;136,80\n"
    )
    assert (known.date, known.amount, known.balance, known.texts) == (0, 2, 3, (1,))


def test_what_no_name_and_no_cell_tells_stays_open() -> None:
    known = draft("one,two,three,four\n2026-01-01,5.10,7.30,x\n2026-01-02,6.20,8.50,y\n")
    assert known.amount is None
    assert known.date == 0


def test_an_amount_in_a_foreign_currency_is_not_the_amount() -> None:
    known = draft(
        "Date,Payee,Amount (EUR),Amount (Foreign Currency),Exchange Rate\n2026-01-01,x,-9.10,-10.00,1.0989\n"
    )
    assert known.amount == 2
    assert known.currency == "EUR"


def test_a_column_that_is_empty_in_the_first_file_is_read_in_the_next() -> None:
    header = "Date,Text,Memo,Debit EUR,Credit EUR\n"
    known = draft(header + "2026-01-01,a,,5.00,\n")
    assert (known.debit, known.credit, set(known.texts)) == (3, 4, {1, 2})
    assert draft(header + "2026-01-01,a,,,5.00\n").debit == 3


def test_balances_prove_which_of_two_columns_without_a_name_is_money_out() -> None:
    rows = "10/13/2026,SHOP,54.20,,945.80\n10/05/2026,PAY,,1000.00,1000.00\n10/02/2026,RENT,500.00,,0.00\n"
    known = draft(rows)
    assert (known.debit, known.credit, known.balance, known.sign) == (2, 3, 4, "two_columns")
    swapped = (
        rows.replace(",54.20,,", ",,54.20,")
        .replace(",,1000.00,", ",1000.00,,")
        .replace(",500.00,,", ",,500.00,")
    )
    known = draft(swapped)
    assert (known.debit, known.credit, known.balance) == (3, 2, 4)
    known = draft(rows.replace("945.80", "900.00").replace(",1000.00\n", ",7.00\n"))
    assert (known.debit, known.credit, known.balance) == (None, None, None)


def test_what_was_billed_counts_and_not_what_a_shop_asked_for() -> None:
    known = draft(
        "Date,Description,Transaction amount,Transaction currency,Billing amount,Billing currency\n"
        "13/10/2026,AMAZON US,-54.20,USD,-423.10,HKD\n12/10/2026,PARKNSHOP,-100.00,HKD,-100.00,HKD\n"
    )
    assert (known.amount, known.currency_column) == (4, 5)


def test_a_category_is_the_description_where_nothing_else_is() -> None:
    known = draft("Date,Category,Amount EUR\n2026-10-01,Groceries,-5.00\n2026-10-02,Rent,-500.00\n")
    assert (known.texts, known.fallback_text) == ((), 1)


def test_a_name_in_some_rows_only_is_not_that_of_the_owner() -> None:
    header = "Date,Payee,Merchant,Description,Amount EUR\n"
    rows = "2026-10-01,,Netflix,x,-5.00\n2026-10-02,Bob,,x,-6.00\n2026-10-03,Eva,,x,-7.00\n"
    assert draft(header + rows).texts == (1, 2, 3)


def test_numbers_in_a_column_without_a_name_do_not_go_on_with_the_description() -> None:
    header, rows = "Date,Description,,Amount EUR,Balance\n", "2026-10-01,REWE,12.50,-5.00,95.00\n"
    assert draft(header + rows).texts == (1,)
