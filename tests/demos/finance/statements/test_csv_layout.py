"""Delimiters, lines before the header, quotes and line numbers of CSV files."""

import pytest

from trunkline.demos.finance.statements.csv_layout import read_table
from trunkline.demos.finance.statements.statement import StatementError


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str) -> None:
    rows = [["Date", "Text", "Amount"], ["2026-01-02", "x, y; z", "-1.00"], ["2026-01-03", "w", "-2.00"]]
    text = "".join(delimiter.join(f'"{cell}"' for cell in row) + "\n" for row in rows)
    table = read_table(text)
    assert table.delimiter == delimiter
    assert [list(record.cells) for record in table.records] == rows[1:]


def test_a_record_knows_the_line_where_it_begins() -> None:
    table = read_table('About,this\n\nDate,Text,Amount\n2026-01-02,"two\nlines",-1.00\n2026-01-03,x,-2.00\n')
    assert [record.line for record in table.records] == [4, 6]
    assert table.records[0].cells[1] == "two\nlines"
    assert [record.line for record in table.preamble] == [1, 2]


@pytest.mark.parametrize(
    "last",
    ['2026-01-04,"y",-3.00,"\n', '2026-01-04,y",-3.00\n', "2026-01-04,y,z,-3.00\n"],
    ids=["another quote", "closed below", "never closed"],
)
def test_a_quote_that_is_not_closed_swallows_no_rows(last: str) -> None:
    text = 'Date,Text,Amount\n2026-01-02,"open,-1.00\n2026-01-03,x,-2.00\n2026-01-03,a,b,-2.00\n' + last
    with pytest.raises(StatementError, match=r"line 2 "):
        read_table(text)


def test_a_stray_quote_is_a_letter_when_all_lines_fit_then() -> None:
    table = read_table('Date;Text;Amount\n2026-01-02;"Pizza" 12 inch;-1.00\n2026-01-03;x;-2.00\n')
    assert not table.quoting
    assert table.records[0].cells == ("2026-01-02", '"Pizza" 12 inch', "-1.00")


def test_a_text_without_bookings_is_refused_with_a_sentence() -> None:
    with pytest.raises(StatementError, match="no line with a date and an amount"):
        read_table("Dear customer,\nthank you for your letter, and goodbye.\n")


def test_the_fingerprint_is_of_the_header_and_not_of_the_rows() -> None:
    first = read_table("Date;Text;Amount\n2026-01-02;x;-1.00\n")
    second = read_table("Account;12345678\n\nDATE;text;Amount\n2026-03-02;y;-5.00\n2026-03-04;z;-5.00\n")
    other = read_table("Date;Payee;Amount\n2026-01-02;x;-1.00\n")
    assert first.fingerprint == second.fingerprint != other.fingerprint


def test_a_file_without_header_has_a_fingerprint_of_its_columns() -> None:
    first = read_table("2026-01-02;x;-1.00\n2026-01-03;y;-1.00\n")
    assert first.header is None
    assert first.fingerprint == read_table("2026-05-02;other;7.00\n").fingerprint


def test_files_without_header_of_two_banks_have_two_fingerprints() -> None:
    british = read_table('2026-10-04,-18.20,"TESCO STORES","",GBP\n2026-10-11,-9.99,"NETFLIX","",GBP\n')
    american = read_table('"10/03/2026","-25.00","*","","SAFEWAY"\n"10/05/2026","-12.50","*","","SUBWAY"\n')
    starred = read_table('"2026-10-03","-25.00","*","","SAFEWAY"\n"2026-10-05","-12.50","*","","SUBWAY"\n')
    assert len({british.fingerprint, american.fingerprint, starred.fingerprint}) == 3


def test_thousands_of_cells_are_refused() -> None:
    with pytest.raises(StatementError, match="cells"):
        read_table("Date,Text,Amount\n2026-01-02,x,-1.00\n" + "," * 5000 + "\n")
