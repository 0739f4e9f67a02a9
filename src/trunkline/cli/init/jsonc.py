"""Edits of JSON with comments: a key is set or removed, and every other byte of the text stays.

The settings files of editors are JSON with ``//`` and ``/* */`` comments and commas behind the last member,
and people care for how they look. So a text is parsed into nodes with their places, and an edit is a
list of replaced pieces, never a text that was written anew. A text without comments stays plain JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from trunkline.cli.init.jsonc_nodes import JsoncError, Member, Node, find_member, read_document

_BLANK = " \t\r\n"


class Edit(NamedTuple):
    """A piece of a text, and what stands there afterwards."""

    start: int
    end: int
    text: str


def parse(text: str) -> Any:
    """Give what a text means; one without any value is an empty object, as editors take it."""
    root = read_document(text)
    return {} if root is None else root.value


def find(text: str, path: Sequence[str]) -> str | None:
    """Give the text of the value under a path of keys; None if there is none."""
    node = read_document(text)
    for key in path:
        member = None if node is None else find_member(node, key)
        if member is None:
            return None
        node = member.node
    return None if node is None else text[node.start : node.end]


def set_key(text: str, path: Sequence[str], value: Any) -> list[Edit]:
    """Say how a text changes when a value is set under a path of keys; objects that are missing are made.

    Nothing but insertions, unless the key is there already: then its value alone is replaced.
    """
    root = read_document(text)
    style = _Style(text, root)
    if root is None:
        newline = "" if not text or text.endswith(("\n", "\r", "\ufeff")) else style.newline
        made = style.render(_nested(path, value), "")
        return [Edit(len(text), len(text), f"{newline}{made}{style.newline}")]
    node = root
    for depth, key in enumerate(path):
        if node.members is None:
            where = " in ".join(json.dumps(name, ensure_ascii=False) for name in reversed(path[:depth]))
            raise JsoncError(f"{where or 'the whole text'} is not an object")
        member = find_member(node, key)
        if member is None:
            return style.insertion(node, key, _nested(path[depth + 1 :], value))
        node = member.node
    is_inline = bool(node.value) and "\n" not in text[node.start : node.end]
    written = style.render(value, style.indent_of(node.start), inline=is_inline)
    return [Edit(node.start, node.end, written)]


def replace_value(text: str, path: Sequence[str], raw: str) -> list[Edit]:
    """Say how a text changes when the value under a path becomes a piece of text that stood there before."""
    node = read_document(text)
    for key in path:
        member = None if node is None else find_member(node, key)
        if member is None:
            return []
        node = member.node
    return [] if node is None else [Edit(node.start, node.end, raw)]


def remove_key(text: str, path: Sequence[str]) -> list[Edit]:
    """Say how a text changes when a key is removed; nothing if it is not there."""
    node = read_document(text)
    for key in path[:-1]:
        member = None if node is None else find_member(node, key)
        node = None if member is None else member.node
    if node is None or node.members is None:
        return []
    found = find_member(node, path[-1])
    return [] if found is None else _removal(text, node.members, node.members.index(found))


def is_empty(text: str, path: Sequence[str]) -> bool:
    """Whether there is an object under a path, with neither members nor comments."""
    raw = find(text, path)
    return raw is not None and raw[:1] == "{" and not raw[1:-1].strip(_BLANK)


def apply(text: str, edits: Sequence[Edit]) -> str:
    """Give the text after edits, which do not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def render(value: Any, indent: str = "  ") -> str:
    """Write a value as settings files have it: objects over several lines, lists in one."""
    return _render(value, "", indent, "\n")


# -- writing -------------------------------------------------------------------------------------------


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _inline(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _render(value: Any, indent: str, unit: str, newline: str) -> str:
    if not isinstance(value, dict) or not value:
        return _inline(value)
    inner = indent + unit
    lines = [
        f"{inner}{_inline(key)}: {_render(below, inner, unit, newline)}"
        for key, below in cast("dict[str, Any]", value).items()
    ]
    return "{" + newline + f",{newline}".join(lines) + newline + indent + "}"


class _Style:
    """How a text is laid out: its line ends and its indentation."""

    def __init__(self, text: str, root: Node | None) -> None:
        self._text = text
        found = re.search(r"\r?\n", text)
        self.newline = found[0] if found else "\n"
        self._unit = self._find_unit(root)

    def _find_unit(self, root: Node | None) -> str:
        for member in (root.members if root else None) or ():
            indent = self._own_indent(member.start)
            outer = self.indent_of(root.start) if root else ""
            if indent and indent.startswith(outer) and indent != outer:
                return indent[len(outer) :]
        return "  "

    def indent_of(self, at: int) -> str:
        """The blanks at the start of the line of a place."""
        begin = max(self._text.rfind("\n", 0, at), self._text.rfind("\r", 0, at)) + 1
        begin += self._text.startswith("\ufeff", begin)
        found = re.compile(r"[ \t]*").match(self._text, begin)
        assert found is not None, "the pattern matches nothing, too"
        return found[0][: at - begin]

    def _own_indent(self, at: int) -> str | None:
        """The blanks before a place, if they begin its line."""
        indent = self.indent_of(at)
        begin = at - len(indent)
        return indent if begin and self._text[begin - 1] in "\r\n" else None

    def render(self, value: Any, indent: str, *, inline: bool = False) -> str:
        """Write a value, with its later lines behind an indent."""
        return _inline(value) if inline else _render(value, indent, self._unit, self.newline)

    def insertion(self, node: Node, key: str, value: Any) -> list[Edit]:
        """Put a member behind the others of an object."""
        assert node.members is not None, "the caller looked"
        outer = self.indent_of(node.start)
        if not node.members:
            return [self._first(node, outer, key, value)]
        last = node.members[-1]
        indent = self._own_indent(last.start)
        has_comma = last.comma is not None
        comma = [] if has_comma else [Edit(last.node.end, last.node.end, ",")]
        if indent is None:
            written = f" {_inline(key)}: {_inline(value)}{',' if has_comma else ''}"
            # Right behind the comma, before a comment that may go to the end of the line.
            at = last.end
            return [Edit(at, at, f"{'' if has_comma else ','}{written}")]
        written = f"{_inline(key)}: {self.render(value, indent)}{',' if has_comma else ''}"
        at = self._end_of_line(last.end)
        if comma and at == last.end:
            return [Edit(at, at, f",{self.newline}{indent}{written}")]
        return [*comma, Edit(at, at, f"{self.newline}{indent}{written}")]

    def _first(self, node: Node, outer: str, key: str, value: Any) -> Edit:
        inner = outer + self._unit
        written = f"{self.newline}{inner}{_inline(key)}: {self.render(value, inner)}"
        inside = self._text[node.start + 1 : node.end - 1]
        at = node.start + 1 + len(inside.rstrip(_BLANK))
        rest = self._text[at : node.end - 1]
        return Edit(at, at, written if "\n" in rest or "\r" in rest else f"{written}{self.newline}{outer}")

    def _end_of_line(self, at: int) -> int:
        """Give the place behind the comments that follow in the same line."""
        found = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*(?:[^*\r\n]|\*(?!/))*\*/))*").match(self._text, at)
        assert found is not None, "the pattern matches nothing, too"
        return found.end()


def _removal(text: str, members: tuple[Member, ...], index: int) -> list[Edit]:
    member = members[index]
    begin, end = member.start, member.end
    edits: list[Edit] = []
    is_last = index == len(members) - 1
    if is_last and member.comma is None and index:
        comma = members[index - 1].comma
        assert comma is not None, "another member follows it"
        edits.append(Edit(comma, comma + 1, ""))
    blank = len(text[:begin]) - len(text[:begin].rstrip(" \t"))
    line = begin - blank
    if line and text[line - 1] in "\r\n" and re.compile(r"[ \t]*(?:[\r\n]|$)").match(text, end):
        # The whole line, with the line end before it.
        begin = line - (2 if text[:line].endswith("\r\n") else 1)
    elif is_last:
        begin = line
    else:
        found = re.compile(r"[ \t]*").match(text, end)
        assert found is not None, "the pattern matches nothing, too"
        end = found.end()
    return [*edits, Edit(begin, end, "")]
