"""One clause of a question, taken apart: its periods, names, amounts and counts, and the words between.

Each thing that is found is replaced by its kind in angle brackets; what is left are the words of the rules.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from datetime import date
from typing import Any

import msgspec

from trunkline.demos.finance.questions.names import Kind, Vocabulary, find_names, simplify
from trunkline.demos.finance.questions.periods import Period, find_periods, mend_months
from trunkline.demos.finance.questions.rules import KEY_WORDS, KNOWN_WORDS, mark

__all__ = ["CURRENCIES", "Clause", "take_apart"]

_POLITE = re.compile(
    r"\b(?:please|pls|kindly|could you|can you|would you|will you|i(?:'d| would) like to (?:know|see)|"
    r"i (?:want|need|wish) to (?:know|see)|tell me|let me know|do you know|just|hey|hi|hello|so,|well,|um+|"
    r"for me|if possible|exactly|actually|really|approximately|roughly|about how|i wonder|i was wondering|"
    r"do you happen to know|quickly|thanks|thank you|mate|dear assistant)\b[ ,]*"
)
_FILE = re.compile(r"""(?:"([^"]+)"|'([^']+)'|(\S+\.(?:csv|tsv|ofx|qfx|sta|mt940|940|txt)))""", re.IGNORECASE)
_TEN = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER_WORDS = {word: at for at, word in enumerate(_TEN, 1)} | {
    "a dozen": 12,
    "twenty": 20,
    "couple": 2,
    "few": 5,
}
_NUMBER = rf"(\d{{1,3}}|{'|'.join(_NUMBER_WORDS)})"
_NOUNS = "merchants|shops|stores|places|vendors|categories|transactions|purchases|payments|expenses|charges"
_COUNT = re.compile(
    rf"\b(top|first|last|latest|biggest|largest|most recent|newest|highest|next|recent) {_NUMBER}"
    r"(?= (?!(?:day|week|month|year|quarter)s?\b))"
    rf"|\b{_NUMBER} (?=(?:most |biggest|largest|highest|top|latest|priciest|newest|dearest|main|last|recent|"
    rf"{_NOUNS}))"
    rf"|\b(top) {_NUMBER}$"
)
_SIGN = r"(?:[€$£]|eur(?:os?)?|usd|dollars?|gbp|pounds?|chf|francs?|bucks)"
_THINGS = (
    r"(?:(?:day|week|month|year|time|transaction|purchase|visit|payment|charge|order|trip|booking|item|meal|ride|"
    r"merchant|shop|store|place|subscription|account|card|budget)s?|categor(?:y|ies))"
)
_MINIMUM = re.compile(
    rf"\b(?:over|above|more than|greater than|bigger than|larger than|at least|exceeding|>=?) ?{_SIGN}? ?"
    rf"(\d[\d,]*(?:\.\d\d?)?)(?!\d) ?{_SIGN}?(?![\w%-])(?! (?:different |other )?{_THINGS}\b)"
)
CURRENCIES = {
    "eur": "EUR",
    "euro": "EUR",
    "usd": "USD",
    "dollar": "USD",
    "us dollar": "USD",
    "gbp": "GBP",
    "pound": "GBP",
    "chf": "CHF",
    "franc": "CHF",
    "swiss franc": "CHF",
}
_CURRENCY = re.compile(rf"\bin (?:(?:my |the )?)({'|'.join(sorted(CURRENCIES, key=len, reverse=True))})s?\b")
_SHORT = {
    "hwo": "how",
    "mcuh": "much",
    "subs": "subscriptions",
    "mnth": "month",
    "mth": "month",
    "moth": "month",
    "lsat": "last",
    "lst": "last",
    "spnd": "spend",
    "spned": "spend",
    "wk": "week",
    "yr": "year",
}
"""Short words as people misspell or shorten them."""
_WHOLE = re.compile(
    r"\b(this|last|past|current|the) (?:whole|entire|full|complete) (?=day|week|month|quarter|year)"
)
_CHANGES = re.compile(
    r"differ|\bchang|\b(?:rise|rose|grow|grew|(?:go|gone|went) (?:up|down)|(?:in|de)crease)"
)
_WORD = re.compile(r"[a-z]{5,}")
_NAMED = r"<_(?:category|merchant)>"
_EXCLUDED = re.compile(
    r"\b(?:without|except(?: for)?|excluding|exclude|excl|apart from|aside from|besides|other than|minus|ex|"
    r"but (?:not|no)|(?:anything|everything|all) but|not (?:counting|including)|leaving out)\s+"
    rf"(?:(?:at|on|for|from|in|the|my|our|any|all)\s+)*{_NAMED}"
    rf"(?:\s+(?:(?:and|or|nor)\s+(?:(?:at|on|for|the|my)\s+)*)?{_NAMED})*"
)
_MARK = re.compile(r"<_(?:category|merchant|account|tag)>")
_UNKNOWN = re.compile(
    r"\b(?:at|on|for|from|to|with|in|under|tagged|about|by)(?: the| my| our| a| an| all)* "
    r"((?:(?!<)[\w'&.#-]+)(?: (?!<|at\b|on\b|for\b|from\b|to\b|in\b|and\b|last\b|this\b)[\w'&.-]+){0,2})"
)


class Clause(msgspec.Struct, kw_only=True):
    """What stands in one clause."""

    text: str
    """The words, with everything that was found written as ``<kind>``."""
    periods: list[Period]
    names: list[tuple[Kind, str]]
    unknown: list[str]
    odd: list[str]
    """Other words that are neither names nor words of the rules."""
    file: str | None = None
    count: int | None = None
    minimum: int | None = None
    currency: str | None = None
    excluded: tuple[str, ...] = ()
    """The categories and merchants that do not count."""

    def first(self, kind: Kind) -> str | None:
        """The first name of a kind."""
        return next((name for one, name in self.names if one == kind), None)

    def last(self, kind: Kind) -> str | None:
        """The last name of a kind."""
        return next((name for one, name in reversed(self.names) if one == kind), None)

    def all(self, kind: Kind) -> list[str]:
        """Each name of a kind once."""
        return list(dict.fromkeys(name for one, name in self.names if one == kind))


def take_apart(text: str, vocabulary: Vocabulary, today: date) -> Clause:
    """Find everything in a clause that is a value."""
    file, text = _take_file(text)
    text = _plain(text)
    text = " ".join(_SHORT.get(word, word) for word in text.split(" "))
    text = mend_months(_mend_words(text, vocabulary))
    text = re.sub(r"\bshell(ed)? out\b", "spend", text)  # "Shell" alone is a merchant.
    text = _WHOLE.sub(r"\1 ", text)
    if _CHANGES.search(text):
        # "The difference between A and B" has two periods, not one from A to B.
        text = re.sub(r"\bfrom (.+?) to ", r"of \1 and ", text.replace("between ", "of "))
    clause = Clause(text=text, periods=[], names=[], unknown=[], odd=[], file=file)
    found = find_periods(clause.text, today)
    clause.periods = [one.period for one in found]
    for one in reversed(found):
        clause.text = f"{clause.text[: one.begin]}{mark('period')}{clause.text[one.end :]}"
    clause.text, clause.minimum = _take(_MINIMUM, clause.text, mark("minimum"), _hundredths)
    clause.text, clause.currency = _take(_CURRENCY, clause.text, "", lambda m: CURRENCIES[m[1]])
    clause.text, clause.count = _take(
        _COUNT, clause.text, lambda m: f"{m[1] or m[4] or ''} {mark('n')} ".lstrip(), _number
    )
    clause.text = re.sub(r" +", " ", clause.text).strip()
    names = find_names(clause.text, vocabulary, KNOWN_WORDS | {"period", "n", "minimum", "file", "amount"})
    for name in names:
        clause.names.append((name.kind, name.value))
    for name in reversed(names):
        clause.text = f"{clause.text[: name.begin]}{mark(name.kind)}{clause.text[name.end :]}"
    _take_excluded(clause)
    clause.unknown = _unknown_names(clause.text)
    words = re.findall(r"(?<![<_\w])(?:[^\W\d_]{3,}(?:'\w+)?|\d[\d./]*)", clause.text)
    clause.odd = [
        word for word in words if word not in KNOWN_WORDS and word.removesuffix("'s") not in KNOWN_WORDS
    ]
    return clause


def _take_excluded(clause: Clause) -> None:
    """Take out the names of "without rent" and "except for Rewe and Lidl": they are what does not count."""
    spans = [found.span() for found in _EXCLUDED.finditer(clause.text)]
    at = [found.start() for found in _MARK.finditer(clause.text)]
    out = {
        number
        for number, word_start in enumerate(at)
        if any(start <= word_start < end for start, end in spans)
    }
    clause.excluded = tuple(dict.fromkeys(clause.names[number][1] for number in sorted(out)))
    clause.names = [name for number, name in enumerate(clause.names) if number not in out]
    clause.text = _EXCLUDED.sub(mark("excluded"), clause.text)


def _take_file(text: str) -> tuple[str | None, str]:
    """Take the name of a file out; what stands in quotes is one only if it looks like one."""
    for found in _FILE.finditer(text):
        name = next(part for part in found.groups() if part)
        if re.search(r"\.\w{2,5}$", name):
            return name, f"{text[: found.start()]}{mark('file')}{text[found.end() :]}"
    return None, text


def _plain(text: str) -> str:
    text = text.lower().replace("\u2019", "'").replace("\u2018", "'").replace("e-mail", "email")
    text = re.sub(r"[?!;:()\[\]\"]", " ", text)
    text = re.sub(r"(?<=\d) ?(?:\.\.+|\u2026) ?(?=\d)", " to ", text)
    text = re.sub(r"(?<!\d)[.,]|[.,](?!\d)", " ", text)
    text = re.sub(r"\s+", " ", text.replace("#", " tag ")).strip()
    plain, previous = text, None
    while previous != text:
        previous, text = text, _POLITE.sub("", text, count=1).strip(" ,")
    # Who is only polite says hello, or thanks.
    return text or plain


def _mend_words(text: str, vocabulary: Vocabulary) -> str:
    """Write misspelt words of the rules right; a word of the ledger is none of them."""
    own: set[str] = set()
    for kind in ("category", "merchant", "account", "tag"):
        for name in vocabulary.names(kind):
            own.update(simplify(name).split())
    for word in vocabulary.synonyms:
        own.update(simplify(word).split())

    def mend(found: re.Match[str]) -> str:
        word = found[0]
        if word in KNOWN_WORDS or word in own or f"{word}s" in own or word.rstrip("s") in own:
            return word
        near = difflib.get_close_matches(word, KEY_WORDS, n=1, cutoff=0.84)
        # A word that is more like a name of the ledger is that name, misspelt.
        rival = difflib.get_close_matches(word, own, n=1, cutoff=0.84)
        if not near or (rival and _likeness(word, rival[0]) > _likeness(word, near[0])):
            return word
        # Another form of the word ("compares", "spends") is left to the rules.
        return word if near[0].startswith(word[:-1]) else near[0]

    return _WORD.sub(mend, text)


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def _take(
    pattern: re.Pattern[str],
    text: str,
    mark: str | Callable[[re.Match[str]], str],
    value: Callable[[re.Match[str]], Any],
) -> tuple[str, Any]:
    found = pattern.search(text)
    if found is None:
        return text, None
    return pattern.sub(mark, text, count=1), value(found)


def _number(found: re.Match[str]) -> int:
    word = next(group for group in reversed(found.groups()) if group)
    return int(word) if word.isdigit() else _NUMBER_WORDS[word]


def _hundredths(found: re.Match[str]) -> int:
    return round(float(found[1].replace(",", "")) * 100)


def _unknown_names(text: str) -> list[str]:
    """Words where a name would stand that are neither a name of the ledger nor of the language."""
    unknown: list[str] = []
    for found in _UNKNOWN.finditer(text):
        words = [word for word in found[1].split() if word.strip("'.") not in KNOWN_WORDS]
        if words and found[1].split()[0] in words and not words[0].isdigit():
            unknown.append(" ".join(words))
    return unknown
