"""What a provider's wire has to offer to the server, and what the wires share."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, cast

from tests.peers.model.replies import Exchange, Hold, Reply, Use

TOKENS_READ, TOKENS_WRITTEN = 11, 7
"""What every reply says that it used."""


class Dialect(Protocol):
    """How one provider is spoken."""

    def read(self, path: str, body: Mapping[str, Any]) -> Exchange:
        """Understand a request."""
        ...

    def stream(self, reply: Reply, ids: Iterator[int]) -> Iterator[str | Hold]:
        """The frames of a streamed reply; a Hold is where the server waits."""
        ...

    def whole(self, reply: Reply, ids: Iterator[int]) -> dict[str, Any]:
        """A reply that is not streamed."""
        ...

    def error(self, status: int, message: str) -> dict[str, Any]:
        """The body of an HTTP error."""
        ...


def frame(data: Mapping[str, Any], event: str = "") -> str:
    """One server-sent event."""
    return (f"event: {event}\n" if event else "") + f"data: {json.dumps(data)}\n\n"


def text_of(content: Any) -> str:
    """All text in a provider's content, however deep."""
    match content:
        case str():
            return content
        case list():
            return "\n".join(filter(None, map(text_of, cast("list[Any]", content))))
        case {"text": str(text)}:
            return text
        case {"content": inner}:
            return text_of(inner)
        case _:
            return ""


def calls_tools(reply: Reply) -> bool:
    return any(isinstance(part, Use) for part in reply)
