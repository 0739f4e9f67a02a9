"""Texts as words that can be compared, and tables of words in which they are found. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")

_LETTERS = str.maketrans({"ø": "o", "œ": "oe", "æ": "ae", "ł": "l", "đ": "d"})
_OVER = re.compile(r"\bu\u0308ber\b")
"""A German word that is no taxi."""
_SIGNS = re.compile(r"[\W_]+")
_MASKED = re.compile(r"\bx{2,}(?=\d{2,}\b)")
"""What stands for the first digits of a number: "XXXXXX9876"."""


def fold(text: str) -> str:
    """Give a text as words that can be compared: no case, accents or signs, one space around each word."""
    # Some signs are taken apart into capitals, and some small letters into accents.
    small = unicodedata.normalize("NFKD", text).casefold().translate(_LETTERS)
    plain = _OVER.sub("ueber", unicodedata.normalize("NFKD", small))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return f" {_SIGNS.sub(' ', _MASKED.sub(' ', plain)).strip()} "


def contains(folded: str, words: str) -> bool:
    """Whether a folded text has these folded words; a star at their end takes any ending."""
    return f" {words[:-1]}" in folded if words.endswith("*") else f" {words} " in folded


class WordIndex(Generic[T]):
    """Words and what they stand for, in the order in which they count; found by their first word."""

    def __init__(self, entries: Iterable[tuple[str, T]]) -> None:
        self._by_first: dict[str, list[tuple[int, str, T]]] = defaultdict(list)
        self._beginnings: list[tuple[int, str, T]] = []
        for rank, (words, value) in enumerate(entries):
            first = words.partition(" ")[0]
            entries_of = self._beginnings if first.endswith("*") else self._by_first[first]
            entries_of.append((rank, words, value))

    def find(self, folded: str, fits: Callable[[T], bool] = lambda _: True) -> T | None:
        """Give what the first of the words in a folded text stand for that fits."""
        best: tuple[int, T] | None = None
        near = [entry for word in set(folded.split()) for entry in self._by_first.get(word, ())]
        for rank, words, value in (*near, *self._beginnings):
            if (best is None or rank < best[0]) and contains(folded, words) and fits(value):
                best = (rank, value)
        return None if best is None else best[1]


def read_table(text: str, separator: str) -> dict[str, list[str]]:
    """Read a table: a category, a colon and its entries; a line that begins with a space goes on."""
    table: dict[str, list[str]] = {}
    for line in text.replace("\n    ", " ").strip().splitlines():
        category, _, entries = line.partition(":")
        table[category] = [entry.strip() for entry in entries.split(separator)]
    return table
