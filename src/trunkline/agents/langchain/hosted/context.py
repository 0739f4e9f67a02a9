"""What a caller gives with one invocation: the transport, and the ids of the conversation and the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from trunkline.errors import ConfigurationError


@dataclass(kw_only=True)
class TrunklineContext:
    """Says for one invocation whom the agent talks to; the ``context`` of a run.

    It is never part of a checkpoint, so one agent serves many clients. Your own context may be a
    subclass of it.
    """

    transport: Any = field(default=None, repr=False)
    thread_id: str | None = None
    run_id: str | None = None

    def __post_init__(self) -> None:
        """Refuse what can be no transport."""
        given = self.transport
        if given is not None and (isinstance(given, type) or not hasattr(given, "emit")):
            raise ConfigurationError(
                f"a transport is an object with emit(), and {given!r:.80} is none: "
                "sse_transport() makes one for AG-UI, and stdio_transport() one for ACP"
            )


def read_context(given: Any) -> TrunklineContext | None:
    """Read the context of a run: ours, or a dict with a transport if the agent has no ``context_schema``."""
    if isinstance(given, TrunklineContext) or given is None:
        return given
    if isinstance(given, Mapping):
        fields = cast("Mapping[str, Any]", given)
        if fields.get("transport") is not None:
            read = TrunklineContext(thread_id=fields.get("thread_id"), run_id=fields.get("run_id"))
            # Unchecked: it may be a word of somebody else's context, if a transport is given elsewhere.
            read.transport = fields["transport"]
            return read
    return None
