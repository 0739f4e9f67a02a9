"""What a statement file says, whatever its format: bookings, the account, and what could not be read."""

from __future__ import annotations

import datetime
import re
from typing import ClassVar, Literal

import msgspec

from trunkline.errors import Fault, Hint, TrunklineError

AccountKind = Literal["checking", "savings", "card", "cash"]
Format = Literal["csv", "ofx", "mt940"]

LARGEST_FILE = 32 * 1024 * 1024
"""Bytes of a statement file; a person's bookings of ten years are a few of these megabytes."""
MOST_ROWS = 200_000
LONGEST_DESCRIPTION = 1000


class StatementError(TrunklineError):
    """A file that cannot be read as a statement; the message says why and what to do."""

    fault: ClassVar[Fault] = "user"
    hint: ClassVar[Hint] = Hint(-32602, 422)
    code: ClassVar[str] = "statement"


class StatementRow(msgspec.Struct, frozen=True, kw_only=True):
    """One booking. The amount is in minor units (cents); negative is money that went out."""

    line: int
    """The line of the file where it begins, from 1."""
    posted: datetime.date
    amount: int
    currency: str
    description: str
    native_id: str | None = None
    """The bank's own id of the booking, such as a FITID."""
    pending: bool = False
    balance: int | None = None
    category: str | None = None
    """What the file itself says about it, where that is certain."""


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """What a file says about the account that its bookings belong to."""

    number: str | None = None
    name: str | None = None
    kind: AccountKind | None = None
    """None when the file does not say."""
    currency: str | None = None
    institution: str | None = None


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A row that looks like a booking and cannot be read as one."""

    line: int
    text: str
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}: {self.text}"


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """The bookings of one account in one file."""

    format: Format
    account: Account | None = None
    """None when the file does not name it."""
    rows: tuple[StatementRow, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    """What was left out on purpose and why, such as a line with a total."""


def shorten(text: str, limit: int = LONGEST_DESCRIPTION) -> str:
    """Give a text on one line, of a bounded length."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def join_texts(*texts: str | None) -> str:
    """Join the parts of a description; a part that another one already says is left out."""
    kept: list[str] = []
    for text in (shorten(part or "") for part in texts):
        if not text or any(_says(other, text) for other in kept):
            continue
        kept = [other for other in kept if not _says(text, other)] + [text]
    return shorten(" ".join(kept))


def _says(whole: str, part: str) -> bool:
    """Whether a text has another in whole words: "Vermieter" does not say "Miete"."""
    whole, part = whole.casefold(), part.casefold()
    if part not in whole:
        return False
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", whole) is not None
