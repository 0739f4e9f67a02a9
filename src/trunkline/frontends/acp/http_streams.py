"""The streams of a client over HTTP: which of them a message belongs to.

There is one stream for the connection and one for every session. What concerns a session goes to its own
stream, also before that is opened, so its order is kept; and so do the answers to requests about it. The
exception is a load or a resume by a client that does not read the session's stream yet: some open it only
when they have the answer, so until then everything goes to the stream of the connection.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from trunkline.protocols.jsonrpc.messages import Id, Message, Params, Request, Response
from trunkline.transports.outbox import OutboxTransport

_OPENING = frozenset({"session/load", "session/resume"})
_MAX_REMEMBERED = 2048


class _About(msgspec.Struct, rename="camel"):
    session_id: str | None = None
    request_id: Id = None
    elicitation_id: str | None = None


class _Head(msgspec.Struct):
    """The part of a message of ours that its stream depends on."""

    id: Id = None
    method: str | None = None
    params: _About | None = None


_NOTHING = _About()
_read_head = msgspec.json.Decoder(_Head).decode


def session_of(message: Message) -> str | None:
    """The session that a message of the client names."""
    params: Params = None if isinstance(message, Response) else message.params
    named = params.get("sessionId") if isinstance(params, dict) else None
    return named if isinstance(named, str) else None


class AcpStreams(OutboxTransport):
    """A transport with an outbox per stream; the one of the connection has no name."""

    def __init__(
        self, give_up: Callable[[str], None], *, limit: int = 16 << 20, patience: float = 300.0
    ) -> None:
        super().__init__(give_up, limit=limit, patience=patience)
        self._answers: dict[Id, str] = {}
        """The sessions that open requests are about."""
        self._opening: dict[str, Id] = {}
        """Sessions whose stream has no reader while they are opened."""
        self._sessions_of_requests: dict[Id, str] = {}
        """The sessions of our requests and links: messages about those go to the same stream."""

    def note_message(self, message: Message) -> None:
        """Note a message of the client: its answer goes to the stream of the same session."""
        session_id = session_of(message)
        if isinstance(message, Response):
            self._sessions_of_requests.pop(message.id, None)
        if session_id is None or not isinstance(message, Request):
            return
        self._answers[message.id] = session_id
        if message.method in _OPENING and not self._is_read(session_id):
            self._opening[session_id] = message.id

    def address(self, message: bytes) -> str | None:
        """The session whose stream a message belongs to; None is the stream of the connection."""
        try:
            head = _read_head(message)
        except msgspec.DecodeError:
            return None
        if head.method is not None:
            named = self._subject(head.id, head.params or _NOTHING)
            return None if named in self._opening else named
        session_id = self._answers.pop(head.id, None)
        if session_id is None:
            return None
        if session_id in self._opening and self._opening[session_id] == head.id:
            del self._opening[session_id]
            return None
        # A client that neither reads this stream nor has anything to read there may not know of it at all.
        outbox = self.find(session_id)
        waits = outbox is not None and not outbox.empty
        return session_id if waits or self._is_read(session_id) else None

    def _subject(self, request_id: Id, about: _About) -> str | None:
        """The session that a message of ours is about."""
        if about.session_id is None:
            return self._sessions_of_requests.get(about.request_id) or self._sessions_of_requests.get(
                about.elicitation_id
            )
        for name in (request_id, about.elicitation_id):
            if name is not None:
                self._sessions_of_requests[name] = about.session_id
        while len(self._sessions_of_requests) > _MAX_REMEMBERED:
            del self._sessions_of_requests[next(iter(self._sessions_of_requests))]
        return about.session_id

    def _is_read(self, session_id: str) -> bool:
        outbox = self.find(session_id)
        return outbox is not None and outbox.read
