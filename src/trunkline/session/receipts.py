"""What became of the prompts that a session accepted, and where its turns begin."""

from __future__ import annotations

from collections import OrderedDict

import msgspec

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
