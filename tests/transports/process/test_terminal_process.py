"""A child in a pseudo-terminal: its own terminal, its window, Ctrl-C, its exit, and that nothing is left."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.process_state import is_alive, wait_until_gone

from trunkline.transports.process.child import Exit
from trunkline.transports.process.terminal_process import INTERRUPT, TerminalProcess

ENV = {"PATH": "/usr/bin:/bin", "TERM": "xterm"}


class Run:
    """A process, and what it wrote."""

    def __init__(self) -> None:
        self.written = b""
        self.changed = asyncio.Event()
        self.ends = 0
        self.process = TerminalProcess(self._take, self._end, grace=0.2)

    def _take(self, data: bytes) -> None:
        self.written += data
        self.changed.set()

    def _end(self) -> None:
        self.ends += 1
        self.changed.set()

    async def wrote(self, text: bytes) -> bytes:
        async with asyncio.timeout(20):
            while text not in self.written:
                self.changed.clear()
                await self.changed.wait()
        return self.written

    async def ended(self) -> Exit | None:
        async with asyncio.timeout(20):
            while not self.process.ended:
                self.changed.clear()
                await self.changed.wait()
        return self.process.exit


@asynccontextmanager
async def running(script: str) -> AsyncGenerator[Run]:
    run = Run()
    await run.process.start(["bash", "-c", script], cwd=None, env=ENV, rows=10, columns=33)
    try:
        yield run
    finally:
        await run.process.close()


async def test_the_program_has_a_terminal_of_its_own_with_the_size_that_was_asked_for() -> None:
    async with running("stty size; tty; read x; stty size; exit 4") as run:
        await run.wrote(b"10 33\r\n/dev/pts/")
        assert run.process.reads_lines
        assert run.process.shows_keys
        run.process.resize(20, 50)
        await run.process.write(b"\r")
        assert await run.ended() == Exit(4, None)
        assert b"20 50" in run.written
        assert run.ends == 1


async def test_ctrl_c_is_sigint_for_the_program_in_front() -> None:
    async with running("trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.05; done") as run:
        await run.wrote(b"ready")
        await run.process.write(INTERRUPT)
        assert await run.ended() == Exit(7, None)
        assert b"caught" in run.written


async def test_a_signal_reaches_it_and_the_exit_names_it() -> None:
    async with running("echo ready; exec sleep 600") as run:
        await run.wrote(b"ready")
        run.process.signal(signal.SIGUSR1)
        assert await run.ended() == Exit(None, "SIGUSR1")


async def test_what_it_wrote_last_is_read_before_its_end_is_told() -> None:
    async with running("for i in $(seq 1 2000); do echo line $i; done") as run:
        await run.ended()
        assert b"line 2000\r\n" in run.written


async def test_reading_can_be_paused_and_then_the_program_waits(tmp_path: Path) -> None:
    done = tmp_path / "done"
    async with running(f"echo go; head -c 300000 /dev/zero | tr '\\0' x; touch {done}") as run:
        await run.wrote(b"go")
        run.process.pause_reading()
        before = len(run.written)
        run.process.signal(signal.SIGCONT)
        assert len(run.written) == before
        run.process.resume_reading()
        await run.ended()
        assert len(run.written) > 300_000
        assert done.exists()


async def test_what_is_left_is_read_whenever_reading_goes_on_after_the_end() -> None:
    async with running("echo go; head -c 2000 /dev/zero | tr '\\0' x; echo; echo last") as run:
        run.process.pause_reading()
        async with asyncio.timeout(20):
            while run.process.exit is None:
                await asyncio.sleep(0.01)
        assert not run.process.ended
        run.process.resume_reading()
        await run.ended()
        assert b"last" in run.written


async def test_closing_hangs_up_and_leaves_nothing_not_even_a_daemon() -> None:
    async with running("setsid sleep 600 & echo pids $$ $!; read x") as run:
        words = (await run.wrote(b"\n")).split()
        pids = [int(word) for word in words if word.isdigit()]
        assert all(map(is_alive, pids))
    wait_until_gone(*pids)
    await run.process.close()
    assert run.ends == 1
    await run.process.write(b"late")
    run.process.write_soon(b"late")


async def test_a_program_that_is_not_there_raises_and_leaves_nothing() -> None:
    run = Run()
    with pytest.raises(FileNotFoundError):
        await run.process.start(["no-such-program"], cwd=None, env=ENV, rows=5, columns=5)
    assert run.process.ended
