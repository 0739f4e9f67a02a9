"""One client on one session: what it is shown, from which place on, and what becomes of what it sends."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import msgspec

from trunkline.cursor import Cursor
from trunkline.errors import AlreadyAnswered, AuthenticationRequired, JournalError, TrunklineError
from trunkline.frontends.unified.decoder import Initialize, Request, read_request, request_id_of
from trunkline.frontends.unified.following import Place, find_place, follow
from trunkline.frontends.unified.options import UnifiedOptions
from trunkline.frontends.unified.session_init import capabilities_metadata, card_metadata, session_init
from trunkline.protocols.unified.wire import MessageType, UnifiedMessage, derived_id
from trunkline.session.ids import new_id
from trunkline.session.session import Session

__all__ = ["UnifiedConnection", "new_message_id"]

log = logging.getLogger("trunkline.unified")

_WAITING = 64
"""Answers that may wait for a client before its next message is read."""
_OURS = "something went wrong on our side; the log says what"


def new_message_id() -> str:
    """Give an id for a message that belongs to no record."""
    return derived_id(new_id("message"))


class UnifiedConnection:
    """Shows a session to one client, and carries out what the client sends."""

    def __init__(
        self,
        session: Session,
        place: Place,
        *,
        by: str,
        options: UnifiedOptions | None = None,
        capabilities: Mapping[str, Any] | None = None,
    ) -> None:
        """Connect a client, which is called ``by`` in the records; ``open`` finds the place."""
        self.session = session
        self.by = by
        self.options = options or UnifiedOptions()
        self._place = place
        self._capabilities = dict(capabilities or {})
        self._told: asyncio.Queue[list[UnifiedMessage]] = asyncio.Queue(_WAITING)
        self._closed = asyncio.Event()

    @classmethod
    async def open(
        cls, session: Session, *, from_seq: int | None = None, after: Cursor | None = None, **fields: Any
    ) -> UnifiedConnection:
        """Connect to a session: from a record on, after a cursor, or from now on.

        A client that connects while a turn runs, and names no place, is shown that turn from its start.
        """
        return cls(session, await find_place(session, from_seq=from_seq, after=after), **fields)

    # -- what the client is shown ------------------------------------------------------------------

    def greeting(self) -> UnifiedMessage:
        """Give the first message of the connection."""
        session, place = self.session, self._place
        info = session.info
        status = "waiting" if session.is_suspended else "running" if session.busy else "idle"
        optional = {"cwd": info.cwd, "title": info.title}
        return session_init(
            session.session_id,
            at=info.created_at or time.time(),
            agent=card_metadata(session.agent.card),
            options=session.view.options,
            commands=session.view.commands,
            capabilities=self._capabilities,
            status=status,
            last_seq=session.position.record,
            replay={"from": place.first, "gap": place.gap},
            **{name: value for name, value in optional.items() if value is not None},
        )

    async def messages(self, *, keep_alive: float | None = None) -> AsyncGenerator[list[UnifiedMessage]]:
        """Give what the client is shown, batch by batch, until the session is closed here.

        After ``keep_alive`` seconds without a message there is one that says nothing else.
        """
        shown = follow(self.session, self._place, self.options)
        reading = asyncio.ensure_future(anext(shown))
        telling = asyncio.ensure_future(self._told.get())
        closing = asyncio.ensure_future(self._closed.wait())
        try:
            yield [self.greeting()]
            # A session that is closed ends by itself, after its last messages.
            while not closing.done() or self.session.closed:
                awaited = {reading, telling} if closing.done() else {reading, telling, closing}
                done, _ = await asyncio.wait(awaited, timeout=keep_alive, return_when=asyncio.FIRST_COMPLETED)
                if telling in done:
                    yield telling.result()
                    telling = asyncio.ensure_future(self._told.get())
                if reading in done:
                    try:
                        batch = reading.result()
                    except StopAsyncIteration:
                        break
                    reading = asyncio.ensure_future(anext(shown))
                    yield batch
                if not done:
                    yield [self._private("control_response", subtype="keep_alive")]
            while not self._told.empty():
                yield self._told.get_nowait()
        finally:
            for task in (reading, telling, closing):
                task.cancel()
            await asyncio.gather(reading, telling, closing, return_exceptions=True)
            await shown.aclose()

    def close(self) -> None:
        """End what ``messages`` gives; the session goes on."""
        self._closed.set()

    async def tell(self, *messages: UnifiedMessage) -> None:
        """Show the client, and no other one, these messages; waits while too many wait."""
        await self._told.put(list(messages))

    def try_to_tell(self, *messages: UnifiedMessage) -> None:
        """Show the client these messages, unless too many wait: for what it learns in another way too."""
        if not self._told.full():
            self._told.put_nowait(list(messages))

    # -- what the client sends ---------------------------------------------------------------------

    def read(self, message: UnifiedMessage) -> Request:
        """Say what a message asks for."""
        session = self.session
        return read_request(
            message,
            session_id=session.session_id,
            open_questions=session.open_questions,
            options=session.view.options,
            busy=self.options.busy,
        )

    async def carry_out(self, request: Request) -> dict[str, Any]:
        """Carry a request out; give what came of it."""
        session = self.session
        if isinstance(request, Initialize):
            await session.prepare()
            facts = capabilities_metadata(session.view.options, session.view.commands)
            return {"request_id": request.request_id, "response": {**facts, "agent": session.agent_name}}
        return await session.submit(msgspec.structs.replace(request, by=self.by))

    def success(self, message: UnifiedMessage, result: Mapping[str, Any]) -> UnifiedMessage:
        """Say that a message was carried out."""
        about = {"request_id": request_id_of(message), **result, "subtype": "success"}
        return self._private("control_response", parent=message.id, **about)

    def failure(self, message: UnifiedMessage | None, error: Exception) -> list[UnifiedMessage]:
        """Say why a message was not carried out; a missing login is also the status of the login."""
        text, code = _OURS, "internal"
        if isinstance(error, TrunklineError):
            code = error.code
            if error.fault != "ours" or isinstance(error, JournalError):
                text = str(error)
        if text == _OURS:
            log.error("a message of %s could not be carried out", self.by, exc_info=error)
        about: dict[str, Any] = {"subtype": "error", "error": text, "error_code": code}
        if isinstance(error, AlreadyAnswered):
            about |= {"question_id": error.question_id, "answered_by": error.by}
        parent = None
        if message is not None:
            about["request_id"], parent = request_id_of(message), message.id
        out: list[UnifiedMessage] = []
        if isinstance(error, AuthenticationRequired):
            login: dict[str, Any] = {"isAuthenticating": False, "output": [], "error": text}
            ended = {
                "stopReason": "error",
                "is_error": True,
                "error_code": "provider_auth",
                "error_message": text,
                "error_source": error.fault,
                "error_data": {"code": code},
            }
            out.append(self._private("auth_status", parent=parent, **login))
            out.append(self._private("result", parent=parent, **ended))
        return [*out, self._private("control_response", parent=parent, **about)]

    def _private(self, type: MessageType, *, parent: str | None = None, **metadata: Any) -> UnifiedMessage:
        """Make a message that no other client gets."""
        return UnifiedMessage(
            id=new_message_id(),
            timestamp=int(time.time() * 1000),
            type=type,
            role="system",
            metadata={"session_id": self.session.session_id, **metadata},
            parent_id=parent or msgspec.UNSET,
        )
