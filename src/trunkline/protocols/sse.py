"""Server-sent events: the one reader and the one writer of their frames.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

from collections.abc import Sequence

from trunkline.errors import AgentProtocolError

MEDIA_TYPE = "text/event-stream"

_LONGEST = 64 * 1024 * 1024


def write_frame(data: bytes, event_id: object | None = None) -> bytes:
    """Write one event; ``data`` has no line break, which is so for JSON without indentation.

    ``event_id`` is what a client sends back as ``Last-Event-ID`` when it connects again.
    """
    frame = b"data: %b\n\n" % data
    return frame if event_id is None else b"id: %b\n%b" % (str(event_id).encode(), frame)


def write_frames(data: Sequence[bytes], event_id: object | None = None) -> bytes:
    """Write several events; the last one has the id, which is the cursor after all of them."""
    if event_id is None:
        return b"".join([b"data: %b\n\n" % one for one in data])
    return b"".join([b"data: %b\n\n" % one for one in data[:-1]]) + write_frame(data[-1], event_id)


def write_comment(text: str) -> bytes:
    """Write a line that every reader passes over."""
    return b": %b\n\n" % text.encode()


# "Legacy proxy servers are known to, in certain cases, drop HTTP connections after a short timeout. To
# protect against such proxy servers, authors can include a comment line (one starting with a ':' character)
# every 15 seconds or so." (9.2.7, Authoring notes)
KEEP_ALIVE = write_comment("keep-alive")


class FrameReader:
    """Collects bytes and gives the data of every complete frame; a Translator[bytes, bytes].

    Comments and all fields but ``data`` are passed over.
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
        # "Lines must be separated by either a U+000D CARRIAGE RETURN U+000A LINE FEED (CRLF) character pair,
        # a single U+000A LINE FEED (LF) character, or a single U+000D CARRIAGE RETURN (CR) character."
        # (9.2.5)
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r") if data else self._after_cr
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, self._rest = (self._rest + data).split(b"\n")
        frames: list[bytes] = []
        for line in lines:
            if line.startswith(b"data:"):
                # "If value starts with a U+0020 SPACE character, remove it from value." (9.2.6)
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
        """Give a last frame that was not ended by an empty line.

        A browser discards it ("Once the end of the file is reached, any pending data must be discarded"); we
        keep it, because some servers leave the last empty line out.
        """
        frames = self.feed(b"\n\n") if self._rest or self._data else []
        self._rest, self._data, self._size = b"", [], 0
        return frames
