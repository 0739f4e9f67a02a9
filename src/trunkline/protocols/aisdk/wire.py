"""The AI SDK's wire: the chunks of a UI message stream, its versions, messages and requests.

Read from the source of the npm package ``ai`` at 7.0.169, 6.0.326 and 5.0.277
(https://github.com/vercel/ai/blob/main/packages/ai/src/ui-message-stream/ui-message-chunks.ts). A chunk is a
plain object, one per SSE frame. Unknown keys pass since 7.0.32, 6.0.231 and 5.0.217; earlier they end the
chat with an error, as an unknown ``type`` does in all. An optional key may be absent and may not be null; a
key of type ``unknown`` must be there, and may be null.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

from trunkline.errors import ConfigurationError

__all__ = [
    "CHUNK_KEYS", "DONE", "HEADERS", "VERSIONS", "Chunk", "JsonObject", "StreamVersion", "UIMessage",
    "VersionNumber", "encode", "version_of",
]  # fmt: skip

JsonObject = dict[str, Any]
Chunk = dict[str, Any]
"""One chunk of a stream, ready for JSON."""
VersionNumber = Literal[5, 6, 7]

DONE = "[DONE]"
"""The data of the last frame of a stream."""
HEADERS: dict[str, str] = {
    "cache-control": "no-cache",
    "x-vercel-ai-ui-message-stream": "v1",
    "x-accel-buffering": "no",
}
"""What the AI SDK's own servers send beside the content type; proxies and other clients look at it.

They send ``connection`` too, which HTTP/2 forbids and HTTP/1.1 does not need.
"""

encode = msgspec.json.Encoder().encode

_SINCE_5: dict[str, tuple[str, ...]] = {
    "start": (),
    "finish": (),
    "abort": (),
    "error": ("errorText",),
    "message-metadata": ("messageMetadata",),
    "start-step": (),
    "finish-step": (),
    "text-start": ("id",),
    "text-delta": ("id", "delta"),
    "text-end": ("id",),
    "reasoning-start": ("id",),
    "reasoning-delta": ("id", "delta"),
    "reasoning-end": ("id",),
    "tool-input-start": ("toolCallId", "toolName"),
    "tool-input-delta": ("toolCallId", "inputTextDelta"),
    "tool-input-available": ("toolCallId", "toolName", "input"),
    "tool-input-error": ("toolCallId", "toolName", "input", "errorText"),
    "tool-output-available": ("toolCallId", "output"),
    "tool-output-error": ("toolCallId", "errorText"),
    "source-url": ("sourceId", "url"),
    "source-document": ("sourceId", "mediaType", "title"),
    "file": ("url", "mediaType"),
}
_SINCE_6: dict[str, tuple[str, ...]] = {
    "tool-approval-request": ("approvalId", "toolCallId"),
    "tool-output-denied": ("toolCallId",),
}
_SINCE_7: dict[str, tuple[str, ...]] = {
    "tool-approval-response": ("approvalId", "approved"),
    "reset-step": (),
    "custom": ("kind",),
    "reasoning-file": ("url", "mediaType"),
    "steering-message": ("id", "parts"),
}
CHUNK_KEYS: dict[str, tuple[str, ...]] = {**_SINCE_5, **_SINCE_6, **_SINCE_7}
"""The keys that each chunk must have; a ``data-NAME`` chunk must have ``data``."""

_FINISH_REASONS = frozenset({"stop", "length", "content-filter", "tool-calls", "error", "other"})


class StreamVersion(msgspec.Struct, frozen=True, kw_only=True):
    """What one version of the stream takes."""

    number: VersionNumber
    package: str
    """The npm package that it was read from and is tested with."""
    chunks: frozenset[str]
    finish_reasons: frozenset[str]
    asks_approval: bool
    """Whether a call can ask for approval, and be denied."""
    tells_answers: bool
    """Whether a stream can tell that an approval was answered; else only the client itself knows."""
    keeps_results_metadata: bool
    """Whether a client keeps the metadata of a call's result, its title, and why a turn was aborted.

    One that does not may refuse a chunk that has them: before 5.0.217 the schema takes no unknown keys.
    """
    replays: bool
    """Whether a client that resumes a stream takes a message from its start."""

    def knows(self, chunk_type: str) -> bool:
        """Whether a client of this version takes such a chunk."""
        return chunk_type in self.chunks or chunk_type.startswith("data-")


VERSIONS: dict[int, StreamVersion] = {
    5: StreamVersion(
        number=5,
        package="ai@5.0.277",
        chunks=frozenset(_SINCE_5),
        finish_reasons=_FINISH_REASONS | {"unknown"},
        asks_approval=False,
        tells_answers=False,
        keeps_results_metadata=False,
        replays=False,
    ),
    6: StreamVersion(
        number=6,
        package="ai@6.0.326",
        chunks=frozenset(_SINCE_5 | _SINCE_6),
        finish_reasons=_FINISH_REASONS,
        asks_approval=True,
        tells_answers=False,
        keeps_results_metadata=True,
        replays=False,
    ),
    7: StreamVersion(
        number=7,
        package="ai@7.0.169",
        chunks=frozenset(CHUNK_KEYS),
        finish_reasons=_FINISH_REASONS | {"interrupted"},
        asks_approval=True,
        tells_answers=True,
        keeps_results_metadata=True,
        replays=True,
    ),
}
"""The versions of the stream, by their number: the major version of the npm package ``ai``."""


def version_of(number: Any) -> StreamVersion:
    """Give a version of the stream; an unknown one is refused with the known ones."""
    known = get_args(VersionNumber)
    if type(number) is not int or number not in known:
        raise ConfigurationError(
            f"there is no version {number!r} of the UI message stream: give one of "
            f"{', '.join(map(str, known))}, the major version of the npm package ai on the page"
        )
    return VERSIONS[number]


class UIMessage(msgspec.Struct, kw_only=True):
    """A message of a page: the person's or the assistant's, as parts."""

    id: str
    role: str
    parts: list[JsonObject]
    metadata: Any = None
