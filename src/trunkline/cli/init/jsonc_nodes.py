"""The values of a text of JSON with comments, each with its place."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

MAX_DEPTH = 200
"""How deep values may be nested."""

_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*"')
_WORD = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")


class JsoncError(ValueError):
    """A text is not JSON with comments, or has something else where a key should go."""


class Node(NamedTuple):
    """A value, and where it stands."""

    value: Any
    start: int
    end: int
    members: tuple[Member, ...] | None = None
    """Of an object, in the order of the text."""


class Member(NamedTuple):
    """A key of an object with its value."""

    key: str
    start: int
    node: Node
    comma: int | None
    """Where the comma behind it stands."""

    @property
    def end(self) -> int:
        """Behind the value and its comma."""
        return self.node.end if self.comma is None else self.comma + 1


def read_document(text: str) -> Node | None:
    """Parse a text; None if it has no value at all. JsoncError says what is wrong and where."""
    reader = _Reader(text)
    at = reader.skip(1 if text.startswith("\ufeff") else 0)
    if at == len(text):
        return None
    root = reader.value(at, 0)
    end = reader.skip(root.end)
    if end != len(text):
        raise reader.error(end, "there is something behind the end")
    return root


def find_member(node: Node, key: str) -> Member | None:
    """The last one of a name counts, as in every reader of JSON."""
    found = [member for member in node.members or () if member.key == key]
    return found[-1] if found else None


class _Reader:
    """Reads values of a text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def error(self, at: int, what: str) -> JsoncError:
        before = self._text[:at]
        line, column = before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1
        return JsoncError(f"line {line}, column {column}: {what}")

    def skip(self, at: int) -> int:
        """Give the place behind blanks and comments."""
        found = _TRIVIA.match(self._text, at)
        assert found is not None, "the pattern matches nothing, too"
        if self._text.startswith("/*", found.end()):
            raise self.error(found.end(), "a comment does not end")
        return found.end()

    def value(self, at: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self.error(at, f"more than {MAX_DEPTH} values stand in one another")
        first = self._text[at : at + 1]
        if first == "{":
            return self._object(at, depth)
        if first == "[":
            return self._list(at, depth)
        if first == '"':
            return self._string(at)
        word = _WORD.match(self._text, at)
        if word is None:
            raise self.error(at, "a value is missing" if first in (",", "}", "]", "") else "not a value")
        try:
            return Node(json.loads(word[0]), at, word.end())
        except ValueError:  # A number of thousands of digits.
            raise self.error(at, "the number is too long") from None

    def _string(self, at: int) -> Node:
        found = _STRING.match(self._text, at)
        if found is None:
            raise self.error(at, "a text in quotes does not end in its line")
        try:
            return Node(json.loads(found[0], strict=False), at, found.end())
        except ValueError:
            raise self.error(at, "a text in quotes has a wrong escape") from None

    def _list(self, start: int, depth: int) -> Node:
        values: list[Any] = []
        at = self.skip(start + 1)
        while not self._text.startswith("]", at):
            node = self.value(at, depth + 1)
            values.append(node.value)
            at = self._behind_comma(node.end, "]")[0]
        return Node(values, start, at + 1)

    def _object(self, start: int, depth: int) -> Node:
        members: list[Member] = []
        at = self.skip(start + 1)
        while not self._text.startswith("}", at):
            if not self._text.startswith('"', at):
                raise self.error(at, "a key in quotes or } is missing")
            key = self._string(at)
            colon = self.skip(key.end)
            if not self._text.startswith(":", colon):
                raise self.error(colon, "a colon is missing")
            node = self.value(self.skip(colon + 1), depth + 1)
            begin = at
            at, comma = self._behind_comma(node.end, "}")
            members.append(Member(key.value, begin, node, comma))
        return Node({member.key: member.node.value for member in members}, start, at + 1, tuple(members))

    def _behind_comma(self, at: int, closing: str) -> tuple[int, int | None]:
        at = self.skip(at)
        if self._text.startswith(",", at):
            return self.skip(at + 1), at
        if not self._text.startswith(closing, at):
            raise self.error(at, f"a comma or {closing} is missing")
        return at, None
