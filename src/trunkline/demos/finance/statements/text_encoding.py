"""Bytes of a statement file as text: byte order marks, UTF-8, UTF-16, Windows-125x, Shift JIS and Latin-1."""

from __future__ import annotations

import codecs

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 4096
_BY_WORDS = (
    ("cp932", ("日付", "取引日", "年月日", "利用日")),
    ("cp1250", ("Kwota", "kwota", "Částka", "Objem", "Összeg")),
)
"""Encodings whose bytes others can be read in too: a word above a column tells them."""


def decode_text(data: bytes, declared: str | None = None) -> tuple[str, str]:
    """Give the text and the encoding that was used.

    ``declared`` is what the file says about itself. UTF-8 is tried before it: text in another encoding is
    hardly ever valid UTF-8, and many banks declare what they do not write.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace"), encoding.removesuffix("-sig")
    encoding = _utf16_without_mark(data)
    if encoding is not None:
        return data.decode(encoding, "replace"), encoding
    for encoding in ("utf-8", declared, *_told_by_words(data), "cp1252"):
        try:
            if encoding is not None:
                return data.decode(encoding), encoding
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("latin-1"), "latin-1"


def _told_by_words(data: bytes) -> list[str]:
    sample = data[:_SAMPLE]
    return [
        encoding
        for encoding, words in _BY_WORDS
        if any(word in sample.decode(encoding, "replace") for word in words)
    ]


def _utf16_without_mark(data: bytes) -> str | None:
    """Give the UTF-16 that a text mostly of ASCII letters is in: every second byte is zero."""
    sample = data[:_SAMPLE]
    if len(sample) < 4:
        return None
    zeros_even, zeros_odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if zeros_odd > 0.7 * half and zeros_even < 0.1 * half:
        return "utf-16-le"
    if zeros_even > 0.7 * half and zeros_odd < 0.1 * half:
        return "utf-16-be"
    return None
