"""Announcements: a question about a call waits until the agent has said all that it says before it.

Claude Code and OpenCode ask beside the stream of their model. To a client that reads slowly, or on a busy
machine, they send the question before text that belongs before it and before the call itself.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from trunkline.protocols.acp.decoder import AcpDecoder
from trunkline.protocols.acp.fields import as_object, text_in

QUIET = 1.0
"""Seconds without an update after which a call is not announced any more."""
WITHIN = 5.0
"""Seconds that a question waits at most."""

_ASKING = ("session/request_permission", "elicitation/create")


class Announcements:
    """The calls of one session that questions wait for."""

    def __init__(self, decoder: AcpDecoder) -> None:
        """Look for calls in a decoder."""
        self._decoder = decoder
        self._heard = asyncio.Event()

    def heard(self) -> None:
        """Take that the decoder was fed: a call may be announced now."""
        self._heard.set()

    def missing(self, method: str, params: Any) -> str | None:
        """Give the call that a question is about, if the agent announces each call and has not sent this."""
        fields = as_object(params)
        call_id = text_in(as_object(fields.get("toolCall")), "toolCallId") or text_in(fields, "toolCallId")
        if method not in _ASKING or call_id is None or not self._decoder.profile.announces_calls:
            return None
        return call_id if self._decoder.call(call_id) is None else None

    async def wait(self, call_id: str) -> None:
        """Wait for a call, as long as the agent goes on saying something."""
        with suppress(TimeoutError):
            async with asyncio.timeout(WITHIN):
                while self._decoder.call(call_id) is None:
                    self._heard.clear()
                    async with asyncio.timeout(QUIET):
                        await self._heard.wait()
