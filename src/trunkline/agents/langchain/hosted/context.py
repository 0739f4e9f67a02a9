"""What a caller gives with one invocation: the transport, and the ids of the conversation and the run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["TrunklineContext"]


@dataclass(kw_only=True)
class TrunklineContext:
    """Says for one invocation whom the agent talks to; the ``context`` of a run.

    It is never part of a checkpoint, so one agent serves many clients. Your own context may be a
    subclass of it.
    """

    transport: Any = field(default=None, repr=False)
    thread_id: str | None = None
    run_id: str | None = None
