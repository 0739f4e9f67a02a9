"""Hides account and card numbers in what a model reads. Pure.

What is hidden: IBANs, and runs of eight or more digits, also in groups. The last four digits stay, so that
people can tell accounts apart. Dates and amounts are no such runs.
"""

from __future__ import annotations

import re

KEPT = 4
"""How many characters at the end stay."""
# In one piece, or in groups of four of which the last may be shorter.
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}"
    r"(?:[A-Za-z0-9]{11,30}|(?:[ -][A-Za-z0-9]{4}){2,7}(?:[ -](?=[A-Za-z]{0,3}\d)[A-Za-z0-9]{1,4})?)"
    r"(?![A-Za-z0-9])"
)
_DIGITS = re.compile(r"(?<![0-9])\d(?:[ -]?\d){7,}(?![0-9])")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\d{2}-\d{2}-\d{4}")


def mask_number(number: str) -> str:
    """Hide all but the end of an account's number."""
    plain = "".join(filter(str.isalnum, number))
    return "" if not plain else f"****{plain[-KEPT:]}" if len(plain) > KEPT else "****"


def mask_text(text: str) -> str:
    """Hide the numbers of accounts and cards in a text."""
    return _DIGITS.sub(_mask, _IBAN.sub(_mask_iban, text))


def _mask_iban(found: re.Match[str]) -> str:
    # Fifteen to thirty-four characters: https://www.swift.com/standards/data-standards/iban. A word that
    # only looks like one has few digits.
    plain = "".join(filter(str.isalnum, found[0]))
    digits = sum(map(str.isdigit, plain))
    return mask_number(plain) if digits >= len(plain) // 2 else found[0]


def _mask(found: re.Match[str]) -> str:
    return found[0] if _DATE.fullmatch(found[0]) else mask_number(found[0])
