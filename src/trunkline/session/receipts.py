"""The prompts that a session accepted: those that wait, and where the turns of the others begin."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import msgspec

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.errors import InvalidCommand, SessionBusy

_REMEMBERED = 1000


class Receipt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a prompt."""

    prompt_id: str
    turn_id: str | None = None
    """The turn it started; None while it waits in the queue."""
    message_id: str | None = None
    steered: bool = False
    """Whether it joined a turn that was running."""


class Receipts:
    """Remembers recent prompts and turns, so that a retry is known again and a window finds its start."""

    def __init__(self) -> None:
        self.by_prompt: OrderedDict[str, Receipt] = OrderedDict()
        """The receipts by prompt id."""
        self.turn_starts: OrderedDict[str, int] = OrderedDict()
        """The first record of each turn."""

    def remember(self, receipt: Receipt) -> Receipt:
        """Keep a receipt."""
        self.by_prompt[receipt.prompt_id] = receipt
        if len(self.by_prompt) > _REMEMBERED:
            self.by_prompt.popitem(last=False)
        return receipt

    def note_start(self, turn_id: str, seq: int) -> None:
        """Keep the first record of a turn."""
        self.turn_starts[turn_id] = seq
        if len(self.turn_starts) > _REMEMBERED:
            self.turn_starts.popitem(last=False)


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
