"""Sessions of the journal in every format of ``sessions show``, ``export`` and the page, piece by piece."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

import msgspec

from trunkline.conversation import Conversation
from trunkline.events import encode_event
from trunkline.exports.html import as_html
from trunkline.exports.markdown import as_markdown, as_text
from trunkline.folding import Folder
from trunkline.journal import Record, SessionInfo, SessionKey
from trunkline.safe_text import escape_json

Pieces = AsyncIterator[bytes]


class ReadsRecords(Protocol):
    """Gives the records of a session page by page, as a journal does."""

    async def read(self, key: SessionKey, after: int = 0, limit: int = 1000) -> list[Record]:
        """Give the records after one, in order."""
        ...


def as_row(info: SessionInfo) -> dict[str, Any]:
    """Give what is known of a session without reading it."""
    names = (
        "session_id", "principal", "title", "target", "cwd", "created_at", "updated_at",
        "first_seq", "last_seq", "bytes", "owner",
    )  # fmt: skip
    return {name: getattr(info, name) for name in names} | {"events": info.last_seq - info.first_seq + 1}


async def _records(journal: ReadsRecords, info: SessionInfo) -> AsyncIterator[Record]:
    after = 0
    while page := await journal.read(info.key, after=after):
        for record in page:
            yield record
        after = page[-1].seq


async def _folded(journal: ReadsRecords, info: SessionInfo) -> Conversation:
    folder = Folder()
    async for record in _records(journal, info):
        if record.event is not None:
            folder.feed(record.event)
    return folder.conversation


async def _rendered(
    render: Callable[[SessionInfo, Conversation], str], journal: ReadsRecords, info: SessionInfo
) -> bytes:
    """Render a conversation in a thread: a long one takes seconds, and a server has more to do."""
    text = await asyncio.to_thread(render, info, await _folded(journal, info))
    return text.encode("utf-8", "backslashreplace")


async def _as_events(journal: ReadsRecords, info: SessionInfo) -> Pieces:
    async for record in _records(journal, info):
        if record.event is not None:
            yield escape_json(encode_event(record.event)) + b"\n"


async def _as_text(journal: ReadsRecords, info: SessionInfo) -> Pieces:
    yield await _rendered(as_text, journal, info)


async def _as_markdown(journal: ReadsRecords, info: SessionInfo) -> Pieces:
    yield await _rendered(as_markdown, journal, info)


async def _as_html(journal: ReadsRecords, info: SessionInfo) -> Pieces:
    yield await _rendered(as_html, journal, info)


async def _as_json(journal: ReadsRecords, info: SessionInfo) -> Pieces:
    record = {"session": as_row(info), "conversation": await _folded(journal, info)}
    yield escape_json(msgspec.json.encode(record)) + b"\n"


async def _as_lines(journal: ReadsRecords, info: SessionInfo) -> Pieces:
    async for record in _records(journal, info):
        yield _line(record) + b"\n"


async def _as_document(journal: ReadsRecords, info: SessionInfo) -> Pieces:
    yield b'{"session":' + escape_json(msgspec.json.encode(as_row(info))) + b',"records":['
    comma = b""
    async for record in _records(journal, info):
        yield comma + b"\n" + _line(record)
        comma = b","
    yield b"\n]}\n"


def _line(record: Record) -> bytes:
    what = {"event": record.event} if record.command is None else {"command": record.command}
    fields = {"seq": record.seq, "at": record.at, "fence": record.fence, **what}
    return escape_json(msgspec.json.encode(fields))


FORMATS: dict[str, Callable[[ReadsRecords, SessionInfo], Pieces]] = {
    "text": _as_text,
    "json": _as_json,
    "events": _as_events,
    "jsonl": _as_lines,
    "document": _as_document,
    "markdown": _as_markdown,
    "html": _as_html,
}
"""How a session is written, by the name of the format."""
