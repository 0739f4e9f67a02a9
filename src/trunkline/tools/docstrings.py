"""Reads what a docstring says of a function and of its arguments: Google, NumPy and Sphinx style; pure."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_ARGUMENTS = frozenset(
    ("Args", "Arguments", "Parameters", "Params", "Keyword Args", "Keyword Arguments", "Other Parameters")
)
_LEFT_OUT = frozenset(("Returns", "Return", "Yields", "Yield", "Raises"))
"""What a model need not read: it sees the result."""
_UNDERLINE = re.compile(r"-{3,}\s*")
_GOOGLE_ENTRY = re.compile(r"\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:(?:\s+|$)(.*)")
_NUMPY_ENTRY = re.compile(r"((?:\*{0,2}\w+\s*,\s*)*\*{0,2}\w+)\s*(?::.*)?")
_FIELD = re.compile(r":(\w+)(?:\s+([^:]*))?:\s*(.*)")


class Docstring(NamedTuple):
    """What is said of a function, and of each argument by its name."""

    text: str
    arguments: dict[str, str]


def read_docstring(docstring: str | None) -> Docstring:
    """Take a docstring apart; what is said of results and errors is left out."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    text: list[str] = []
    arguments: dict[str, str] = {}
    at = 0
    while at < len(lines):
        underlined = _is_underlined(lines, at)
        heading = lines[at].rstrip().removesuffix(":")
        if heading in _ARGUMENTS | _LEFT_OUT and (underlined or lines[at].rstrip().endswith(":")):
            begin = at + (2 if underlined else 1)
            at = _section_end(lines, begin, underlined)
            if heading in _ARGUMENTS:
                arguments.update(_entries(lines[begin:at], _NUMPY_ENTRY if underlined else _GOOGLE_ENTRY))
        elif (field := _FIELD.match(lines[at])) is not None:
            begin, at = at + 1, _section_end(lines, at + 1, False)
            if field[1] in ("param", "parameter", "arg", "argument", "key", "keyword") and field[2]:
                # The type of an argument may stand before its name.
                arguments[field[2].split()[-1].lstrip("*")] = _joined([field[3], *lines[begin:at]])
        else:
            text.append(lines[at])
            at += 1
    return Docstring(
        "\n".join(text).strip(), {name: text_of for name, text_of in arguments.items() if text_of}
    )


def _is_underlined(lines: Sequence[str], at: int) -> bool:
    return at + 1 < len(lines) and _UNDERLINE.fullmatch(lines[at + 1]) is not None


def _section_end(lines: Sequence[str], begin: int, underlined: bool) -> int:
    """Find the line after a section: the next heading, or the next line that is not indented."""
    for at in range(begin, len(lines)):
        if underlined and lines[at].strip() and _is_underlined(lines, at):
            return at
        if not underlined and lines[at].strip() and not lines[at][0].isspace():
            return at
    return len(lines)


def _entries(body: Sequence[str], pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    lines = textwrap.dedent("\n".join(body)).splitlines()
    names: list[str] = []
    texts: list[str] = []
    for line in [*lines, ""]:
        entry = pattern.fullmatch(line.rstrip()) if line and not line[0].isspace() else None
        if entry is not None:
            yield from ((name, _joined(texts)) for name in names)
            names = [name.strip().lstrip("*") for name in entry[1].split(",")]
            texts = [entry[2]] if pattern is _GOOGLE_ENTRY else []
        else:
            texts.append(line)
    yield from ((name, _joined(texts)) for name in names)


def _joined(lines: Sequence[str]) -> str:
    return " ".join(" ".join(lines).split())
