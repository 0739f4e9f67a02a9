"""The lines of a trace: who said what, and when."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import orjson

from trunkline.errors import ConfigurationError

Direction = Literal["client->agent", "agent->client"]
Message = dict[str, Any]


class _Line(msgspec.Struct):
    """A line as we write it, or as older records have it: ``from`` and ``message``, without times."""

    t: float = 0.0
    dir: Direction | None = None
    msg: Message | None = None
    raw: str | None = None
    by: Literal["client", "agent"] | None = msgspec.field(default=None, name="from")
    message: Message | None = None


class TraceLine(NamedTuple):
    """One line of a trace; ``message`` is None for a line that was no JSON object."""

    at: float
    by: Direction
    message: Message | None
    raw: str = ""

    @property
    def method(self) -> str | None:
        """The method of a request or a notification."""
        return None if self.message is None else self.message.get("method")

    @property
    def is_request(self) -> bool:
        """Whether it wants an answer."""
        return self.message is not None and "method" in self.message and "id" in self.message

    @property
    def is_answer(self) -> bool:
        """Whether it answers a request."""
        return self.message is not None and "method" not in self.message and "id" in self.message


def write_line(at: float, by: Direction, line: bytes) -> bytes:
    """Write a line that was said as a line of a trace; a message stays as it was written."""
    try:
        is_message = isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        is_message = False
    if is_message:
        # Line ends inside of it stand between values.
        name, payload = b"msg", b" ".join(line.splitlines()).strip()
    else:
        name, payload = b"raw", orjson.dumps(line.rstrip(b"\r\n").decode(errors="replace"))
    return b'{"t":%.3f,"dir":"%s","%s":%s}\n' % (at, by.encode(), name, payload)


def read_trace(path: Path) -> list[TraceLine]:
    """Read a trace; a file that is none is refused with the number of the line."""
    try:
        with path.open("rb") as file:
            return list(_read_lines(path, file))
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error


def _read_lines(path: Path, lines: Any) -> Iterator[TraceLine]:
    decoder = msgspec.json.Decoder(_Line)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            read = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            if number > 1 and not line.endswith(b"\n"):
                return  # The disk was full, or the power went: the last line is half there.
            raise ConfigurationError(
                f"{path}:{number} is no line of a trace ({error}): record one with `trunkline record`"
            ) from None
        if read.dir is None and read.by is None:
            raise ConfigurationError(f"{path}:{number} is no line of a trace: it does not say who spoke")
        by: Direction = read.dir or ("client->agent" if read.by == "client" else "agent->client")
        yield TraceLine(read.t, by, read.msg or read.message, read.raw or "")
