"""Steering: a message that joins the turn that is running, instead of waiting for the next one.

An agent that offers it (``Steers``) says at once whether it takes a message. Any other message waits in the
queue, where the agent of the running turn may take it (``ctx.steered()``) until the turn ends; then it begins
a turn of its own. Either way the message is journalled exactly once: inside the turn that took it, or at the
beginning of its own.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

import msgspec

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.session.background_tasks import BackgroundTasks
from trunkline.session.ids import new_id
from trunkline.session.receipts import Receipt, Receipts
from trunkline.session.settings import Settings
from trunkline.session.stream.event_stream import EventStream
from trunkline.session.titles import SessionTitle
from trunkline.session.turns.prompt_queue import PromptQueue
from trunkline.session.turns.turn import Turn, undecided


class SteeredSession(Protocol):
    """What steering needs of a session."""

    turn: Turn | None
    settings: Settings
    event_stream: EventStream
    receipts: Receipts
    tasks: BackgroundTasks

    async def wait_for_ending_turn(self) -> None:
        """Wait for a turn that is about to end."""

    async def wait_for_rewind(self) -> None:
        """Wait until no rewind is under way."""

    @property
    def title(self) -> SessionTitle:
        """The session's title."""
        ...


class Steering:
    """Gives messages to the turn that runs, one after the other."""

    def __init__(self, session: SteeredSession, queue: PromptQueue) -> None:
        """Serve one session; ``queue`` holds its prompts that wait."""
        self._session = session
        self._queue = queue
        self._lock = asyncio.Lock()

    async def offer(self, prompt_id: str, prompt: Prompt) -> Receipt | None:
        """Offer a message to the agent of the running turn; None when it did not take it.

        It is decided even if the caller is gone before: a retry with the same key finds what was decided.
        """
        deciding = asyncio.create_task(self._offer(prompt_id, prompt))
        self._session.tasks.keep(deciding)
        await asyncio.shield(deciding)
        if prompt_id not in self._session.receipts.by_prompt:
            await self._session.wait_for_ending_turn()
            await self._session.wait_for_rewind()
        return self._session.receipts.by_prompt.get(prompt_id)

    async def _offer(self, prompt_id: str, prompt: Prompt) -> None:
        async with self._lock:
            turn = self._session.turn
            if turn is None or prompt_id in self._session.receipts.by_prompt:
                return
            limit = self._session.settings.command_timeout
            try:
                async with asyncio.timeout(limit):
                    await turn.steer(prompt, lambda: self._join(turn, prompt_id, prompt))
            except TimeoutError:
                raise undecided(f"within {limit:g} s") from None

    def take(self, turn: Turn) -> list[Prompt]:
        """Let a turn take the messages that wait for it, in the order in which they came."""
        found = self._queue.take_steering() if self._session.turn is turn else []
        return [self._join(turn, prompt_id, prompt) for prompt_id, prompt in found]

    def _join(self, turn: Turn, prompt_id: str, prompt: Prompt) -> Prompt:
        """Journal a message in the turn that took it."""
        message_id, known = prompt.message_id, self._session.event_stream.grammar.known_ids.messages
        if message_id is None or message_id in known:
            message_id = new_id("message")
        self._session.event_stream.emit(
            ev.UserMessage(
                turn_id=turn.turn_id,
                message_id=message_id,
                content=prompt.content,
                prompt_id=prompt_id,
                meta=prompt.meta,
            )
        )
        self._session.receipts.remember(
            Receipt(prompt_id=prompt_id, turn_id=turn.turn_id, message_id=message_id, steered=True)
        )
        self._session.title.take_first_line(prompt.text)
        return msgspec.structs.replace(prompt, message_id=message_id)
