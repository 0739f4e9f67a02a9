"""The commands of a session, which are the same in the process that owns it and in every other one."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from trunkline import events as ev
from trunkline.commands import Answer, Cancel, Command, Prompt, Rewind, SetConfig
from trunkline.session.readable import ReadableSession
from trunkline.session.receipts import Receipt

__all__ = ["CommandableSession"]


class CommandableSession(ReadableSession, ABC):
    """A session that can be read and commanded, wherever its turns run."""

    @abstractmethod
    async def submit(self, command: Command) -> dict[str, Any]:
        """Carry a command out, here or in the process that owns the session."""

    @abstractmethod
    async def answer(self, *answers: Answer) -> None:
        """Answer questions, all of them or none; raises AlreadyAnswered when another client was first."""

    async def prompt(self, prompt: Prompt | str) -> Receipt:
        """Start a turn, or what the busy policy says."""
        command = Prompt.of(prompt) if isinstance(prompt, str) else prompt
        return msgspec.convert(await self.submit(command), Receipt)

    async def cancel(self, turn_id: str | None = None, *, by: str | None = None) -> bool:
        """Cancel the running turn and wait until it is over; False if there was none."""
        return bool((await self.submit(Cancel(turn_id=turn_id, by=by))).get("cancelled"))

    async def set_config(self, option_id: str, value: str | bool, *, by: str | None = None) -> None:
        """Choose a value of an option; every follower gets the complete list."""
        await self.submit(SetConfig(option_id=option_id, value=value, by=by))

    async def rewind(self, to_message_id: str | None, *, by: str | None = None) -> None:
        """Go back to a message; refused while a turn runs."""
        await self.submit(Rewind(to_message_id=to_message_id, by=by))

    async def stream(self, prompt: Prompt | str) -> AsyncIterator[ev.AnyEvent]:
        """Send a prompt and give the events of its turn, up to and with its terminal.

        A prompt whose key was used before gives the events of the turn it started then.
        """
        before = self.position.record
        async with contextlib.AsyncExitStack() as stack:
            reader = await stack.enter_async_context(self.follow())
            receipt = await self.prompt(prompt)
            start = self.turn_start(receipt.turn_id or "") or before + 1
            if start <= before:
                reader = await stack.enter_async_context(self.subscribe_from(start))
            async for entry in reader:
                event = entry.event
                if isinstance(event, ev.TurnStarted) and event.prompt_id == receipt.prompt_id:
                    receipt = msgspec.structs.replace(receipt, turn_id=event.turn_id)
                if event.turn_id is None or event.turn_id == receipt.turn_id:
                    yield event
                    if isinstance(event, ev.TurnFinished | ev.TurnFailed):
                        return
