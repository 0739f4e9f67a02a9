"""Our reader of OFX against two others, ofxparse and ofxtools, in an environment of their own."""

import datetime
import html
import json
import random
import re
import subprocess
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

from tests.demos.finance.statements.ofx_files import CARDS_2, HEADER_1, HEADER_2, SIGNON
from trunkline.demos.finance.statements.ofx_reader import parse_ofx_date, read_ofx

Reads = Callable[[str, bytes], list[list[Any]]]


@pytest.fixture(scope="module")
def peer(root: Path) -> Reads:
    """Give a function that reads a file by another reader."""
    made = subprocess.run(
        [root / "scripts/peer-venv", "ofx-peers"], capture_output=True, text=True, check=True, timeout=300
    )
    words = [
        f"{made.stdout.strip()}/bin/python",
        "-W",
        "ignore",
        str(root / "tests/peers/python/read_ofx.py"),
    ]

    def read(reader: str, data: bytes) -> list[list[Any]]:
        done = subprocess.run([*words, reader], input=data, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    return read


def ours(data: bytes) -> list[list[Any]]:
    """Give our reading in the form of the others; the moments are read from the file once more."""
    moments = [parse_ofx_date(text) for text in re.findall(r"<DTPOSTED>([^<\s]+)", data.decode("latin-1"))]
    rows = [
        (statement.account.number if statement.account else None, row)
        for statement in read_ofx(data)
        for row in statement.rows
    ]
    assert [moment.date() for moment in moments] == [row.posted for _, row in rows]
    return [
        [
            number,
            row.native_id,
            row.amount,
            moment.astimezone(datetime.UTC).replace(microsecond=0).isoformat(),
            row.description,
        ]
        for (number, row), moment in zip(rows, moments, strict=True)
    ]


def agree(theirs: list[list[Any]], mine: list[list[Any]]) -> None:
    assert len(theirs) == len(mine)
    for (number, fitid, amount, moment, name, memo), row in zip(theirs, mine, strict=True):
        assert [number, fitid, int(Decimal(amount) * 100), moment] == row[:4]
        # ofxtools leaves the numbers of letters as they are.
        words = [" ".join(html.unescape(text).split()) for text in (name, memo)]
        assert all(word in row[4] for word in words)


def made_file(seed: int, version: int) -> bytes:
    """Give a file with bookings of many forms, always the same for a seed."""
    chance = random.Random(seed)
    rows: list[str] = []
    for number in range(chance.randint(1, 12)):
        day = datetime.date(2026, 1, 1) + datetime.timedelta(chance.randint(0, 300))
        time = chance.choice(
            ["", "120000", "235959.000", "003000[-5:EST]", "120000.000[+2:CEST]", "000000[0:GMT]"]
        )
        name = escape(chance.choice(["COFFEE & MORE", "Café <Ouest>", "Müller", "AT&T *BILL", "O'Neil"]))
        memo = chance.choice(["", escape("Rechnung & mehr"), "x" * 100])
        amount = f"{chance.randint(-99999, 99999) / 100:.2f}"
        fields = [("TRNTYPE", "OTHER"), ("DTPOSTED", f"{day:%Y%m%d}{time}"), ("TRNAMT", amount)]
        fields += [("FITID", f"F{number}"), ("NAME", name)] + ([("MEMO", memo)] if memo else [])
        rows.append(
            "<STMTTRN>"
            + "\n".join(f"<{tag}>{value}{f'</{tag}>' if version == 2 else ''}" for tag, value in fields)
            + "\n</STMTTRN>\n"
        )
    if version == 2:
        first = CARDS_2.index("<STMTTRN>")
        return (CARDS_2[:first] + "".join(rows) + CARDS_2[CARDS_2.index("</BANKTRANLIST>") :]).encode(
            "ascii",
            "xmlcharrefreplace",  # ofxparse reads no other letters without a header of version 1.
        )
    return (
        HEADER_1
        + "<OFX>"
        + SIGNON
        + "<BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STATUS><CODE>0<SEVERITY>INFO</STATUS>\n<STMTRS><CURDEF>USD\n"
        + "<BANKACCTFROM><BANKID>123456789<ACCTID>12345678<ACCTTYPE>CHECKING</BANKACCTFROM>\n<BANKTRANLIST>"
        + f"<DTSTART>20260101<DTEND>20261231\n{''.join(rows)}</BANKTRANLIST>\n"
        + "<LEDGERBAL><BALAMT>0.00<DTASOF>20261231</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"
    ).encode("cp1252")


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["ofxparse", "ofxtools"])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_other_readers_find_the_same_bookings(peer: Reads, reader: str, version: int, seed: int) -> None:
    data = made_file(seed, version)
    assert data.decode("latin-1").startswith(HEADER_1[:10] if version == 1 else HEADER_2[:10])
    agree(peer(reader, data), ours(data))
