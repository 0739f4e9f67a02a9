"""What a caller gives with one invocation: the transport, and the ids of the conversation and the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast


@dataclass(kw_only=True)
class TrunklineContext:
    """Says for one invocation whom the agent talks to; the ``context`` of a run.

    It is never part of a checkpoint, so one agent serves many clients. Your own context may be a
    subclass of it.
    """

    transport: Any = field(default=None, repr=False)
    thread_id: str | None = None
    run_id: str | None = None


def read_context(given: Any) -> TrunklineContext | None:
    """Read the context of a run: ours, or a dict with a transport if the agent has no ``context_schema``."""
    if isinstance(given, TrunklineContext) or given is None:
        return given
    if isinstance(given, Mapping):
        fields = cast("Mapping[str, Any]", given)
        # A word of somebody else's context may have the same name.
        if hasattr(fields.get("transport"), "emit"):
            return TrunklineContext(
                transport=fields["transport"], thread_id=fields.get("thread_id"), run_id=fields.get("run_id")
            )
    return None
