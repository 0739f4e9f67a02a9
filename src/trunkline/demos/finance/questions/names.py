"""Names in a question: the categories, merchants, accounts and tags of the ledger, also misspelt.

A name is found where it stands whole, by a synonym ("eating out" is Restaurants), in the other number
("restaurant"), by its first words ("netflix" is Netflix.com) or with a slip of the keyboard ("grocreies").
What stands after "at" is a merchant first, what stands after "on" or "for" is a category first.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

import msgspec

__all__ = ["Kind", "Name", "Vocabulary", "find_names", "near_names", "simplify"]

Kind = Literal["category", "merchant", "account", "tag"]

_LONGEST = 5
_SHORTEST_MISSPELT = 5
_SHORTEST_BEGINNING = 4
_CLOSE = 0.8
_PIECE = re.compile(r"[^\W_]+(?:[-'&.][^\W_]+)*")
_NOT_WORD = re.compile(r"[^\w]+", re.UNICODE)


class Vocabulary(msgspec.Struct, frozen=True, dict=True):
    """The names that a question may use."""

    categories: tuple[str, ...] = ()
    merchants: tuple[str, ...] = ()
    accounts: Mapping[str, str] = {}
    """The name of each account by its id."""
    account_words: Mapping[str, str] = {}
    """Other words for accounts: "credit card" is the name of the only card."""
    tags: tuple[str, ...] = ()
    synonyms: Mapping[str, str] = {}
    """Other words for categories."""
    currencies: tuple[str, ...] = ()

    def names(self, kind: Kind) -> Iterable[str]:
        """All names of a kind, as people write them."""
        if kind == "account":
            return self.accounts.values()
        return {"category": self.categories, "merchant": self.merchants, "tag": self.tags}[kind]

    @cached_property
    def indexes(self) -> Mapping[Kind, _Index]:
        """What each spelling means where a kind comes first. Made once for all questions of a turn."""
        return {kind: _index(self, _order(kind)) for kind in _ORDER}


class Name(NamedTuple):
    """A name in a text: what it is called in the ledger, and where it stands."""

    kind: Kind
    value: str
    begin: int
    end: int
    exact: bool


def simplify(name: str) -> str:
    """Write a name in small letters with single spaces, without signs: the way it is compared."""
    return _NOT_WORD.sub(" ", name.casefold().replace("'", "").replace("\u2019", "")).strip()


class _Index(NamedTuple):
    whole: dict[str, tuple[Kind, str]]
    order: tuple[Kind, ...]


def _variants(name: str) -> Iterable[str]:
    plain = simplify(name)
    yield plain
    if plain.endswith("ies"):
        yield plain[:-3] + "y"
    elif plain.endswith("s") and not plain.endswith("ss"):
        yield plain[:-1]
    elif plain.endswith("y"):
        yield plain[:-1] + "ies"
    else:
        yield plain + "s"


def _index(vocabulary: Vocabulary, order: Sequence[Kind]) -> _Index:
    whole: dict[str, tuple[Kind, str]] = {}
    for kind in order:
        for name in vocabulary.names(kind):
            for variant in _variants(name):
                whole.setdefault(variant, (kind, name))
        if kind == "category":
            known = set(vocabulary.categories)
            for word, name in vocabulary.synonyms.items():
                if name in known:
                    for variant in _variants(word):
                        whole.setdefault(variant, (kind, name))
        if kind == "account":
            for word, name in vocabulary.account_words.items():
                whole.setdefault(simplify(word), (kind, name))
    # Last: the first words of a long name, where they are nobody else's.
    for kind in order:
        if kind not in ("merchant", "account"):
            continue
        beginnings: dict[str, set[str]] = {}
        for name in vocabulary.names(kind):
            words = simplify(name).split()
            for count in range(1, len(words)):
                if len(" ".join(words[:count])) >= _SHORTEST_BEGINNING:
                    beginnings.setdefault(" ".join(words[:count]), set()).add(name)
        for words, names in beginnings.items():
            if len(names) == 1:
                whole.setdefault(words, (kind, next(iter(names))))
    return _Index(whole, tuple(order))


_FIRST_BY_WORD: dict[str, Kind] = {
    "at": "merchant",
    "from": "merchant",
    "on": "category",
    "for": "category",
    "under": "category",
    "as": "category",
    "into": "category",
    "tag": "tag",
    "tagged": "tag",
    "account": "account",
    "card": "account",
    "with": "account",
}
_ORDER: tuple[Kind, ...] = ("category", "merchant", "account", "tag")


def find_names(text: str, vocabulary: Vocabulary, ignored: frozenset[str]) -> list[Name]:
    """Find the names in a text of small letters; ``ignored`` are words that are never misspelt names."""
    pieces = list(_PIECE.finditer(text))
    taken: list[Name] = []
    used = [False] * len(pieces)
    for exact in (True, False):
        for count in range(min(_LONGEST, len(pieces)), 0, -1):
            for at in range(len(pieces) - count + 1):
                if any(used[at : at + count]):
                    continue
                window = pieces[at : at + count]
                index = vocabulary.indexes[_first_kind(pieces, at)]
                words = " ".join(simplify(piece[0]) for piece in window)
                after = at > 0 and pieces[at - 1][0] in ("at", "on", "for")
                found = _match(words, index, frozenset() if exact and after else ignored, exact=exact)
                if found is None or (words in ignored and not _is_said(words, found[1], vocabulary)):
                    continue
                used[at : at + count] = [True] * count
                taken.append(Name(*found, window[0].start(), window[-1].end(), exact))
    return sorted(taken, key=lambda name: name.begin)


def _is_said(words: str, name: str, vocabulary: Vocabulary) -> bool:
    """Whether an everyday word is a name as it is written: "new" is not the category News."""
    return words == simplify(name) or words in map(simplify, vocabulary.synonyms)


def _order(first: Kind) -> tuple[Kind, ...]:
    return (first, *(kind for kind in _ORDER if kind != first))


def _first_kind(pieces: list[re.Match[str]], at: int) -> Kind:
    for back in (1, 2):
        if at - back >= 0:
            word = pieces[at - back][0]
            if word in _FIRST_BY_WORD:
                return _FIRST_BY_WORD[word]
            if word not in ("the", "my", "our", "a", "an", "all"):
                break
    return "category"


def _match(words: str, index: _Index, ignored: frozenset[str], *, exact: bool) -> tuple[Kind, str] | None:
    if exact:
        # A name that is also an everyday word ("transfer", "other") is not a name by itself.
        return None if words in ignored else index.whole.get(words)
    if len(words) < _SHORTEST_MISSPELT or any(word in ignored for word in words.split()):
        return None
    near = difflib.get_close_matches(words, index.whole, n=1, cutoff=_CLOSE)
    if not near or (near[0][0] != words[0] and len(words) < 6):
        return None
    return index.whole[near[0]]


def near_names(word: str, vocabulary: Vocabulary) -> list[str]:
    """The names that are most like a word, for a sentence that says that it is unknown."""
    names = {simplify(name): name for kind in _ORDER for name in vocabulary.names(kind)}
    for synonym, name in vocabulary.synonyms.items():
        names.setdefault(simplify(synonym), name)
    found = difflib.get_close_matches(simplify(word), names, n=3, cutoff=0.5)
    return list(dict.fromkeys(names[one] for one in found))
