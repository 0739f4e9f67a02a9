"""Tells what kind of file was given, and says in a sentence what a file is that is no statement."""

from __future__ import annotations

import re

from trunkline.demos.finance.statements.mt940_reader import is_mt940
from trunkline.demos.finance.statements.ofx_reader import is_ofx
from trunkline.demos.finance.statements.statement import LARGEST_FILE, Format, StatementError

_INSTEAD = "download the bookings as CSV, OFX or MT940 at the bank"
_BINARY = (
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP file or a spreadsheet"),
    (b"\xd0\xcf\x11\xe0", "an Excel file of the old kind"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x1f\x8b", "compressed"),
    (b"SQLite format 3", "a database"),
)


def detect_format(data: bytes) -> Format:
    """Give the format of a statement; StatementError says what the file is otherwise."""
    if len(data) > LARGEST_FILE:
        raise StatementError(
            f"it is larger than {LARGEST_FILE >> 20} MB: download a shorter period, and import the parts"
        )
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf\xff\xfe"):
        raise StatementError("it is empty: download it again")
    for start, what in _BINARY:
        if data.startswith(start):
            raise StatementError(f"it is {what}, which is not read: {_INSTEAD}")
    if is_ofx(data):
        return "ofx"
    if is_mt940(data):
        return "mt940"
    head = data[:4096].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    if head.startswith(b"!Type:"):
        raise StatementError(f"it is QIF, which does not say how its dates are written: {_INSTEAD}")
    if b"camt.05" in head:
        raise StatementError(f"it is CAMT, which is not read: {_INSTEAD}")
    if head.startswith((b"<!DOCTYPE", b"<html", b"<HTML", b"<?xml", b"<")):
        what = "a web page" if re.search(rb"<html", head, re.IGNORECASE) else "XML, and no OFX"
        raise StatementError(f"it is {what}: {_INSTEAD}")
    if head.startswith((b"{", b"[")):
        raise StatementError(f"it is JSON, and no statement: {_INSTEAD}")
    control = sum(byte < 9 for byte in data[:4096].replace(b"\0", b""))
    if control > 4 or (b"\0" in data[:4096] and data[:4096].count(0) < len(data[:4096]) // 4):
        raise StatementError(f"it is no text: {_INSTEAD}")
    return "csv"
