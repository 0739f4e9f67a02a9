"""The end of our process: a moment for the threads of others, and handlers of atexit in any case."""

import subprocess
import sys
import time

import pytest

PROGRAM = """
import asyncio, atexit, sys, threading, time
from trunkline.transports.process import own_exit_threads as ours

atexit.register(lambda: print("atexit"))
{work}
ours.wait_for_no_threads(7)
sys.exit(7)
"""


def ended(work: str, *, within: float = 15.0) -> tuple[int, str, str, float]:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(work=work)],
        capture_output=True,
        text=True,
        timeout=within,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr, time.monotonic() - began


def test_a_thread_that_never_ends_is_not_waited_for() -> None:
    code, out, err, _ = ended("threading.Thread(target=threading.Event().wait, name='stranger').start()")
    assert (code, out) == (7, "atexit\n")
    assert "warning: threads of the agent still run (stranger)" in err


@pytest.mark.parametrize(
    "work",
    [
        "",
        "threading.Thread(target=threading.Event().wait, daemon=True).start()",
        "threading.Timer(0.2, lambda: None).start()",
        "from concurrent.futures import ThreadPoolExecutor; ThreadPoolExecutor().submit(int)",
    ],
)
def test_threads_that_end_by_themselves_are_waited_for_and_not_named(work: str) -> None:
    assert ended(work)[:3] == (7, "atexit\n", "")


def test_a_slow_handler_of_atexit_has_its_time() -> None:
    slow = "threading.Timer(0.1, lambda: None).start()\natexit.register(lambda: time.sleep(1.5))"
    assert ended(slow)[:3] == (7, "atexit\n", "")


def test_the_end_of_a_loop_does_not_wait_for_a_job_that_never_returns() -> None:
    stuck = """
async def main():
    job = asyncio.get_running_loop().run_in_executor(None, threading.Event().wait)
    await asyncio.wait({job}, timeout=0.1)
    return "done"
print(ours.run_async(main()))
"""
    code, out, err, _ = ended(stuck)
    assert (code, out) == (7, "done\natexit\n")
    assert "asyncio_0" in err
