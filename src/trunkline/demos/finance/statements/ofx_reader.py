"""Reads OFX and QFX: version 1 (SGML, leaves without an end tag) and version 2 (XML), by one tokenizer.

The file is never given to an XML parser. Entities that a file declares are refused, not expanded, so a
"billion laughs" has nothing to grow in; what remains is one pass over the text.
"""

from __future__ import annotations

import datetime
import html
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from trunkline.demos.finance.statements.amounts import to_minor
from trunkline.demos.finance.statements.statement import (
    MOST_ROWS,
    Account,
    AccountKind,
    Problem,
    Statement,
    StatementError,
    StatementRow,
    join_texts,
    shorten,
)
from trunkline.demos.finance.statements.text_encoding import decode_text

_TAG = re.compile(r"<(?P<end>/?)(?P<tag>[A-Za-z][\w.\-]{0,63})(?:\s[^<>]*)?(?P<empty>/?)>")
_UNREAD = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"))
"""What begins and ends as a whole; each is looked for once, so that a file without the end costs one pass."""
# Every other element is a leaf. In version 1 a leaf has no end tag, also when it is empty.
_AGGREGATES = frozenset({
    "OFX", "SIGNONMSGSRSV1", "SONRS", "FI", "STATUS", "BANKMSGSRSV1", "CREDITCARDMSGSRSV1",
    "STMTTRNRS", "CCSTMTTRNRS", "STMTRS", "CCSTMTRS", "BANKACCTFROM", "CCACCTFROM", "BANKACCTTO",
    "CCACCTTO", "BANKTRANLIST", "BANKTRANLISTP", "STMTTRN", "STMTTRNP", "LEDGERBAL", "AVAILBAL",
    "PAYEE", "CURRENCY", "ORIGCURRENCY", "INVSTMTMSGSRSV1", "INVSTMTTRNRS", "INVSTMTRS",
    "INVTRANLIST", "INVBANKTRAN", "BALLIST", "BAL", "IMAGEDATA", "EXTDPAYEE"
})  # fmt: skip
_STATEMENTS = ("STMTRS", "CCSTMTRS")
_BOOKINGS = ("STMTTRN", "STMTTRNP")
_DEEPEST = 64
_LONGEST_VALUE = 4000
_MOST_STRAY = 10_000
_DATE = re.compile(
    r"(?P<day>\d{8})(?P<time>\d{2,6})?(?:\.\d{1,6})?\s*(?:\[(?P<zone>[+-]?\d{1,2}(?:\.\d{1,2})?)(?::[^\]]*)?\])?"
)
_CHARSETS = {
    "1252": "cp1252",
    "ISO-8859-1": "latin-1",
    "8859-1": "latin-1",
    "UTF-8": "utf-8",
    "UNICODE": "utf-16",
}
_KINDS: dict[str, AccountKind] = {"SAVINGS": "savings", "MONEYMRKT": "savings", "CD": "savings"}


class _Element:
    """An aggregate: the first value of each leaf, and the aggregates inside."""

    def __init__(self, name: str, line: int) -> None:
        self.name = name
        self.line = line
        self.leaves: dict[str, str] = {}
        self.children: list[_Element] = []

    def find(self, *names: str) -> Iterator[_Element]:
        """Give the aggregates of these names below, in the order of the file."""
        for child in self.children:
            if child.name in names:
                yield child
            else:
                yield from child.find(*names)

    def child(self, name: str) -> _Element:
        """Give the aggregate of this name right inside, or an empty one."""
        return next((one for one in self.children if one.name == name), _Element(name, self.line))

    def get(self, *names: str) -> str:
        """Give the first of these leaves that is filled."""
        return next((value for name in names if (value := self.leaves.get(name, ""))), "")


def is_ofx(data: bytes) -> bool:
    """Whether a file begins as OFX does."""
    head = data[:4096].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").upper()
    return (
        head.startswith((b"OFXHEADER", b"<OFX>"))
        or b"<?OFX" in head
        or (b"<OFX>" in head and b"<HTML" not in head)
    )


def read_ofx(data: bytes) -> list[Statement]:
    """Read all statements of a file; StatementError if it has none or says that the bank failed."""
    text, _ = decode_text(data, _declared_charset(data))
    begin = re.search(r"<OFX[\s>]", text, re.IGNORECASE)
    if begin is None:
        raise StatementError("it begins as OFX and has no <OFX> element: download it again")
    if re.search(r"<!\s*(DOCTYPE|ENTITY)", text[: begin.start()], re.IGNORECASE):
        raise StatementError("it declares a document type or entities, which OFX has none of: it is not read")
    root = _parse(text[begin.start() :], text.count("\n", 0, begin.start()) + 1)
    _refuse_errors(root)
    currency_of_bank = root.get("CURDEF")
    institution = next((fi.get("ORG") for fi in root.find("FI")), "") or None
    statements = [_statement(element, currency_of_bank, institution) for element in root.find(*_STATEMENTS)]
    investments = len(list(root.find("INVSTMTRS")))
    if not statements:
        what = "only investments, which are not read" if investments else "no account statement"
        raise StatementError(f"it has {what}: download the bookings of a bank account or a card")
    if investments:
        note = f"{investments} investment statement{'s' * (investments > 1)} of this file left out"
        first = statements[0]
        statements[0] = Statement(
            format="ofx",
            account=first.account,
            rows=first.rows,
            problems=first.problems,
            notes=(*first.notes, note),
        )
    return statements


def parse_ofx_date(text: str) -> datetime.datetime:
    """Read ``YYYYMMDDHHMMSS.XXX[offset:name]`` with its zone; GMT without one (OFX 2.3, section 3.2.8.1)."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{shorten(text, 40)!r} is no date")
    zone = float(match["zone"] or 0)
    # Offsets are hours; 5.30 is written for five and a half by some banks, 5.5 by others.
    hours = int(zone)
    part = abs(zone - hours)
    minutes = (
        round(part * 100)
        if match["zone"] and re.search(r"\.(30|45|15)$", match["zone"])
        else round(part * 60)
    )
    sign = -1 if (match["zone"] or "").startswith("-") else 1
    offset = datetime.timedelta(hours=hours, minutes=sign * minutes)
    time = (match["time"] or "").ljust(6, "0")
    moment = datetime.datetime.strptime(match["day"] + time, "%Y%m%d%H%M%S")
    return moment.replace(tzinfo=datetime.timezone(offset))


def _statement(element: _Element, fallback_currency: str, institution: str | None) -> Statement:
    card = element.name == "CCSTMTRS"
    source = element.child("CCACCTFROM" if card else "BANKACCTFROM")
    currency = (element.get("CURDEF") or fallback_currency).upper()
    kind: AccountKind = "card" if card else _KINDS.get(source.get("ACCTTYPE").upper(), "checking")
    rows: list[StatementRow] = []
    problems: list[Problem] = []
    for booking in element.find(*_BOOKINGS):
        if len(rows) >= MOST_ROWS:
            raise StatementError(f"it has more than {MOST_ROWS} bookings: download it in parts")
        try:
            rows.append(_row(booking, currency))
        except ValueError as error:
            text = shorten(" ".join(booking.leaves.values()), 120)
            problems.append(Problem(line=booking.line, text=text, reason=str(error)))
    return Statement(
        format="ofx",
        account=Account(
            number=source.get("ACCTID") or None, kind=kind, currency=currency or None, institution=institution
        ),
        rows=tuple(rows),
        problems=tuple(problems),
    )


def _row(booking: _Element, currency: str) -> StatementRow:
    if action := booking.get("CORRECTACTION"):
        raise ValueError(
            f"it corrects an earlier booking ({action} {booking.get('CORRECTFITID')}), by hand please"
        )
    # The day as the bank writes it: in its own zone, whatever day that is at ours.
    posted = parse_ofx_date(booking.get("DTPOSTED", "DTTRAN", "DTUSER")).date()
    code = booking.child("CURRENCY").get("CURSYM").upper() or currency
    if re.fullmatch(r"[A-Z]{3}", code) is None:
        raise ValueError("its currency is not named")
    return StatementRow(
        line=booking.line,
        posted=posted,
        amount=to_minor(_amount(booking.get("TRNAMT")), code),
        currency=code,
        description=join_texts(
            booking.get("NAME") or booking.child("PAYEE").get("NAME"), booking.get("MEMO"), None
        )
        or shorten(" ".join(filter(None, (booking.get("TRNTYPE").title(), booking.get("CHECKNUM"))))),
        native_id=booking.get("FITID") or None,
        pending=booking.name == "STMTTRNP",
    )


def _amount(text: str) -> Decimal:
    # "Amounts that do not represent whole numbers must include a decimal point or comma" (OFX 2.3, 3.2.9.2).
    plain = text.replace(" ", "")
    if plain.count(",") + plain.count(".") > 1:
        mark = max(plain.rfind(","), plain.rfind("."))
        plain = re.sub(r"[.,]", "", plain[:mark]) + "." + plain[mark + 1 :]
    if re.fullmatch(r"[+-]?(\d+[.,]?\d*|[.,]\d+)", plain) is None:
        raise ValueError(f"{shorten(text, 40)!r} is no amount")
    try:
        return Decimal(plain.replace(",", "."))
    except InvalidOperation:
        raise ValueError(f"{shorten(text, 40)!r} is no amount") from None


def _refuse_errors(root: _Element) -> None:
    """Refuse a file in which the bank says that it could not answer."""
    for status in root.find("STATUS"):
        if status.get("SEVERITY").upper() == "ERROR":
            reason = shorten(f"{status.get('CODE')} {status.get('MESSAGE')}", 200)
            raise StatementError(
                f"the bank wrote an error into it instead of bookings ({reason}): download it again"
            )


def _parse(text: str, line: int) -> _Element:
    """Build the tree of aggregates; a leaf ends where the next tag begins."""
    tree = _Tree(line)
    for part, is_data in _parts(text):
        match = None if is_data else _TAG.fullmatch(part)
        if match is None:
            tree.add_text(part if is_data else html.unescape(part))
        elif match["end"]:
            tree.end(match["tag"].upper())
        else:
            tree.begin(match["tag"].upper(), empty=bool(match["empty"]))
        tree.line += part.count("\n")
    return tree.root


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Cut a text into tags and what is between them; the flag says that it is to be taken as it is."""
    at = stray = 0
    while at < len(text):
        if text[at] != "<":
            end = text.find("<", at)
            end = len(text) if end < 0 else end
            yield text[at:end], False
            at = end
            continue
        whole = next(((start, stop) for start, stop in _UNREAD if text.startswith(start, at)), None)
        if whole is not None:
            end = text.find(whole[1], at + len(whole[0]))
            if end < 0:
                raise StatementError(f"a {whole[0]} in it is not closed: download it again")
            content = text[at + len(whole[0]) : end]
            yield (content, True) if whole[0] == "<![CDATA[" else ("\n" * content.count("\n"), True)
            at = end + len(whole[1])
        elif text.startswith("<!", at):
            raise StatementError(
                "it declares a document type or entities, which OFX has none of: it is not read"
            )
        else:
            match = _TAG.match(text, at)
            part = match[0] if match else "<"
            stray += match is None
            if stray > _MOST_STRAY:
                raise StatementError("it is full of < that begin no tag: this is no statement")
            yield part, False
            at += len(part)


class _Tree:
    """The aggregates so far, and the leaf that gets the next text."""

    def __init__(self, line: int) -> None:
        self.root = _Element("", line)
        self.line = line
        self._stack = [self.root]
        self._leaf: str | None = None

    def add_text(self, text: str) -> None:
        """Add to the present leaf; text beside leaves means nothing."""
        if self._leaf is not None and text.strip():
            leaves = self._stack[-1].leaves
            leaves[self._leaf] = f"{leaves[self._leaf]} {text.strip()}".strip()[:_LONGEST_VALUE]

    def begin(self, tag: str, *, empty: bool) -> None:
        """Begin an aggregate or a leaf."""
        self._leaf = None
        if tag in _BOOKINGS and any(one.name in _BOOKINGS for one in self._stack):
            # A booking has none inside of it: some files do not close them.
            while self._stack.pop().name not in _BOOKINGS:
                pass
        if tag not in _AGGREGATES:
            # The first one counts: extensions of banks come last.
            if not empty and tag not in self._stack[-1].leaves:
                self._leaf = tag
                self._stack[-1].leaves[tag] = ""
        elif not empty:
            if len(self._stack) > _DEEPEST:
                raise StatementError("its elements are nested too deep: this is no statement")
            element = _Element(tag, self.line)
            self._stack[-1].children.append(element)
            self._stack.append(element)

    def end(self, tag: str) -> None:
        """End a leaf, or an aggregate with all that is still open in it."""
        self._leaf = None
        if tag in _AGGREGATES and any(one.name == tag for one in self._stack):
            while self._stack.pop().name != tag:
                pass


def _declared_charset(data: bytes) -> str | None:
    head = data[:2048].decode("latin-1")
    if found := re.search(r"encoding=[\"']([\w\-]{2,20})[\"']", head):
        return found[1]
    if found := re.search(r"^\s*CHARSET:\s*(\S+)", head, re.MULTILINE | re.IGNORECASE):
        return _CHARSETS.get(found[1].upper())
    return None
