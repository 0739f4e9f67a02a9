"""Safe text: what an agent says must not move the cursor, hide text or turn its direction.

An agent's words are shown to a person, next to questions on which that person decides. Control
characters could rewrite what was already shown, and invisible ones could make two different things look
the same. They are shown as escapes instead; only line feeds and tabs pass. What is cut off is marked.
"""

from __future__ import annotations

import re

_LONGEST_TITLE = 1000
_UNSAFE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls; ANSI sequences begin with one
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # invisible letters and a direction mark
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero widths, direction marks, odd line ends
    "\u3164\ufeff\uffa0\ufff9-\ufffb"  # fillers, byte order mark, annotations
    "\ud800-\udfff"  # halves of characters
    "\U000e0000-\U000e0fff"  # tags
    "]"
)


def escape(text: str) -> str:
    """Show every character that is not what it seems as an escape."""
    return _UNSAFE.sub(_shown, text.replace("\r\n", "\n"))


def escape_json(data: bytes) -> bytes:
    """Spell every such character inside of JSON as JSON does: it means the same, and shows itself."""
    if data.isascii() and b"\x7f" not in data:
        return data
    return _UNSAFE.sub(_spelled, data.decode()).encode()


def _spelled(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def one_line(text: str, limit: int = 200) -> str:
    """Give a safe single line of at most ``limit`` characters; one that was cut ends with ``…``."""
    head, rest = text[: 4 * limit], text[4 * limit :]
    line = escape(" ".join(head.split()))
    # Blanks alone are no loss: a line shows one for many.
    cut = len(line) > limit or (rest != "" and not rest.isspace())
    return f"{line[: limit - 1]}…" if cut else line


def safe_title(title: str) -> str:
    """Give the title of a call on one line, in which nothing is hidden; the whole is in its input."""
    return one_line(title, _LONGEST_TITLE)


def reveal(text: str) -> str:
    """Show everything that a text holds, on which a person decides: long runs of blanks are counted.

    Blanks could push the rest out of sight, and odd ones could be mistaken for plain ones.
    """
    shown = _ODD_BLANKS.sub(_shown, escape(text))
    shown = _EMPTY_LINES.sub(lambda run: f"\n⟨{run[0].count(chr(10)) - 1} empty lines⟩\n", shown)
    return _BLANKS.sub(lambda run: f"⟨{len(run[0])} blanks⟩", shown)


_ODD_BLANKS = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n){4,}")
_BLANKS = re.compile(r"(?m:^)[ \t]{41,}|(?<=[^ \t\n])[ \t]{9,}")


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
