"""Merchants' names out of bank descriptions: "REWE SAGT DANKE 1234" is Rewe. Pure.

A merchant that is known (``merchant_names``) gets its name. Of any other text the words remain that name
somebody: no words of the bank, numbers, references, dates, countries and legal forms.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from trunkline.demos.finance.ledger.merchant_names import KNOWN, KnownMerchant
from trunkline.demos.finance.ledger.words import WordIndex, fold

MAX_WORDS = 4
"""How many words a name has that was made from a description."""
UNKNOWN = "Unknown"
"""The merchant of a description that names nobody."""

# What banks and terminals write before a name.
_BEFORE = """
pos ec visa mastercard maestro girocard debit credit card karte kartenzahlung kartenumsatz zahlung purchase
payment sepa lastschrift basislastschrift folgelastschrift einzug ueberweisung uberweisung gutschrift zelle
ueber venmo dauerauftrag auftrag abbuchung paypal pp sq tst sumup zettle iz klarna stripe ach web checkcard
contactless kontaktlos kauf online onl recurring transaction from to at an von bei and und the www http
https ref referenz svwz eref mref cred kref lohn gehalt salary miete rent umbuchung auf bargeldauszahlung ga
nr paiement par carte cb prelevement prlv virement vir compra pago recibo pix bonifico addebito pagamento
kortkop
"""
_BANK_WORDS = frozenset(_BEFORE.split())
# What stands after a name.
_AFTER = """gmbh ag se kg co ohg ug mbh inc llc ltd limited plc corp sa sarl spa bv nv oy ab as com de net
org eu us usa gb uk fr ch at nl it es deu sagt danke dankt filiale store markt eur usd gbp chf thank you
vielen dank"""
_ENDINGS = frozenset(_AFTER.split())
_AUTHORIZED = re.compile(r"\bauthori[sz]ed on \d\d/\d\d\b", re.IGNORECASE)
"""What American banks write before the merchant."""
_WHO = re.compile(
    r"/NAME/([^/]+)|\b(?:Auftraggeber|Empfänger): ?(.+?) ?(?:Buchungstext:|Kto/IBAN:|$)", re.IGNORECASE
)
"""How banks name the other side in a text with parts, as SWIFT has it, and one German bank."""


class Merchant(NamedTuple):
    """A merchant's name, and the entry by which it was found; None for one that is not known."""

    name: str
    known: KnownMerchant | None


@lru_cache(maxsize=8192)
def find_merchant(description: str, given: str = "") -> Merchant:
    """Name the merchant of a description; ``given`` is what a bank calls it, if it says so.

    The name of a merchant is found again as itself.
    """
    for text in (description, given):
        if text and (known := _known(fold(text))):
            return Merchant(known.name, known)
    name = " ".join(given.split()) or _clean(description)
    known = _known(fold(name))
    return Merchant(known.name if known else name, known)


_BY_WORDS = WordIndex((entry.words, entry) for entry in KNOWN)
_BY_NAME = {fold(entry.name): entry for entry in KNOWN}


def _known(folded: str) -> KnownMerchant | None:
    return _BY_NAME.get(folded) or _BY_WORDS.find(folded)


def _clean(description: str) -> str:
    if who := _WHO.search(description):
        description = who[1] or who[2]
    description = _AUTHORIZED.sub(" ", description)
    words = [word for word in re.split(r"[\s*/,;:|]+", description) if _names_something(word)]
    while len(words) > 1 and _all_of(words[0], _BANK_WORDS):
        words.pop(0)
    del words[MAX_WORDS:]
    while len(words) > 1 and _all_of(words[-1], _ENDINGS):
        words.pop()
    # A text that is not all capitals was written by someone who knew how its names are written.
    shout = description.isupper()
    return " ".join(_title(word, shout) for word in words) or UNKNOWN


def _all_of(word: str, known: frozenset[str]) -> bool:
    """Whether all parts of a word ("SEPA-Lastschrift" has two) are known."""
    parts = fold(word).split()
    return bool(parts) and known.issuperset(parts)


def _names_something(word: str) -> bool:
    """Whether a word has letters and no digits: numbers are stores, cards, dates and references."""
    return any(map(str.isalpha, word)) and not any(map(str.isdigit, word))


def _title(word: str, shout: bool) -> str:
    word = word.strip(".-_#()'\"")
    return word.capitalize() if shout else word[:1].upper() + word[1:]
