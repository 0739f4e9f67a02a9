"""The end of this process: it waits for a moment, and then for no thread that an agent left behind.

Python waits at its end for every thread that is not a daemon, for ever. The obvious agent has such threads (a
connection of aiosqlite that nobody closed, a job in a pool that does not return), and an editor, a container
or a person waits for our end.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds that the threads of others have at the end."""


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a program as ``asyncio.run`` does; its end does not wait for jobs that do not return."""
    with asyncio.Runner() as runner:
        runner.get_loop().set_default_executor(_Pool(thread_name_prefix="asyncio"))
        return runner.run(work)


class _Pool(ThreadPoolExecutor):
    """The pool of ``asyncio.to_thread``; the end of the loop waits for it only for a moment."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more jobs; those that run have a moment."""
        super().shutdown(wait=False, cancel_futures=True)
        deadline = time.monotonic() + PATIENCE
        for thread in list(self._threads) if wait else ():
            thread.join(max(0.0, deadline - time.monotonic()))


def wait_for_no_threads(code: int) -> None:
    """Let the end of Python, which comes now, take a moment at most; ``code`` is the exit code then.

    Handlers of ``atexit`` run in any case, and have the time that they need.
    """
    if not _others():
        return
    over = threading.Event()
    # Python waits for threads first and calls these handlers then, the last one first.
    atexit.register(over.set)
    threading.Thread(target=_leave, args=(code, over), name="trunkline exit", daemon=True).start()


def _others() -> list[threading.Thread]:
    here = (threading.main_thread(), threading.current_thread())
    return [thread for thread in threading.enumerate() if thread not in here and not thread.daemon]


def _leave(code: int, over: threading.Event) -> None:
    if over.wait(PATIENCE) or not (left := _others()):
        return
    names = ", ".join(sorted(thread.name for thread in left)[:3])
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(
            f"warning: threads of the agent still run ({names}), and we do not wait for them: "
            "close what it opened, as docs/agents.md shows under 'Open and close'\n"
        )
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)
