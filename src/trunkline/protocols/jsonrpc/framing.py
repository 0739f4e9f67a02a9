"""Framing: a stream of bytes, cut anywhere, into lines."""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_LINE = 64 * 1024 * 1024
"""Bytes of the longest line that is kept, on every transport."""
_JSON_SPACE = b" \t\r"
_HEAD, _TAIL = 1024, 256


@dataclass(frozen=True)
class Oversize:
    """Stands in for a line that was too long to keep; its first and last bytes may say whose it was."""

    size: int
    limit: int
    head: bytes = field(default=b"", compare=False)
    tail: bytes = field(default=b"", compare=False)


class LineFramer:
    r"""Cuts bytes into lines at ``\n`` and nowhere else (JSON text may hold U+2028 or U+0085).

    "Messages are delimited by newlines (\\n), and MUST NOT contain embedded newlines."
    (https://agentclientprotocol.com/protocol/v1/transports)

    White space around a line goes, and so do blank lines. Of a line longer than ``max_line`` bytes only
    the edges are kept, and one ``Oversize`` takes its place when it ends: so memory is bounded, and how the
    stream was cut into chunks never shows.
    """

    def __init__(self, max_line: int = MAX_LINE) -> None:
        """Keep lines of up to ``max_line`` bytes."""
        self._limit = max_line
        # A bytearray grows in amortised constant time, whereas joining bytes would be quadratic and
        # a list of tiny chunks would cost many times their size.
        self._held = bytearray()
        self._seen = 0
        self._head = self._tail = b""

    def feed(self, chunk: bytes, /) -> list[bytes | Oversize]:
        """Take some bytes and give the lines that they complete."""
        lines = chunk.split(b"\n")
        rest = lines.pop()
        items: list[bytes | Oversize] = []
        if self._seen and lines:
            self._hold(lines.pop(0))
            items = self.close()
        for raw in lines:
            if len(raw) > self._limit:
                items.append(Oversize(len(raw), self._limit, raw[:_HEAD], raw[-_TAIL:]))
            elif line := raw.strip(_JSON_SPACE):
                items.append(line)
        if rest:
            self._hold(rest)
        return items

    def close(self) -> list[bytes | Oversize]:
        """Give the line that was not terminated, if there is one."""
        seen, self._seen = self._seen, 0
        held, self._held = self._held, bytearray()
        if seen > self._limit:
            head, tail = self._head, self._tail
            self._head = self._tail = b""
            return [Oversize(seen, self._limit, head, tail)]
        line = bytes(held).strip(_JSON_SPACE)
        return [line] if line else []

    @property
    def overflow(self) -> Oversize | None:
        """The line that is too long already and has not ended; it may never end."""
        return Oversize(self._seen, self._limit, self._head, self._tail) if self._seen > self._limit else None

    def _hold(self, piece: bytes) -> None:
        self._seen += len(piece)
        if self._seen <= self._limit:
            self._held += piece
            return
        if self._held:
            # The first piece that is too much: from here on only the edges are kept.
            self._head, self._tail = bytes(self._held[:_HEAD]), bytes(self._held[-_TAIL:])
            self._held.clear()
        self._head += piece[: _HEAD - len(self._head)]
        self._tail = (self._tail + piece[-_TAIL:])[-_TAIL:]
