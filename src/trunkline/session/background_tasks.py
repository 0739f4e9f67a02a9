"""The tasks that run beside a session's turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger("trunkline.session")


class BackgroundTasks:
    """Holds tasks until they end, and logs what fails in them."""

    def __init__(self, name: str) -> None:
        """Hold nothing yet; ``name`` is for the log."""
        self._name = name
        self._tasks: set[asyncio.Task[Any]] = set()

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Start a task."""
        self.keep(asyncio.create_task(work))

    def keep(self, task: asyncio.Task[Any]) -> None:
        """Hold a task until it ends."""
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("in %s: %s", self._name, error)

    async def wait(self, timeout: float) -> None:
        """Wait for all tasks but the caller's own, at most ``timeout`` seconds."""
        if others := self._tasks - {asyncio.current_task()}:
            await asyncio.wait(others, timeout=timeout)
