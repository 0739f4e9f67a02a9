"""Safe text: what an agent says must not move the cursor, hide text or turn its direction.

An agent's words are shown to a person, next to questions on which that person decides. Control characters
could rewrite what was already shown: they are shown as escapes; only line feeds and tabs pass. Joiners and
direction marks are letters of Persian, Hindi, Hebrew and of joined emoji, so they pass in an answer. In what
a person decides on (``reveal``, ``safe_title``) they are shown too: there, two different things must not look
the same. What is cut off is marked.
"""

from __future__ import annotations

import re

_LONGEST_TITLE = 1000
_CONTROLS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls; ANSI sequences begin with one
    "\u115f\u1160\u17b4\u17b5\u2028-\u202e\u2061-\u206f"  # invisible letters, odd line ends, overrides
    "\u3164\ufeff\uffa0\ufff9-\ufffb"  # fillers, byte order mark, annotations
    "\ud800-\udfff"  # halves of characters
    "\U000e0000-\U000e0fff"  # tags
)
_JOINERS = (
    "\xad\u034f\u061c\u180b-\u180f"  # soft hyphen, joiners and variants, a direction mark
    "\u200b-\u200f\u2060"  # zero widths and direction marks
)
_UNSAFE = re.compile(f"[{_CONTROLS}]")
_HIDDEN = re.compile(f"[{_CONTROLS}{_JOINERS}]")
_COLOUR = re.compile(r"(\x1b\[[0-9;:]*m)")


def escape(text: str) -> str:
    """Show every character that controls a terminal or hides text as an escape."""
    return _UNSAFE.sub(_shown, text.replace("\r\n", "\n"))


class PieceEscaper:
    """Escapes a text that comes in pieces, which may cut a line end in two."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """Give what can be shown so far: a carriage return waits for the character behind it."""
        text = self._held + piece
        self._held = "\r" if text.endswith("\r") else ""
        return escape(text.removesuffix("\r"))

    def end(self) -> str:
        """Give what is left when no further piece comes."""
        held, self._held = self._held, ""
        return escape(held)


def escape_but_colours(text: str) -> str:
    """Show every such character as an escape; sequences that only choose a colour or a weight pass."""
    pieces = _COLOUR.split(text)
    return "".join(
        piece if at % 2 and not _conceals(piece) else escape(piece) for at, piece in enumerate(pieces)
    )


def _conceals(colour: str) -> bool:
    """Whether a sequence also asks for invisible text: 8 does, where it is not a part of a colour."""
    numbers = iter(colour[2:-1].split(";"))
    for number in numbers:
        if number in ("38", "48", "58"):
            for _ in range({"5": 1, "2": 3}.get(next(numbers, ""), 0)):
                next(numbers, None)
        elif number.lstrip("0") == "8":
            return True
    return False


def without_colours(text: str) -> str:
    """Leave out the sequences that choose a colour or a weight."""
    return _COLOUR.sub("", text)


def escape_json(data: bytes) -> bytes:
    """Spell every such character inside of JSON as JSON does: it means the same, and shows itself."""
    if data.isascii() and b"\x7f" not in data:
        return data
    return _HIDDEN.sub(_spelled, data.decode()).encode()


def _spelled(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def one_line(text: str, limit: int = 200) -> str:
    """Give a safe single line of at most ``limit`` characters; one that was cut ends with ``…``."""
    return _one_line(text, limit, _UNSAFE)


def safe_title(title: str, limit: int = _LONGEST_TITLE) -> str:
    """Give the title of a call on one line, in which nothing is hidden; the whole is in its input."""
    return _one_line(title, limit, _HIDDEN)


def _one_line(text: str, limit: int, unsafe: re.Pattern[str]) -> str:
    head, rest = text[: 4 * limit], text[4 * limit :]
    line = unsafe.sub(_shown, " ".join(head.split()))
    # Blanks alone are no loss: a line shows one for many.
    cut = len(line) > limit or (rest != "" and not rest.isspace())
    return f"{line[: limit - 1]}…" if cut else line


def reveal(text: str) -> str:
    """Show everything that a text holds, on which a person decides: long runs of blanks are counted.

    Blanks could push the rest out of sight, and odd ones could be mistaken for plain ones.
    """
    shown = _ODD_BLANKS.sub(_shown, _HIDDEN.sub(_shown, text.replace("\r\n", "\n")))
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
