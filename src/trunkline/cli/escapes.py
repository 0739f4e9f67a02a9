"""Escapes: what an agent says must not move the cursor, hide text or turn its direction.

An agent's words are shown in a person's terminal, next to questions on which that person decides.
Control characters could rewrite what was already shown, and invisible ones could make two different
things look the same. They are shown as escapes instead; only line feeds and tabs pass.
"""

from __future__ import annotations

import re

__all__ = ["escape", "one_line"]

_UNSAFE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls; ANSI sequences begin with one
    "\xad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # invisible letters and a direction mark
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero widths, direction marks, odd line ends
    "\u3164\ufeff\uffa0\ufff9-\ufffb"  # fillers, byte order mark, annotations
    "\ud800-\udfff"  # halves of characters
    "\U000e0000-\U000e0fff"  # tags
    "]"
)


def escape(text: str) -> str:
    """Show every character that is not what it seems as an escape."""
    return _UNSAFE.sub(_shown, text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 200) -> str:
    """Give a safe single line, shortened to ``limit`` characters."""
    line = escape(" ".join(text[: 4 * limit].split()))
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
