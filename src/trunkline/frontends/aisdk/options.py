"""The settings of an AI SDK front end; checked when they are made."""

from __future__ import annotations

from typing import Literal

from trunkline.frontends.options import DetailLevel, PageOptions, Steps
from trunkline.protocols.aisdk.wire import VersionNumber, version_of

__all__ = ["AisdkOptions", "DetailLevel", "Steps"]

Busy = Literal["interrupt", "queue", "reject", "steer"]


class AisdkOptions(PageOptions, frozen=True, kw_only=True):
    """The settings of an AI SDK front end."""

    version: VersionNumber = 7
    """The major version of the npm package ``ai`` on the page; a request may ask for another one."""
    emit_reasoning: bool = True
    emit_sources: bool = True
    busy: Busy = "interrupt"
    """What a message does while a turn runs: it takes its place, waits for its end, is refused, or joins it
    where the agent can take it; a request may ask for another one."""

    def __post_init__(self) -> None:
        version_of(self.version)
        super().__post_init__()
