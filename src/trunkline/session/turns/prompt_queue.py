"""The prompts that wait for the turn that is running, ``Settings.queue_limit`` of them at most."""

from __future__ import annotations

from collections.abc import Callable

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.errors import InvalidCommand, SessionBusy


class PromptQueue:
    """Prompts in the order in which they came, each announced when it joins and when it is dropped."""

    def __init__(self, waiting: dict[str, Prompt], limit: int, emit: Callable[[ev.Event], None]) -> None:
        """Use ``waiting``, which holds what the journal knows; at most ``limit`` prompts wait."""
        self._waiting = waiting
        self._limit = limit
        self._emit = emit

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, prompt_id: str, prompt: Prompt) -> None:
        """Let a prompt wait; raises SessionBusy when too many do."""
        if len(self) >= self._limit:
            raise SessionBusy(f"{len(self)} prompts wait already: wait for one to finish")
        self._waiting[prompt_id] = prompt
        self._emit(ev.PromptQueued(prompt_id=prompt_id, content=prompt.content))

    def take(self) -> tuple[str, Prompt]:
        """Take the oldest prompt; there must be one."""
        prompt_id = next(iter(self._waiting))
        return prompt_id, self._waiting.pop(prompt_id)

    def take_steering(self) -> list[tuple[str, Prompt]]:
        """Take those that may join a running turn, oldest first."""
        found = [name for name, prompt in self._waiting.items() if prompt.busy == "steer"]
        return [(name, self._waiting.pop(name)) for name in found]

    def discard(self, prompt_id: str, reason: str) -> None:
        """Drop a prompt; raises InvalidCommand when it does not wait."""
        if self._waiting.pop(prompt_id, None) is None:
            raise InvalidCommand(f"no prompt {prompt_id!r} is waiting")
        self._emit(ev.PromptDropped(prompt_id=prompt_id, reason=reason))

    def discard_all(self, reason: str) -> None:
        """Drop every prompt."""
        for prompt_id in list(self._waiting):
            self.discard(prompt_id, reason)
