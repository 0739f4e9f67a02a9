"""A thread of one's own for plain code, so that it never blocks the event loop, nor other code.

Plain code may wait for ever, and the loop's own pool has few threads: name lookups and other tools need them.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import queue
import threading
from collections.abc import Callable
from typing import Any


class OwnThread:
    """A thread that does one thing after another.

    It is a daemon and belongs to no pool: a function that never returns blocks no other one and
    does not keep the process from ending.
    """

    def __init__(self) -> None:
        """Belong to the running loop; no thread is started yet."""
        self.closes: Callable[[], Any] | None = None
        """What to call last."""
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[tuple[asyncio.Future[Any], Callable[[], Any]] | None] | None = None
        self._busy = False

    async def do(self, job: Callable[[], Any]) -> Any:
        """Do something in the thread, which begins with its first job."""
        return await self._submit(job)

    async def end(self) -> None:
        """Let the thread go; one that is held up closes and ends later, without a wait."""
        if self._jobs is None:
            return
        was_busy = self._busy
        last = self._submit(self.closes or (lambda: None))
        self._jobs.put(None)
        if not was_busy:
            await last

    def _submit(self, job: Callable[[], Any]) -> asyncio.Future[Any]:
        if self._jobs is None:
            self._jobs = queue.SimpleQueue()
            work = functools.partial(contextvars.copy_context().run, self._work, self._jobs)
            threading.Thread(target=work, name="trunkline agent", daemon=True).start()
        future: asyncio.Future[Any] = self._loop.create_future()
        self._busy = True
        self._jobs.put((future, job))
        return future

    def _work(self, jobs: queue.SimpleQueue[Any]) -> None:
        while (work := jobs.get()) is not None:
            self._carry_out(*work)
            del work

    def _carry_out(self, future: asyncio.Future[Any], job: Callable[[], Any]) -> None:
        try:
            settle = functools.partial(self._settle, future, job(), None)
        except StopIteration as error:
            # A future cannot carry it: it would end the generator that waits.
            settle = functools.partial(self._settle, future, None, RuntimeError(f"raised {error!r}"))
        except BaseException as error:
            settle = functools.partial(self._settle, future, None, error)
        try:
            self._loop.call_soon_threadsafe(settle)
        except RuntimeError:
            # The loop was closed meanwhile: no task waits any more.
            return

    def _settle(self, future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
        self._busy = False
        if future.done():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
