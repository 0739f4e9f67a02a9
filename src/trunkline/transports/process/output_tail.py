"""The tail of an output, as text: the last so many bytes, cut between characters."""

from __future__ import annotations

import codecs
from typing import NamedTuple


class Missing(NamedTuple):
    """What a reader has not seen yet: bytes that are gone, text that is there, and where it ends."""

    skipped: int
    text: str
    end: int


class Tail:
    """Decodes UTF-8 as it arrives (what is not UTF-8 is replaced) and keeps the end of it."""

    def __init__(self, limit: int) -> None:
        """Keep at most ``limit`` bytes of UTF-8."""
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._kept = bytearray()
        self._dropped = 0

    @property
    def text(self) -> str:
        """What is kept."""
        return self._kept.decode()

    @property
    def truncated(self) -> bool:
        """Whether anything was dropped."""
        return self._dropped > 0

    def feed(self, data: bytes, *, final: bool = False) -> None:
        """Take more bytes; half a character waits for its other half."""
        self._kept += self._decoder.decode(data, final).encode()
        cut = len(self._kept) - self._limit
        if cut <= 0:
            return
        while cut < len(self._kept) and self._kept[cut] & 0xC0 == 0x80:
            cut += 1
        del self._kept[:cut]
        self._dropped += cut

    def close(self) -> None:
        """Take the end of the stream; half a character that still waits is replaced."""
        self.feed(b"", final=True)

    def since(self, position: int) -> Missing:
        """Give what came after a position, which is 0 or the end of an earlier answer."""
        skipped = max(0, self._dropped - position)
        kept = self._kept[max(0, position - self._dropped) :]
        return Missing(skipped, kept.decode(), self._dropped + len(self._kept))
