"""MT940 by its library, and the sentence when that is missing."""

import sys

import pytest

from trunkline.demos.finance.statements.detection import detect_format
from trunkline.demos.finance.statements.mt940_reader import is_mt940, read_mt940
from trunkline.demos.finance.statements.statement import StatementError

FILE = (
    b":20:STARTUMS\r\n:25:12345678/0532013000\r\n:28C:1/1\r\n:60F:C260101EUR1000,00\r\n"
    b":61:2601020102D45,10NMSCNONREF//A1\r\n"
    b":86:105?00LASTSCHRIFT?20Rechnung 17?30BELADEBE?31DE02120300000000202051?32Stadtwerke\r\n"
    b":61:2601030103C500,00NTRFNONREF\r\n:86:166?00GUTSCHRIFT?20Lohn?32Firma\r\n"
    b":62F:C260103EUR1454,90\r\n-\r\n"
    b":20:STARTUMS\r\n:25:12345678/0532013000\r\n:28C:2/1\r\n:60F:C260104EUR1454,90\r\n"
    b":61:2601040104DR10,00NMSCNONREF\r\n:86:Kiosk\r\n:62F:C260104EUR1444,90\r\n-\r\n"
)


def test_all_statements_of_an_account_are_read_as_one() -> None:
    (statement,) = read_mt940(FILE)
    assert statement.account is not None
    assert statement.account.number == "12345678/0532013000"
    assert [(row.posted.isoformat(), row.amount, row.currency) for row in statement.rows] == [
        ("2026-01-02", -4510, "EUR"),
        ("2026-01-03", 50000, "EUR"),
        ("2026-01-04", -1000, "EUR"),
    ]
    assert [row.description for row in statement.rows] == ["Stadtwerke Rechnung 17", "Firma Lohn", "Kiosk"]
    assert [row.line for row in statement.rows] == [5, 7, 15]


def test_a_currency_behind_the_number_of_the_account_is_no_part_of_it() -> None:
    for behind in (b"EUR", b" EUR"):
        (statement,) = read_mt940(FILE.replace(b"/0532013000", b"/0532013000" + behind))
        assert statement.account is not None
        assert statement.account.number == "12345678/0532013000"


def test_a_reversed_credit_is_money_out_and_a_reversed_debit_comes_in() -> None:
    """SWIFT MT940, field 61, subfield 3: "RC Reversal of Credit (debit)", "RD Reversal of Debit (credit)"."""
    (statement,) = read_mt940(FILE.replace(b"0103C500", b"0103RC500").replace(b"0102D45", b"0102RD45"))
    assert [row.amount for row in statement.rows] == [4510, -50000, -1000]


def test_it_is_known_by_its_tags() -> None:
    assert is_mt940(FILE)
    assert detect_format(FILE) == "mt940"
    assert not is_mt940(b"Date,Amount\n2026-01-01,1.00\n")


def test_without_the_library_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mt940", None)
    with pytest.raises(StatementError, match=r"pip install 'trunkline\[finance\]'"):
        read_mt940(FILE)


def test_a_booking_that_the_library_cannot_read_is_not_dropped() -> None:
    with pytest.raises(StatementError, match=r"MT940|can be read"):
        read_mt940(FILE.replace(b":61:2601030103C500,00NTRFNONREF", b":61:nonsense"))
