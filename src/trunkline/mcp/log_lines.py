"""Log lines of an MCP server, as notices for the user of its calls; a limited number of them."""

from __future__ import annotations

import json
import logging
from typing import Any, Literal, Protocol

from mcp import types
from trunkline import events as ev
from trunkline.questions import Question

log = logging.getLogger("trunkline.mcp")

LONGEST = 2000
"""Characters of a line that a user is shown."""
_MOST_NOTICES = 20
# The levels of syslog, as MCP has them; "debug" is not shown:
# https://modelcontextprotocol.io/specification/2025-06-18/server/utilities/logging
_SEVERITIES: dict[str, Literal["info", "warning", "error"]] = {
    "info": "info",
    "notice": "info",
    "warning": "warning",
    "error": "error",
    "critical": "error",
    "alert": "error",
    "emergency": "error",
}


class UserChannel(Protocol):
    """The way to the user of a call."""

    async def ask(self, question: Question, *, lane: str | None = None) -> ev.Answered:
        """Ask the user and wait for the answer."""
        ...

    def emit(self, event: Any, /) -> None:
        """Show an event to the user."""


class ServerLog:
    """Shows the log lines of one server."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._shown: tuple[UserChannel | None, int] = (None, 0)

    def show(self, params: types.LoggingMessageNotificationParams, channel: UserChannel | None) -> None:
        """Show a line to the user; without a user, or beyond the limit, it is only logged."""
        data: Any = params.data
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, default=str)
        log.debug("%s: %s: %s", self._server, params.level, text)
        severity = _SEVERITIES.get(params.level)
        if channel is None or severity is None:
            return
        known, count = self._shown
        count = count + 1 if known is channel else 1
        self._shown = (channel, count)
        if count < _MOST_NOTICES:
            self._notice(channel, severity, text)
        elif count == _MOST_NOTICES:
            self._notice(channel, "info", "it says more than is shown here; the rest is in the debug log")

    def _notice(self, channel: UserChannel, severity: Literal["info", "warning", "error"], text: str) -> None:
        channel.emit(
            ev.Notice(
                title=f"MCP server {self._server!r}",
                description=text[:LONGEST],
                severity=severity,
                code="mcp_log",
            )
        )
