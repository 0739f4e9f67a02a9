"""A few threads that read a SQLite file, each with a connection that cannot write."""

from __future__ import annotations

import asyncio
import sqlite3
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from trunkline.journal.sqlite_errors import explain

T = TypeVar("T")


class ReaderThreads:
    """Runs work on whichever connection is free; there are never more than ``size``."""

    def __init__(self, connect: Callable[[], sqlite3.Connection], path: str, *, size: int) -> None:
        self._connect = connect
        self._path = path
        self._free: list[sqlite3.Connection] = []
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="trunkline-journal-read")

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run work on a thread; when this is cancelled the work ends by itself."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, work)

    def stop(self) -> None:
        """End the threads and close the connections. Blocks; not for the loop."""
        self._threads.shutdown()
        for db in self._free:
            db.close()

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            db = self._free.pop() if self._free else self._connect()
            try:
                return work(db)
            except BaseException as error:
                # Its frames hold statements that have not ended: as long as somebody keeps the error, the
                # connection would go on to read what stood there at this moment.
                traceback.clear_frames(error.__traceback__)
                raise
            finally:
                self._free.append(db)
        except sqlite3.Error as error:
            raise explain(error, self._path) from error
