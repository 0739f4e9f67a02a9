"""What the ACP encoder gives besides lines: the four things that only an endpoint can do."""

from __future__ import annotations

from typing import Any, Union

import msgspec

from trunkline import events as ev

__all__ = ["Ask", "End", "Out", "Pause", "Withdraw"]


class Ask(msgspec.Struct, frozen=True):
    """Ask the client; ``call`` is the tool call in question as the wire shows it."""

    asked: ev.Asked
    call: dict[str, Any] | None = None


class Withdraw(msgspec.Struct, frozen=True):
    """A question was settled: take an open request back."""

    answered: ev.Answered


class Pause(msgspec.Struct, frozen=True):
    """The turn waits for the person's next message: answer the prompt, and take the next one for this."""

    asked: ev.Asked


class End(msgspec.Struct, frozen=True):
    """The turn is over: answer the prompt."""

    terminal: ev.TurnFinished | ev.TurnFailed


Out = Union[bytes, Ask, Withdraw, Pause, End]
