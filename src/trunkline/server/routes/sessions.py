"""Sessions over HTTP: list, read, follow, command, delete.

A token sees the sessions of its principal only: those of others do not exist for it.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trunkline.commands import Command, HandOver
from trunkline.cursor import Cursor, Entry, Gap
from trunkline.error_redaction import without_words
from trunkline.errors import InvalidCommand, PeerError, SessionClosed, SessionNotFound
from trunkline.folding import Folder
from trunkline.journal import Journal, Record, SessionInfo
from trunkline.protocols.sse import write_frame
from trunkline.server.agents import ServedAgents
from trunkline.server.event_stream import StreamResponse, sse_framing
from trunkline.server.responses import json_response
from trunkline.server.routes.session_status import read_status
from trunkline.server.security.bodies import read_body
from trunkline.server.security.command_scopes import COMMAND_SCOPES
from trunkline.server.security.tokens import access_of
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.session.stream.reader import Reader

_PAGE = 1000
_LONGEST_WAIT = 30  # seconds; proxies close a silent response after a minute

_commands = msgspec.json.Decoder(Command)
_encode = msgspec.json.Encoder().encode


class SessionRoutes:
    """The routes of programs that follow and steer sessions."""

    def __init__(self, agents: ServedAgents) -> None:
        self._agents = agents

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses."""
        return [
            Route("/sessions", self.list, methods=["GET"]),
            Route("/sessions/{session_id:path}/commands", self.command, methods=["POST"]),
            Route("/sessions/{session_id:path}", self.show, methods=["GET"]),
            Route("/sessions/{session_id:path}", self.delete, methods=["DELETE"]),
        ]

    async def list(self, request: Request) -> Response:
        """Give the principal's sessions, newest first; ``next`` is where the following page begins.

        A ``query`` searches titles and texts: a page of what was found may be short, or empty, and have a
        next.
        """
        access = access_of(request.scope)
        access.need("follow")
        journal = await self._agents.open()
        limit = max(1, _number(request, "limit", 100, most=_PAGE))
        before, target, query = _before(request), self._target(request), request.query_params.get("query")
        if query is not None and query.strip():
            found, following = await journal.search(
                query, access.principal, limit=limit, before=before, target=target
            )
        else:
            found = await journal.list(
                access.principal, limit=limit, before=before, begun=True, target=target
            )
            following = (found[-1].updated_at, found[-1].session_id) if len(found) == limit else None
        page: dict[str, Any] = {
            "sessions": [self._row(info) | await _status(journal, info) for info in found]
        }
        if following is not None:
            page["next"] = f"{following[0]!r}~{following[1]}"
        return json_response(page)

    def _target(self, request: Request) -> str | None:
        """Give the target of the agent whose sessions are asked for."""
        name = request.query_params.get("agent")
        return None if name is None else self._agents.by_name[self._agents.resolve_name(name)].target

    async def show(self, request: Request) -> Response:
        """Give a session's records, or follow it from Last-Event-ID on."""
        access = access_of(request.scope)
        access.need("follow")
        session_id: str = request.path_params["session_id"]
        hub, info = await self._agents.hub_of_session(session_id, access.principal)
        if request.method == "GET" and "text/event-stream" in request.headers.get("accept", ""):
            last = request.headers.get("last-event-id") or request.query_params.get("after") or "0-0"
            session = await hub.session(session_id, principal=access.principal)
            return StreamResponse(_follow(session, Cursor.parse(last)), _FRAMES, limits=self._agents.limits)
        after = _number(request, "after", 0, most=1 << 60)
        limit = max(1, _number(request, "limit", _PAGE, most=_PAGE))
        records = await self._read(hub, info, after, limit, _number(request, "wait", 0, most=_LONGEST_WAIT))
        page: dict[str, Any] = {
            "session": self._row(info),
            "records": [_record(record) for record in records],
        }
        if len(records) == limit:
            page["next"] = records[-1].seq
        return json_response(page)

    async def _read(self, hub: Hub, info: SessionInfo, after: int, limit: int, wait: int) -> list[Record]:
        """Read the records after one, and wait so many seconds for the first: long polling."""
        until = time.monotonic() + wait
        while not (records := await hub.journal.read(info.key, after=after, limit=limit)):
            left = until - time.monotonic()
            if left <= 0:
                break
            # A change during the read is seen a second later.
            await hub.changed(min(left, 1.0))
        return records

    async def command(self, request: Request) -> Response:
        """Carry a command out; one whose key was used before is the same command."""
        access = access_of(request.scope)
        body = await read_body(request, self._agents.limits)
        try:
            command = _commands.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidCommand(f"the body is no command: {error}") from None
        if isinstance(command, HandOver):
            raise InvalidCommand("the body is no command of a client: processes post it to each other")
        access.need(COMMAND_SCOPES[type(command)])
        session_id: str = request.path_params["session_id"]
        hub, _ = await self._agents.hub_of_session(session_id, access.principal)
        session = await hub.session(session_id, principal=access.principal)
        signed = msgspec.structs.replace(command, by=f"http:{access.principal}")
        return json_response({"result": await session.submit(signed)})

    async def delete(self, request: Request) -> Response:
        """Delete a session."""
        access = access_of(request.scope)
        access.need("admin")
        session_id: str = request.path_params["session_id"]
        hub, _ = await self._agents.hub_of_session(session_id, access.principal)
        await hub.delete(session_id, principal=access.principal)
        return Response(status_code=204)

    def _row(self, info: SessionInfo) -> dict[str, Any]:
        names = ("session_id", "title", "cwd", "created_at", "updated_at", "first_seq", "last_seq", "bytes")
        return {name: getattr(info, name) for name in names} | {"agent": self._agents.agent_of(info)}


async def _status(journal: Journal, info: SessionInfo) -> dict[str, str]:
    status = await read_status(journal, info)
    return {} if status is None else {"status": status}


# -- following -------------------------------------------------------------------------------------


def _join(cursor: Cursor | None, frames: Sequence[bytes]) -> bytes:
    return b"".join(frames)


_FRAMES = sse_framing(_join)
"""Frames that carry their own cursors."""


async def _follow(session: Session, after: Cursor | None) -> AsyncGenerator[tuple[None, list[bytes]]]:
    """Give frame after frame; a cursor that is no longer stored gets a snapshot first."""
    while isinstance(reader := await session.subscribe(after), Gap):
        folder = Folder()
        after = None
        async for entry in session.replay():
            folder.feed(without_words(entry.event))
            after = entry.cursor
        if after is None:
            # The session has no events: the next one is the first.
            reader, gap = await session.subscribe(None), reader
            assert not isinstance(reader, Gap), "from now on there is no gap"
            async with reader:
                yield None, [_snapshot(gap, Cursor(0, 0), folder)]
                async for frames in _read(reader):
                    yield frames
            return
        yield None, [_snapshot(reader, after, folder)]
    async with reader:
        async for frames in _read(reader):
            yield frames


async def _read(reader: Reader) -> AsyncGenerator[tuple[None, list[bytes]]]:
    while True:
        try:
            entries = await reader.next()
        except (SessionClosed, SessionNotFound):
            return
        yield None, [_entry(entry) for entry in entries]


def _snapshot(gap: Gap, cursor: Cursor, folder: Folder) -> bytes:
    data = {"first_seq": gap.first_seq, "conversation": folder.conversation}
    return b"event: snapshot\n" + _frame(cursor, data)


def _entry(entry: Entry) -> bytes:
    return _frame(entry.cursor, {"seq": entry.seq, "at": entry.at, "event": without_words(entry.event)})


def _frame(cursor: Cursor, data: Any) -> bytes:
    return write_frame(_encode(data), cursor)


# -- reading and writing ---------------------------------------------------------------------------


def _record(record: Record) -> dict[str, Any]:
    event, command = record.event, record.command
    what = {"event": without_words(event)} if command is None else {"command": command}
    return {"seq": record.seq, "at": record.at, "fence": record.fence, **what}


def _number(request: Request, name: str, usual: int, *, most: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return usual
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise PeerError(f"{name} is {text[:40]!r}: give a whole number")
    return min(int(text), most)


def _before(request: Request) -> tuple[float, str] | None:
    text = request.query_params.get("before")
    if text is None:
        return None
    at, mark, session_id = text.partition("~")
    with suppress(ValueError):
        if mark:
            return float(at), session_id
    raise PeerError("before does not name a page: send the `next` of the page before")
