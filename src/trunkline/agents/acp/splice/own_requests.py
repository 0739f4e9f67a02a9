"""Requests of our own at the agent of a splice, whose ids collide with none of the editor's.

The editor numbers its requests as it likes, and they reach the agent as they are. So ours have ids that no
editor uses, with a random part: one splice may run behind another.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
from typing import Any, NamedTuple

import orjson

from trunkline.protocols.jsonrpc.messages import NoAnswer, Params, Response


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

    id: str
    method: str
    params: Params
    future: asyncio.Future[Any]


class OwnRequests:
    """Our requests that the agent has not answered."""

    def __init__(self) -> None:
        self._ids = OwnIds()
        self._open: dict[str, OwnRequest] = {}

    def add(self, method: str, params: Params) -> OwnRequest:
        """Take a request that is sent now, and give it an id."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.add_done_callback(retrieve)
        own = OwnRequest(self._ids.next(), method, params, future)
        self._open[own.id] = own
        return own

    def take_answer(self, response: Response) -> OwnRequest | None:
        """Give the request of ours that a message answers; None if it answers another one."""
        return self._open.pop(response.id, None) if isinstance(response.id, str) else None

    def fail(self) -> None:
        """Let all of them fail: the agent is gone."""
        for own in self._open.values():
            if not own.future.done():
                own.future.set_exception(NoAnswer(f"{own.method} got no answer: the agent is gone"))
        self._open.clear()


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


def request_line(own_id: str, method: str, params: Params) -> bytes:
    """Write a request of ours."""
    return orjson.dumps({"jsonrpc": "2.0", "id": own_id, "method": method, "params": params})
