"""The settings of an AG-UI front end; checked when they are made."""

from __future__ import annotations

from typing import Literal

import msgspec

from trunkline.errors import ConfigurationError
from trunkline.frontends.options import OnDisconnect, PageOptions

Snapshots = Literal["initial", "final", "all", "none"]
Interrupts = Literal["auto", "outcome", "event", "both"]

_COPILOTKIT_GRACE = 30.0
"""Seconds that a turn goes on when a page of CopilotKit is gone: one that is reloaded comes back to it."""


class AguiOptions(PageOptions, frozen=True, kw_only=True):
    """The settings of an AG-UI front end."""

    emit_tool_results: bool = True
    emit_state_snapshots: Snapshots = "initial"
    emit_activities: bool = False
    max_ui_payload_size: int = 51_200
    thread_id_override: str | None = None
    run_id_override: str | None = None
    keep_alive: float = 15.0
    """Seconds between the comments that keep a silent stream of a transport open."""
    coalesce: bool = True
    """Join deltas of one message that wait for a slow reader of a transport.

    What waits for a reader of a server comes from the journal, where they are joined in any case.
    """
    high_water_mark: int = 256
    """Events that may wait for a reader before they come from the journal instead."""
    on_disconnect: OnDisconnect = "cancel"
    disconnect_grace: float | None = None
    """Seconds that a turn goes on after its last reader left (None: 0, and 30 for CopilotKit)."""
    interrupts: Interrupts = "auto"
    """How a client gets an ``interrupt()`` of a graph's own: as the ``outcome`` of the run, as the CUSTOM
    ``event`` on_interrupt of older pages, or ``both``. ``auto`` is the event alone on CopilotKit's routes,
    whose pages would not look at it beside an outcome, and both on all others.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_count("high_water_mark", 1)
        for name, least in (("keep_alive", 0.1), ("disconnect_grace", 0.0)):
            given = getattr(self, name)
            if name == "disconnect_grace" and given is None:
                continue
            if isinstance(given, bool) or not isinstance(given, int | float) or not least <= given < 86_400:
                raise ConfigurationError(f"{name} is {given!r}: give seconds, from {least:g} to a day")
        for name in ("thread_id_override", "run_id_override"):
            given = getattr(self, name)
            if given is not None and (not isinstance(given, str) or not given):
                raise ConfigurationError(f"{name} is {given!r}: give a text that is not empty, or None")

    def for_copilotkit(self) -> AguiOptions:
        """Give these settings with what pages of CopilotKit need where nothing was chosen."""
        return msgspec.structs.replace(
            self,
            disconnect_grace=_COPILOTKIT_GRACE if self.disconnect_grace is None else self.disconnect_grace,
            interrupts="event" if self.interrupts == "auto" else self.interrupts,
        )
