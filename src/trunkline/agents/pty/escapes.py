"""Reads what a program writes to a terminal: text, control characters and escape sequences; pure.

It splits a stream of any chunks into printable runs and commands, and bounds what it keeps of an unfinished
sequence: one that is too long is dropped. Strings for the terminal itself (titles, clipboards) are skipped.
Sequences are those of ECMA-48 (https://ecma-international.org/publications-and-standards/standards/ecma-48/)
and of xterm (https://invisible-island.net/xterm/ctlseqs/ctlseqs.html).
"""

from __future__ import annotations

import codecs
import re
from typing import Protocol

_PRINTABLE = re.compile("[^\x00-\x1f\x7f-\x9f]+")
_LONGEST = 64  # Characters of a sequence; real ones have a dozen.
_STRINGS = frozenset("]PX^_")
"""What begins a string: OSC, DCS, SOS, PM and APC."""


class EscapeHandler(Protocol):
    """What is told of the stream."""

    def print(self, text: str) -> None:
        """Printable characters."""

    def control(self, char: str) -> None:
        """A control character, such as a line feed."""

    def escape(self, char: str) -> None:
        """A sequence of ESC and one character."""

    def csi(self, final: str, private: str, numbers: list[int]) -> None:
        """A control sequence: its last character, its private mark, and its numbers (0: not given)."""


class EscapeReader:
    """Feeds a handler from bytes, in whatever pieces they come."""

    def __init__(self, handler: EscapeHandler) -> None:
        self._handler = handler
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._state = "text"
        self._sequence = ""

    def feed(self, data: bytes) -> None:
        """Take the next bytes; a character or a sequence may go on in the next ones."""
        text, at = self._decoder.decode(data), 0
        while at < len(text):
            if self._state == "text":
                if found := _PRINTABLE.match(text, at):
                    self._handler.print(found.group())
                    at = found.end()
                    continue
                self._plain(text[at])
            else:
                self._inside(text[at])
            at += 1

    def _plain(self, char: str) -> None:
        if char == "\x1b":
            self._state = "escape"
        elif char < " ":
            self._handler.control(char)

    def _inside(self, char: str) -> None:
        if char in "\x18\x1a":  # CAN and SUB end any sequence.
            self._state = "text"
        elif self._state == "string":
            if char == "\x07":
                self._state = "text"
            elif char == "\x1b":
                self._state = "string escape"
        elif self._state == "string escape":
            self._state = "text" if char == "\\" else "string"
        elif char == "\x1b":
            self._state = "escape"
        elif char < " ":
            self._handler.control(char)  # Inside a sequence they work as outside.
        elif self._state == "escape":
            self._escape(char)
        elif self._state == "charset":
            self._state = "text"
        else:
            self._csi(char)

    def _escape(self, char: str) -> None:
        if char == "[":
            self._state, self._sequence = "csi", ""
        elif char in _STRINGS:
            self._state = "string"
        elif char in " #%()*+-./":
            self._state = "charset"
        else:
            self._state = "text"
            self._handler.escape(char)

    def _csi(self, char: str) -> None:
        if not "@" <= char <= "~":
            # One too many is remembered: such a sequence is no command.
            self._sequence = (self._sequence + char)[: _LONGEST + 1]
            return
        self._state = "text"
        if len(self._sequence) > _LONGEST:
            return
        private = self._sequence[:1] if self._sequence[:1] in "<=>?" else ""
        words = re.split("[;:]", self._sequence[len(private) :].rstrip(" !\"#$%&'()*+,-./"))
        if all(word.isascii() and (word.isdigit() or not word) for word in words):
            self._handler.csi(char, private, [min(int(word or 0), 9999) for word in words])
