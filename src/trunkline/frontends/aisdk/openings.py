"""The requests of a chat that are not in a turn yet: their agent is being started, or an earlier one is.

A stop reaches them all the same, a page that loads the messages sees them, and one that resumes waits for
them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress

from trunkline import events as ev
from trunkline.errors import InvalidCommand
from trunkline.frontends.aisdk.chat_request import ChatRequest
from trunkline.frontends.aisdk.messages import user_message
from trunkline.frontends.aisdk.user_parts import read_meta, read_parts
from trunkline.protocols.aisdk.wire import JsonObject

__all__ = ["Opening", "Openings"]

Key = tuple[str, str]
"""A principal and the id of a chat."""


class Opening:
    """One request on its way into a turn."""

    def __init__(self, request: ChatRequest) -> None:
        self.request = request
        self.is_stopped = False
        """Whether its turn is to be stopped as soon as it begins."""
        self.is_expected = False
        """Whether a page has loaded the messages meanwhile, and lacks the turn."""


class _Chat:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.openings: list[Opening] = []


class Openings:
    """The requests on their way, by their chats; those of one chat are carried out one after the other."""

    def __init__(self) -> None:
        self._chats: dict[Key, _Chat] = {}

    @asynccontextmanager
    async def enter(self, key: Key, request: ChatRequest) -> AsyncGenerator[Opening]:
        """Carry out a request, after the earlier ones of its chat."""
        chat = self._chats.setdefault(key, _Chat())
        opening = Opening(request)
        chat.openings.append(opening)
        try:
            async with chat.lock:
                yield opening
        finally:
            chat.openings.remove(opening)
            if not chat.openings:
                del self._chats[key]

    def has(self, key: Key) -> bool:
        """Whether a chat has requests on their way."""
        return key in self._chats

    async def wait(self, key: Key) -> None:
        """Wait until the requests that came so far are in their turns."""
        if (chat := self._chats.get(key)) is not None:
            async with chat.lock:
                return

    def stop(self, key: Key) -> bool:
        """Have the turns of these requests stopped as soon as they begin; False if there is none."""
        openings = self._of(key)
        for opening in openings:
            opening.is_stopped = True
        return bool(openings)

    def messages(self, key: Key) -> Iterator[JsonObject]:
        """Give what the persons said in these requests, as messages of a page that expects the answers."""
        for opening in self._of(key):
            opening.is_expected = True
            last = opening.request.messages[-1] if opening.request.messages else None
            if last is not None and last.role == "user":
                # One that cannot be read is about to be refused.
                with suppress(InvalidCommand):
                    content, meta = read_parts(last.parts), read_meta(last.parts, last.metadata)
                    yield user_message(ev.UserMessage(message_id=last.id, content=content, meta=meta))

    def _of(self, key: Key) -> list[Opening]:
        chat = self._chats.get(key)
        return [] if chat is None else chat.openings
