"""Annotations of an answer: the pages and files that it cites."""

from __future__ import annotations

from typing import Any

from trunkline import events as ev
from trunkline.agents.openai.stream_events.fields import as_fields, text_field

_READ = ("type", "url", "title", "filename", "file_id")


def read_annotation(note: Any, message_id: str, number: int) -> ev.Source | None:
    """Read an annotation as a source; where in the text it is cited is in the event's meta."""
    url, title = text_field(note, "url") or None, text_field(note, "title") or None
    filename, file_id = text_field(note, "filename") or None, text_field(note, "file_id") or None
    if not (url or filename or file_id):
        return None
    rest = {key: value for key, value in as_fields(note).items() if key not in _READ}
    if file_id:
        rest["extras"] = {"file_id": file_id}
    return ev.Source(
        message_id=message_id,
        source_id=url or file_id or f"{message_id}:{number}",
        url=url,
        title=title or filename,
        document=None if url else filename or file_id,
        meta={"citation": rest} if rest else None,
    )
