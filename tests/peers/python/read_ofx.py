"""Reads an OFX file from stdin by another reader (ofxparse or ofxtools) and prints its bookings as JSON.

Runs in the environment of requirements/ofx-peers.txt.
"""

import importlib
import io
import json
import sys
from collections.abc import Iterator
from datetime import UTC
from typing import Any

Booking = tuple[str, str, str, Any, str, str]


def by_ofxparse(data: bytes) -> Iterator[Booking]:
    # The environment this file is checked in does not have it.
    library: Any = importlib.import_module("ofxparse")
    for account in library.OfxParser.parse(io.BytesIO(data)).accounts:
        for row in account.statement.transactions:
            moment = row.date.replace(tzinfo=UTC)
            yield account.account_id, row.id, str(row.amount), moment, row.payee or "", row.memo or ""


def by_ofxtools(data: bytes) -> Iterator[Booking]:
    library: Any = importlib.import_module("ofxtools.Parser")
    tree = library.OFXTree()
    tree.parse(io.BytesIO(data))
    for statement in tree.convert().statements:
        for row in statement.transactions:
            moment = row.dtposted.astimezone(UTC)
            yield statement.account.acctid, row.fitid, str(row.trnamt), moment, row.name or "", row.memo or ""


def main() -> None:
    reader = {"ofxparse": by_ofxparse, "ofxtools": by_ofxtools}[sys.argv[1]]
    rows = [
        [account, fitid, amount, moment.replace(microsecond=0).isoformat(), name, memo]
        for account, fitid, amount, moment, name, memo in reader(sys.stdin.buffer.read())
    ]
    json.dump(rows, sys.stdout)


main()
