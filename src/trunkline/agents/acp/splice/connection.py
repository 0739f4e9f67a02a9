"""The agent's process in a splice: raw lines, and requests of our own among them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from trunkline.agents.acp.connection import AgentConnection
from trunkline.agents.acp.splice.own_requests import OwnRequest, OwnRequests, request_line
from trunkline.protocols.jsonrpc.messages import NoAnswer, Params

_CANCEL = "$/cancel_request"


class SpliceConnection(AgentConnection):
    """An agent's process whose lines go to ``on_line``; ``own_requests`` finds those that answer us."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.own_requests = OwnRequests()

    def ask(self, method: str, params: Params) -> asyncio.Future[Any]:
        """Send a request; the future is its answer, and fails with NoAnswer when the agent is gone."""
        return self._ask(method, params).future

    def _ask(self, method: str, params: Params) -> OwnRequest:
        if self.ended.is_set():
            raise self.gone()
        own = self.own_requests.add(method, params)
        self.send_line(request_line(own.id, method, params))
        return own

    async def request(self, method: str, params: Params, timeout: float | None = None) -> Any:
        """Send a request and wait for its answer."""
        own = self._ask(method, params)
        try:
            async with asyncio.timeout(timeout):
                return await asyncio.shield(own.future)
        except NoAnswer:
            raise self.gone() from None
        except (TimeoutError, asyncio.CancelledError):
            self.notify(_CANCEL, {"requestId": own.id})
            raise

    def _finish(self) -> None:
        super()._finish()
        self.own_requests.fail()


async def wait_for_event(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, for so long at most."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
