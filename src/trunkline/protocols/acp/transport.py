"""What carries ACP to a client in somebody's own program."""

from __future__ import annotations

from typing import Any, Protocol


class AcpTransport(Protocol):
    """Carries ACP to a client; ``trunkline.frontends.acp.stdio_transport`` makes one."""

    def emit(self, method: str, params: Any, /) -> None:
        """Send a notification."""

    async def request(self, method: str, params: Any, /, *, timeout: float | None) -> Any:
        """Send a request and give its result."""
        ...
