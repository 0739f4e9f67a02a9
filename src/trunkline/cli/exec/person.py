"""The person at the terminal of ``trunkline exec``, who answers what ``--approve`` leaves open."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress

from msgspec.structs import replace

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.conversation import Call, Conversation
from trunkline.errors import InvalidCommand, SessionError
from trunkline.folding import Folder

Ask = Callable[[ev.Asked, Call | None], Awaitable[Answer]]
"""Puts one question to the person."""


class Person:
    """Is asked one question after the other; a question that another client answers is withdrawn."""

    def __init__(self, ask: Ask, send: Callable[[Answer], Awaitable[object]]) -> None:
        """``ask`` puts a question, ``send`` takes its answer to the session."""
        self._ask = ask
        self._send = send
        self._folder = Folder()
        self._open: dict[str, ev.Asked] = {}
        self._asked: str | None = None
        self._asking: asyncio.Task[None] | None = None

    def begin(self, conversation: Conversation) -> None:
        """Begin with what an earlier process left: its calls, and its open questions."""
        self._folder = Folder(conversation)
        for state in conversation.questions.values():
            if state.answered is None:
                self._open[state.asked.question_id] = state.asked
        self._go_on()

    async def withdraw(self, events: Iterable[ev.AnyEvent]) -> None:
        """Forget what was answered elsewhere or cancelled; what is printed next begins a line of its own."""
        answered = {event.question_id for event in events if isinstance(event, ev.Answered)}
        for question_id in answered:
            self._open.pop(question_id, None)
        if self._asked in answered:
            await self._stop_asking()

    def follow(self, event: ev.AnyEvent) -> None:
        """Ask what is asked."""
        self._folder.feed(event)
        if isinstance(event, ev.Asked):
            self._open[event.question_id] = event
        self._go_on()

    async def close(self) -> None:
        """Ask nothing any more."""
        self._open.clear()
        await self._stop_asking()

    async def _stop_asking(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)
            self._asking = None

    def _go_on(self) -> None:
        if self._open and (self._asking is None or self._asking.done()):
            self._asking = asyncio.create_task(self._ask_all())

    async def _ask_all(self) -> None:
        while self._open:
            self._asked, asked = next(iter(self._open.items()))
            call_id: str | None = getattr(asked.question, "call_id", None)
            answer = await self._ask(asked, self._folder.conversation.calls.get(call_id or ""))
            self._asked = None
            self._open.pop(asked.question_id, None)
            # Another client may have answered first, or the turn is being cancelled.
            with suppress(SessionError, InvalidCommand):
                await self._send(replace(answer, by="exec"))
