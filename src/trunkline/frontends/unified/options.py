"""The settings of a UnifiedMessage front end; checked when they are made."""

from __future__ import annotations

from typing import Literal

from trunkline.frontends.options import FrontEndOptions

__all__ = ["Busy", "DetailLevel", "UnifiedOptions"]

DetailLevel = Literal["full", "message", "code"]
Busy = Literal["reject", "queue", "interrupt", "steer"]


class UnifiedOptions(FrontEndOptions, frozen=True, kw_only=True):
    """The settings of a UnifiedMessage front end."""

    error_detail_level: DetailLevel = "message"
    """How much clients get of errors: ``full`` has the texts of exceptions too, which may name files and
    secrets; ``code`` has no text."""
    max_payload_size: int = 1_048_576
    """Characters of a tool's result that a client gets; the agent keeps it all. 0: no limit."""
    busy: Busy = "queue"
    """What a message does that comes while a turn runs; its metadata may say another ``busy``."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_count("max_payload_size")
