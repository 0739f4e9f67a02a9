"""The settings of a UnifiedMessage front end; checked when they are made."""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

from trunkline.errors import ConfigurationError

__all__ = ["Busy", "DetailLevel", "UnifiedOptions"]

DetailLevel = Literal["full", "message", "code"]
Busy = Literal["reject", "queue", "interrupt", "steer"]


class UnifiedOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a UnifiedMessage front end."""

    error_detail_level: DetailLevel = "message"
    """How much clients get of errors: ``full`` has the texts of exceptions too, which may name files and
    secrets; ``code`` has no text."""
    max_payload_size: int = 1_048_576
    """Characters of a tool's result that a client gets; the agent keeps it all. 0: no limit."""
    busy: Busy = "queue"
    """What a message does that comes while a turn runs; its metadata may say another ``busy``."""

    def __post_init__(self) -> None:
        choices = {"error_detail_level": get_args(DetailLevel), "busy": get_args(Busy)}
        for name, known in choices.items():
            given = getattr(self, name)
            if given not in known:
                raise ConfigurationError(f"{name} is {given!r}: give one of {', '.join(known)}")
        size: Any = self.max_payload_size
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise ConfigurationError(f"max_payload_size is {size!r}: give a whole number of at least 0")

    @property
    def shows_exception_texts(self) -> bool:
        """Whether a client gets the texts of exceptions."""
        return self.error_detail_level == "full"
