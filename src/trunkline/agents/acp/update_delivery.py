"""Delivers updates to a program's function one after another, also if the function is async."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

log = logging.getLogger("trunkline.acp")

Callback = Callable[[Mapping[str, Any]], Awaitable[None] | None]


class UpdateDelivery:
    """Calls a function for each update, in order; one that fails is logged, and the next update comes."""

    def __init__(self) -> None:
        self.callback: Callback | None = None
        self._waiting: deque[Mapping[str, Any]] = deque()
        self._working: asyncio.Task[None] | None = None

    def deliver(self, update: Mapping[str, Any]) -> Awaitable[None] | None:
        """Call the function, or let the update wait for its turn; gives what the agent must wait for."""
        if self._working is not None:
            self._waiting.append(update)
            return self._working
        pending = self._call(update)
        if pending is None:
            return None
        self._working = asyncio.create_task(self._work(pending))
        return self._working

    async def delivered(self) -> None:
        """Wait until every update so far has been delivered."""
        while self._working is not None:
            await asyncio.wait({self._working})

    def close(self) -> None:
        """Deliver no more."""
        self._waiting.clear()
        if self._working is not None:
            self._working.cancel()

    def _call(self, update: Mapping[str, Any]) -> Awaitable[None] | None:
        if self.callback is None:
            return None
        try:
            result = self.callback(update)
        except Exception:
            log.exception("the function that takes updates failed")
            return None
        return result if inspect.isawaitable(result) else None

    async def _work(self, pending: Awaitable[None] | None) -> None:
        try:
            while True:
                if pending is not None:
                    try:
                        await pending
                    except Exception:
                        log.exception("the function that takes updates failed")
                if not self._waiting:
                    return
                pending = self._call(self._waiting.popleft())
        finally:
            self._working = None
