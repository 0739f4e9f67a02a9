"""What carries AG-UI to a client in somebody's own program."""

from __future__ import annotations

from typing import Protocol

from trunkline.protocols.agui import wire


class AguiTransport(Protocol):
    """Carries events to a client; ``trunkline.frontends.agui.sse_transport`` makes one."""

    def emit(self, event: wire.AguiEvent, /) -> None:
        """Take one event; nothing waits for it to arrive."""
