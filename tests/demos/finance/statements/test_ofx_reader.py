"""OFX and QFX of both versions, and files that only pretend to be."""

import datetime
import time

import pytest
from tests.demos.finance.statements.ofx_files import BANK_1, CARDS_2, FILES, HEADER_1, HEADER_2, ofx_of

from trunkline.demos.finance.statements.ofx_reader import is_ofx, parse_ofx_date, read_ofx
from trunkline.demos.finance.statements.statement import StatementError


def test_version_1_is_read_with_leaves_that_have_no_end_tag() -> None:
    (statement,) = read_ofx(BANK_1.encode("cp1252"))
    assert statement.account is not None
    assert (statement.account.number, statement.account.kind, statement.account.institution) == (
        "000012345678",
        "checking",
        "First Bank",
    )
    assert [
        (row.posted.isoformat(), row.amount, row.native_id, row.description) for row in statement.rows
    ] == [
        ("2026-01-15", -450, "F1", "COFFEE & MORE Card 1234"),
        ("2026-01-15", -450, "F2", "COFFEE & MORE"),
        ("2026-01-31", 100000, "F3", "PAYROLL"),
    ]
    assert all(row.currency == "USD" for row in statement.rows)
    assert [row.line for row in statement.rows] == [14, 16, 18]


def test_bookings_that_are_not_closed_are_all_read() -> None:
    data = ofx_of([("20260301", "-4.50", "A", "Coffee"), ("20260302", "-5.50", "B", "Tea")])
    assert b"</STMTTRN>" in data
    (statement,) = read_ofx(data.replace(b"</STMTTRN>", b""))
    assert statement.rows == read_ofx(data)[0].rows
    assert len(statement.rows) == 2


def test_version_2_is_read_with_several_statements_and_a_card() -> None:
    savings, card = read_ofx(CARDS_2.encode())
    assert savings.account is not None
    assert card.account is not None
    assert (savings.account.kind, savings.account.number) == ("savings", "SAV-1")
    assert (card.account.kind, card.account.number) == ("card", "4111-1111")
    assert [row.description for row in (*savings.rows, *card.rows)] == [
        "Zinsen für Februar",
        "Bücher <Laden> Online",
    ]
    assert card.rows[0].amount == -3310


@pytest.mark.parametrize(
    ("text", "offset", "day"),
    [
        ("20260115", 0, 15),
        ("20260115203000", 0, 15),
        ("20260115203000.000[-5:EST]", -5, 15),
        ("20260115003000[+5.5:IST]", 5.5, 15),
        ("20260115003000[-3.30:NST]", -3.5, 15),
        ("20260115235959.123[0:GMT]", 0, 15),
        ("2026011520", 0, 15),
    ],
)
def test_a_date_keeps_its_zone_and_the_day_of_the_bank(text: str, offset: float, day: int) -> None:
    moment = parse_ofx_date(text)
    assert moment.utcoffset() == datetime.timedelta(hours=offset)
    assert moment.date() == datetime.date(2026, 1, day)


def test_entities_that_a_file_declares_are_refused_and_never_expanded() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 20))
    bomb = f'<?xml version="1.0"?><!DOCTYPE OFX [<!ENTITY l0 "ha">{laughs}]><OFX><MEMO>&l19;</MEMO></OFX>'
    with pytest.raises(StatementError, match="declares"):
        read_ofx(bomb.encode())
    with pytest.raises(StatementError, match="declares"):
        read_ofx(b'<OFX><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>&a;</OFX>')


def test_an_unknown_entity_stays_as_it_is_written() -> None:
    data = CARDS_2.replace("Zinsen", "&zinsen; AT&T").encode()
    assert read_ofx(data)[0].rows[0].description == "&zinsen; AT&T für Februar"


def test_cdata_and_comments_are_text_and_nothing() -> None:
    data = CARDS_2.replace("<NAME>Zinsen für", "<NAME><!-- none --><![CDATA[A <b> & c]]>").encode()
    assert read_ofx(data)[0].rows[0].description == "A <b> & c Februar"


def test_a_row_that_cannot_be_read_is_a_problem_with_its_line() -> None:
    data = ofx_of([("20260101", "-1.00", "A", "Good"), ("20261399", "-2.00", "B", "Bad day")])
    (statement,) = read_ofx(data + b"")
    assert len(statement.rows) == 1
    assert [problem.line for problem in statement.problems] == [statement.rows[0].line + 1]
    (statement,) = read_ofx(ofx_of([("20260101", "1.2.x", "A", "Bad amount")]))
    assert "no amount" in statement.problems[0].reason


def test_an_error_of_the_bank_is_said() -> None:
    data = BANK_1.replace(
        "<CODE>0<SEVERITY>INFO</STATUS>\n", "<CODE>2000<SEVERITY>ERROR<MESSAGE>Try later</STATUS>\n"
    )
    with pytest.raises(StatementError, match="2000 Try later"):
        read_ofx(data.encode())


def test_investments_are_named_and_left_out() -> None:
    only = HEADER_1 + "<OFX><INVSTMTMSGSRSV1><INVSTMTTRNRS><INVSTMTRS></INVSTMTRS></INVSTMTTRNRS></OFX>"
    with pytest.raises(StatementError, match="only investments"):
        read_ofx(only.encode())
    both = CARDS_2.replace(
        "</OFX>", "<INVSTMTMSGSRSV1><INVSTMTTRNRS><INVSTMTRS></INVSTMTRS></INVSTMTTRNRS></OFX>"
    )
    assert read_ofx(both.encode())[0].notes == ("1 investment statement of this file left out",)


def test_files_that_begin_as_ofx_and_are_none_get_a_sentence() -> None:
    with pytest.raises(StatementError, match="no <OFX> element"):
        read_ofx(HEADER_1.encode())
    with pytest.raises(StatementError, match="no account statement"):
        read_ofx((HEADER_2 + "<OFX></OFX>").encode())
    with pytest.raises(StatementError, match="too deep"):
        read_ofx(b"<OFX>" + b"<STMTRS>" * 100)


def test_pending_bookings_and_corrections_are_told_apart() -> None:
    pending = CARDS_2.replace("<STMTTRN><TRNTYPE>INT", "<STMTTRNP><TRNTYPE>INT").replace(
        "Februar</NAME></STMTTRN>", "Februar</NAME></STMTTRNP>"
    )
    assert read_ofx(pending.encode())[0].rows[0].pending
    corrected = CARDS_2.replace(
        "<FITID>I1", "<CORRECTFITID>I0</CORRECTFITID><CORRECTACTION>DELETE</CORRECTACTION><FITID>I1"
    )
    assert "DELETE I0" in read_ofx(corrected.encode())[0].problems[0].reason


def test_ofx_is_known_by_its_beginning() -> None:
    assert all(is_ofx(data) for data in FILES.values())
    assert is_ofx(BANK_1.encode("utf-16"))
    assert not is_ofx(b"Date,Amount\n")


@pytest.mark.parametrize("piece", ["<!--", "<![CDATA[", "<?", "<a", "<STMTTRN", "&#", "<"])
def test_a_file_of_begun_things_is_read_or_refused_in_one_pass(piece: str) -> None:
    begun = time.process_time()
    with pytest.raises(StatementError):
        read_ofx(b"<OFX>" + piece.encode() * (1_000_000 // len(piece)))
    assert time.process_time() - begun < 10
