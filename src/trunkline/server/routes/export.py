"""Exports of sessions over HTTP: a file in one of the formats that the command line has, too."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import NamedTuple
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from trunkline.error_redaction import without_words
from trunkline.errors import PeerError
from trunkline.exports.formats import FORMATS
from trunkline.journal import Journal, Record, SessionInfo, SessionKey
from trunkline.server.agents import ServedAgents
from trunkline.server.responses import NO_STORE
from trunkline.server.security.tokens import access_of


class _Kind(NamedTuple):
    """How a format of an address is written."""

    name: str
    suffix: str
    media_type: str


_KINDS = {
    "md": _Kind("markdown", "md", "text/markdown; charset=utf-8"),
    "json": _Kind("document", "json", "application/json"),
    "html": _Kind("html", "html", "text/html; charset=utf-8"),
}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


class ExportRoutes:
    """The route of exports."""

    def __init__(self, agents: ServedAgents) -> None:
        self._agents = agents

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses."""
        return [Route("/sessions/{session_id:path}/export", self.export, methods=["GET"])]

    async def export(self, request: Request) -> Response:
        """Give a session as a file to keep."""
        access = access_of(request.scope)
        access.need("follow")
        session_id: str = request.path_params["session_id"]
        hub, info = await self._agents.hub_of_session(session_id, access.principal)
        wanted = request.query_params.get("format", "md")
        kind = _KINDS.get(wanted)
        if kind is None:
            raise PeerError(f"there is no format {wanted[:40]!r}: the formats are {', '.join(_KINDS)}")
        # Which process owns it is nobody's business elsewhere.
        pieces = _pieces(hub.journal, msgspec.structs.replace(info, owner=None), kind)
        try:
            # What fails at once has a status; a response that has begun could only be cut off.
            first = await anext(pieces)
        except BaseException:
            await pieces.aclose()
            raise
        headers = {
            "content-disposition": _disposition(info, kind.suffix),
            "content-security-policy": _POLICY,
            **NO_STORE,
        }
        return StreamingResponse(_from(first, pieces), media_type=kind.media_type, headers=headers)


class _Redacted:
    """The records of a journal without the texts of exceptions, which may name files and secrets."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def read(self, key: SessionKey, after: int = 0, limit: int = 1000) -> list[Record]:
        """Give the records after one, in order."""
        return [
            record
            if record.event is None
            else msgspec.structs.replace(record, event=without_words(record.event))
            for record in await self._journal.read(key, after, limit)
        ]


async def _pieces(journal: Journal, info: SessionInfo, kind: _Kind) -> AsyncGenerator[bytes]:
    async for piece in FORMATS[kind.name](_Redacted(journal), info):
        yield piece


async def _from(first: bytes, rest: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    async with aclosing(rest):
        yield first
        async for piece in rest:
            yield piece


def _disposition(info: SessionInfo, suffix: str) -> str:
    """Name the file after the session's title, in letters that every browser takes and in its own.

    RFC 6266, section 4.3: ``filename*`` has characters outside of Latin-1
    (https://www.rfc-editor.org/rfc/rfc6266#section-4.3).
    """
    title = re.sub(r"[\s/\\:*?\"<>|\x00-\x1f]+", "-", info.title or info.session_id).strip("-. ")[:80]
    title = title.encode("utf-8", "replace").decode() or "session"
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", title).strip("-.") or "session"
    return f"attachment; filename=\"{plain}.{suffix}\"; filename*=UTF-8''{quote(title, safe='')}.{suffix}"
