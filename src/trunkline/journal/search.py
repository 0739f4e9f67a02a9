"""The search of sessions: which texts of a session are looked at, and when they match.

A session matches when every word of the query is in its title or in what was said in it. A word is any run
of characters without a space, found inside longer ones too; upper and lower case are the same. It costs no
more than the budgets below: the newest part of a long session is searched, and a search over many sessions
ends with the place where the next one begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec

from trunkline.content import text_of
from trunkline.errors import InvalidCommand
from trunkline.events import Text, UserMessage, decode_event
from trunkline.journal.interface import SearchPage, SessionInfo

SESSION_BYTES = 8 * 2**20
"""Bytes of one session's newest records that are searched."""
PAGE_BYTES = 24 * 2**20
"""Bytes of records that are read in one search before it ends."""
PREFIXES = (b'{"type":"text"', b'{"type":"user_message"')
"""How the payloads begin whose texts are searched."""

_LONGEST = 200
_MOST_WORDS = 8


class Query(NamedTuple):
    """The words that must all be there."""

    words: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Query:
        """Read what a person typed."""
        if len(text) > _LONGEST:
            raise InvalidCommand(f"the query has {len(text)} characters: {_LONGEST} are the most")
        words = tuple(dict.fromkeys(text.casefold().split()))
        if not words:
            raise InvalidCommand("the query is empty: give a word to look for")
        if len(words) > _MOST_WORDS:
            raise InvalidCommand(f"the query has {len(words)} words: {_MOST_WORDS} are the most")
        return cls(words)

    def without(self, title: str | None) -> Query:
        """Give what a title leaves to be found in the texts."""
        folded = (title or "").casefold()
        return Query(tuple(word for word in self.words if word not in folded))

    def matches(self, payloads: Iterable[bytes]) -> bool:
        """Whether the texts of a session have every word; ``payloads`` come newest first."""
        texts: dict[str, list[str]] = {}
        for payload in payloads:
            if (found := _text_of(payload)) is not None:
                texts.setdefault(found[0], []).append(found[1])
        # A message comes in pieces, and a word may begin in one and end in the next.
        whole = "\n".join("".join(reversed(pieces)) for pieces in texts.values()).casefold()
        return all(word in whole for word in self.words)


def search_page(
    query: Query,
    infos: Iterator[SessionInfo],
    payloads_of: Callable[[SessionInfo], Iterable[tuple[int, bytes | None]]],
    limit: int,
) -> SearchPage:
    """Search sessions one after the other until enough are found or enough was read.

    ``payloads_of`` gives the length of each record of a session, newest first, with its payload or, where
    that has no text to search, None.
    """
    found: list[SessionInfo] = []
    last: SessionInfo | None = None
    read = 0

    def newest(info: SessionInfo) -> Iterator[bytes]:
        nonlocal read
        most = read + SESSION_BYTES
        for size, payload in payloads_of(info):
            read += size
            if payload is not None:
                yield payload
            if read >= most:
                return

    for info in infos:
        if len(found) >= max(limit, 1) or read >= PAGE_BYTES:
            assert last is not None, "something was found or read"
            return SearchPage(found, (last.updated_at, last.session_id))
        last = info
        rest = query.without(info.title)
        if not rest.words or rest.matches(newest(info)):
            found.append(info)
    return SearchPage(found, None)


def _text_of(payload: bytes) -> tuple[str, str] | None:
    """Give a message's id and the text of one of its records; None for a record that has none."""
    try:
        event = decode_event(payload)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None  # Reading the session says that it is damaged.
    if isinstance(event, Text):
        return event.message_id, event.delta
    return (event.message_id, text_of(event.content)) if isinstance(event, UserMessage) else None
