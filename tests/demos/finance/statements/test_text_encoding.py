"""Bytes of statement files as text."""

import pytest

from trunkline.demos.finance.statements.text_encoding import decode_text

TEXT = "Datum;Empfänger;Betrag\n01.02.2026;Café Zürich Süd;-3,20 €\n"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (TEXT.encode(), "utf-8"),
        (TEXT.encode("utf-8-sig"), "utf-8"),
        (TEXT.encode("utf-16"), "utf-16"),
        (TEXT.encode("utf-16-le"), "utf-16-le"),
        (TEXT.encode("utf-16-be"), "utf-16-be"),
        (TEXT.encode("utf-32"), "utf-32"),
        (TEXT.encode("cp1252"), "cp1252"),
    ],
)
def test_the_encoding_is_found(data: bytes, encoding: str) -> None:
    assert decode_text(data) == (TEXT, encoding)


def test_bytes_that_windows_does_not_have_are_latin_1() -> None:
    assert decode_text(b"caf\xe9 \x81") == ("café \x81", "latin-1")


def test_what_a_file_declares_counts_where_it_is_not_utf_8() -> None:
    assert decode_text("Œuvre €".encode("iso-8859-15"), "iso-8859-15") == ("Œuvre €", "iso-8859-15")
    assert decode_text("Œuvre".encode(), "latin-1") == ("Œuvre", "utf-8")
    assert decode_text(b"caf\xe9", "no-such-encoding") == ("café", "cp1252")


def test_short_files_are_read_too() -> None:
    assert decode_text(b"") == ("", "utf-8")
    assert decode_text(b"a") == ("a", "utf-8")


def test_the_words_of_a_header_tell_encodings_that_others_read_too() -> None:
    for text, encoding in (("Kwota;Tytuł\n1,00;Żabka", "cp1250"), ("取引日,残高\n", "cp932")):
        assert decode_text(text.encode(encoding)) == (text, encoding)
