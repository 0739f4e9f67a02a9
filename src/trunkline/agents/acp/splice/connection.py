"""The agent's process in a splice: raw lines, and requests of our own whose ids collide with none.

The editor numbers its requests as it likes, and they reach the agent as they are. So ours have ids that no
editor uses, with a random part: one splice may run behind another.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
from contextlib import suppress
from typing import Any, NamedTuple

import orjson

from trunkline.agents.acp.connection import AgentConnection
from trunkline.protocols.jsonrpc.messages import NoAnswer, Params, Response

_CANCEL = "$/cancel_request"


class OwnIds:
    """Gives ids for requests of our own."""

    def __init__(self) -> None:
        self._prefix = f"trunkline-{secrets.token_hex(4)}-"
        self._numbers = itertools.count(1)

    def next(self) -> str:
        """Give the next id."""
        return f"{self._prefix}{next(self._numbers)}"


class OwnRequest(NamedTuple):
    """A request of ours that the agent has not answered."""

    method: str
    params: Params
    future: asyncio.Future[Any]


class SpliceConnection(AgentConnection):
    """An agent's process whose lines go to ``on_line``; ``take_answer`` finds those that answer us."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.ids = OwnIds()
        self._own: dict[str, OwnRequest] = {}

    def ask(self, method: str, params: Params) -> asyncio.Future[Any]:
        """Send a request; the future is its answer, and fails with NoAnswer when the agent is gone."""
        return self._ask(method, params)[1]

    def _ask(self, method: str, params: Params) -> tuple[str, asyncio.Future[Any]]:
        if self.ended.is_set():
            raise self.gone()
        own_id = self.ids.next()
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.add_done_callback(retrieve)
        self._own[own_id] = OwnRequest(method, params, future)
        self.send_line(request_line(own_id, method, params))
        return own_id, future

    async def request(self, method: str, params: Params, timeout: float | None = None) -> Any:
        """Send a request and wait for its answer."""
        own_id, future = self._ask(method, params)
        try:
            async with asyncio.timeout(timeout):
                return await asyncio.shield(future)
        except NoAnswer:
            raise self.gone() from None
        except (TimeoutError, asyncio.CancelledError):
            self.notify(_CANCEL, {"requestId": own_id})
            raise

    def take_answer(self, response: Response) -> OwnRequest | None:
        """Give the request of ours that a message answers; None if it answers another one."""
        return self._own.pop(response.id, None) if isinstance(response.id, str) else None

    def _finish(self) -> None:
        super()._finish()
        for own in self._own.values():
            if not own.future.done():
                own.future.set_exception(NoAnswer(f"{own.method} got no answer: the agent is gone"))
        self._own.clear()


def settle(future: asyncio.Future[Any], response: Response) -> None:
    """Give an answer to whoever waits for it."""
    if future.done():
        return
    if response.error is not None:
        future.set_exception(response.error)
    else:
        future.set_result(response.result)


def retrieve(future: asyncio.Future[Any]) -> None:
    """Take note of a failure, whether or not somebody waits for it."""
    if not future.cancelled():
        future.exception()


async def wait_for_event(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, for so long at most."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


def request_line(own_id: str, method: str, params: Params) -> bytes:
    """Write a request of ours."""
    return orjson.dumps({"jsonrpc": "2.0", "id": own_id, "method": method, "params": params})
