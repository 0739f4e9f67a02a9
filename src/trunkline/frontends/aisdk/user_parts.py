"""The parts of a message that a person sent, as content for an agent."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote, unquote, urlsplit

from trunkline import content as c
from trunkline.errors import InvalidCommand
from trunkline.frontends.aisdk.content_parts import SENT
from trunkline.protocols.aisdk.data_urls import read_data_url
from trunkline.protocols.aisdk.wire import JsonObject

__all__ = ["DATA_PARTS", "data_parts_of", "read_meta", "read_parts"]

DATA_PARTS = "aisdk.dataParts"
"""Where the meta of a person's message has the data parts that its page sent with it."""

_SKIPPED = frozenset(
    {
        "reasoning", "reasoning-file", "source-url", "source-document", "step-start", "dynamic-tool",
        "custom", "steering-message",
    }
)  # fmt: skip
"""Parts of an assistant's message: they mean nothing in a person's."""
_SKIPPED_BEGINNINGS = ("tool-", "data-")
_TEXTS = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")
_LOCAL = ("blob:", "javascript:")


def read_parts(parts: Sequence[Any], where: str = "parts") -> tuple[c.Content, ...]:
    """Read the text and the files of a person's message; what cannot be read raises InvalidCommand.

    A file in a data: URL is an image, a sound, a video or a resource with its contents, any other is a link.
    """
    found: list[c.Content] = []
    for number, one in enumerate(parts):
        field = f"{where}[{number}]"
        part = cast("JsonObject", one) if isinstance(one, dict) else {}
        kind = part.get("type")
        if not isinstance(kind, str):
            raise InvalidCommand(f"{field} is no part of a message: it has no type")
        if kind == "text":
            text = _text(part, "text", field)
            if text:
                found.append(c.TextBlock(text=text))
        elif kind == "file":
            found.append(_file(part, field))
        elif kind not in _SKIPPED and not kind.startswith(_SKIPPED_BEGINNINGS):
            raise InvalidCommand(f"Unsupported part type: {kind} ({field})")
    return tuple(found)


def read_meta(parts: Sequence[Any], metadata: Any) -> JsonObject | None:
    """Read what is kept beside the content of a person's message: its metadata, and its data parts."""
    found = dict(cast("JsonObject", metadata)) if isinstance(metadata, dict) else {}
    data = [{"at": at, "part": part} for at, part in enumerate(parts) if _is_data(part)]
    found.pop(DATA_PARTS, None)
    if data:
        found[DATA_PARTS] = data
    return found or None


def data_parts_of(meta: Mapping[str, Any] | None) -> Iterator[tuple[int, JsonObject]]:
    """Give the data parts that a page sent with a message, with their places."""
    kept: Any = (meta or {}).get(DATA_PARTS)
    for one in cast("list[Any]", kept) if isinstance(kept, list) else []:
        fields = cast("JsonObject", one) if isinstance(one, dict) else {}
        at, part = fields.get("at"), fields.get("part")
        if isinstance(at, int) and _is_data(part):
            yield at, cast("JsonObject", part)


def _is_data(part: Any) -> bool:
    return isinstance(part, dict) and str(cast("JsonObject", part).get("type")).startswith("data-")


def _text(part: JsonObject, name: str, field: str) -> str:
    value = part.get(name)
    if not isinstance(value, str):
        raise InvalidCommand(f"{field}.{name} must be a text")
    return value


def _file(part: JsonObject, field: str) -> c.Content:
    url = _text(part, "url", field)
    given: Any = part.get("mediaType") or part.get("mimeType")
    mime_type = given if isinstance(given, str) else None
    named: Any = part.get("filename") or part.get("name")
    name = named if isinstance(named, str) else None
    if not url or url.lower().startswith(_LOCAL):
        raise InvalidCommand(f"{field}.url cannot be read here: give a data: URL, or an address on the web")
    if url[:5].lower() != "data:":
        return c.LinkBlock(uri=url, name=name or _last_name(url), mime_type=mime_type)
    read = read_data_url(url)
    if read is None:
        raise InvalidCommand(f"{field}.url is a data: URL that cannot be read: its base64 is broken")
    return _inline(mime_type or read[0], read[1], name)


def _inline(mime_type: str, data: bytes, name: str | None) -> c.Content:
    meta = {SENT: {"filename": name}} if name else None
    kind = mime_type.partition("/")[0]
    block = {"image": c.ImageBlock, "audio": c.AudioBlock, "video": c.VideoBlock}.get(kind)
    packed = base64.b64encode(data).decode()
    if block is not None:
        return block(mime_type=mime_type, data=packed, meta=meta)
    uri = f"attachment:{quote(name or 'file')}"
    if mime_type.startswith(_TEXTS):
        try:
            return c.ResourceBlock(uri=uri, text=data.decode(), mime_type=mime_type, meta=meta)
        except UnicodeDecodeError:
            pass
    return c.ResourceBlock(uri=uri, data=packed, mime_type=mime_type, meta=meta)


def _last_name(url: str) -> str:
    """The name of what an address points to."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return url
    return unquote(path.rstrip("/").rpartition("/")[2]) or url
