"""Tests of the background loop: one for all plain threads, and no program waits for it."""

import asyncio
import concurrent.futures
import subprocess
import sys
import textwrap

import pytest

from trunkline.transports.event_loops import background_loop, running_loop, wait_in_thread


async def test_the_loop_that_runs_here_is_known() -> None:
    assert running_loop() is asyncio.get_running_loop()
    assert await asyncio.to_thread(running_loop) is None


def test_all_threads_wait_in_one_loop_at_the_same_time() -> None:
    async def meet(everyone: asyncio.Barrier) -> asyncio.AbstractEventLoop:
        await everyone.wait()
        return asyncio.get_running_loop()

    everyone = asyncio.Barrier(3)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(wait_in_thread, meet(everyone), background_loop()) for _ in range(3)]
        found = {one.result(10) for one in waiting}
    assert found == {background_loop()}


@pytest.mark.parametrize("error", [ValueError, TimeoutError])
def test_what_is_raised_is_raised_in_the_thread_that_waits(error: type[Exception]) -> None:
    async def fail() -> None:
        raise error("no")

    with pytest.raises(error, match="no"):
        wait_in_thread(fail(), background_loop())


def test_a_program_ends_while_a_pool_thread_waits() -> None:
    program = """
        import asyncio, concurrent.futures, threading
        from trunkline.transports.event_loops import background_loop, wait_in_thread

        begun = threading.Event()

        async def question():
            begun.set()
            await asyncio.Event().wait()

        def ask():
            try:
                wait_in_thread(question(), background_loop())
            except concurrent.futures.CancelledError:
                print("cancelled")

        concurrent.futures.ThreadPoolExecutor().submit(ask)
        assert begun.wait(10)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("cancelled\n", "")
