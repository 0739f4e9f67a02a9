"""SSE frames out of a stream of bytes, however it is cut."""

from __future__ import annotations

from trunkline.errors import AgentProtocolError

__all__ = ["FrameReader"]

_LONGEST = 64 * 1024 * 1024


class FrameReader:
    """Collects bytes and gives the data of every complete frame; a Translator[bytes, bytes].

    A server may end its lines with LF, CR LF or CR, and comments and other fields are passed over.
    """

    def __init__(self, longest: int = _LONGEST, peer: str = "the server") -> None:
        """Refuse a frame of ``peer`` that is longer than this."""
        self._longest = longest
        self._peer = peer
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0
        self._after_cr = False

    def feed(self, data: bytes, /) -> list[bytes]:
        """Take some bytes; give the data of the frames they complete."""
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r") if data else self._after_cr
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, self._rest = (self._rest + data).split(b"\n")
        frames: list[bytes] = []
        for line in lines:
            if line.startswith(b"data:"):
                value = line[6:] if line[5:6] == b" " else line[5:]
                self._data.append(value)
                self._size += len(value)
            elif not line and self._data:
                frames.append(b"\n".join(self._data))
                self._data, self._size = [], 0
        if self._size + len(self._rest) > self._longest:
            raise AgentProtocolError(f"{self._peer} sent an event of more than {self._longest} bytes")
        return frames

    def close(self) -> list[bytes]:
        """Give a last frame that was not ended by an empty line."""
        frames = self.feed(b"\n\n") if self._rest or self._data else []
        self._rest, self._data, self._size = b"", [], 0
        return frames
