"""A child process: its pipes, how it ended, and that nothing of it is left."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.process_state import is_alive

from trunkline.transports.process import child
from trunkline.transports.process.child import ChildProcess, Exit

DEAF = "trap '' TERM; echo $$; while :; do sleep 1; done"


class Run:
    """A process, and what it wrote."""

    def __init__(self, grace: float = 0.2) -> None:
        self.written = {1: b"", 2: b""}
        self.changed = asyncio.Event()
        self.process = ChildProcess(self._take, self.changed.set, grace=grace)

    def _take(self, fd: int, data: bytes) -> None:
        self.written[fd] += data
        self.changed.set()

    async def wrote(self, end: bytes) -> bytes:
        async with asyncio.timeout(20):
            while not self.written[1].endswith(end):
                self.changed.clear()
                await self.changed.wait()
        return self.written[1]

    async def start(
        self, *argv: str, env: Mapping[str, str] | None = None, stdin: bool = False, join_stderr: bool = False
    ) -> None:
        env = {"PATH": "/usr/bin:/bin"} if env is None else env
        await self.process.start(argv, cwd=None, env=env, stdin=stdin, join_stderr=join_stderr)


@asynccontextmanager
async def running(*argv: str, stdin: bool = False, join_stderr: bool = False) -> AsyncGenerator[Run]:
    run = Run()
    async with asyncio.timeout(30):
        await run.start(*argv, stdin=stdin, join_stderr=join_stderr)
        try:
            yield run
        finally:
            await run.process.close()


async def test_a_program_has_its_own_stdin_stdout_and_stderr() -> None:
    async with running("sh", "-c", "cat; echo error >&2; exit 3", stdin=True) as run:
        await run.process.write(b"hello\n")
        assert await run.wrote(b"hello\n") == b"hello\n"
        assert run.process.exit is None
        run.process.close_stdin()
        await run.process.finished.wait()
        assert run.process.exit == Exit(3, None)
    assert run.written == {1: b"hello\n", 2: b"error\n"}


async def test_what_a_program_wrote_last_is_read_however_late_we_read_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(child, "DRAIN", 0.01)
    async with running("sh", "-c", "read line; echo last; exit 3", stdin=True) as run:
        run.process.pause_reading()
        await run.process.write(b"go\n")
        await run.process.exited.wait()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await run.process.finished.wait()
        run.process.resume_reading()
        await run.process.finished.wait()
        assert run.written[1] == b"last\n"


async def test_without_stdin_a_program_reads_nothing_and_stderr_can_be_joined() -> None:
    async with running("sh", "-c", "cat; echo one; echo two >&2; kill -9 $$", join_stderr=True) as run:
        await run.process.finished.wait()
        assert run.process.exit == Exit(None, "SIGKILL")
    assert run.written == {1: b"one\ntwo\n", 2: b""}


async def test_a_program_gets_its_own_environment_and_no_descriptor_of_ours() -> None:
    run = Run()
    await run.start(
        "/bin/sh", "-c", "/usr/bin/env; ls /proc/self/fd | wc -l", env={"A": "b=c", "PATH": "/bin"}
    )
    await run.process.finished.wait()
    lines = run.written[1].decode().split("\n")
    assert {line for line in lines if not line.startswith(("PWD=", "_=", "SHLVL=", "OLDPWD="))} == {
        "A=b=c", "PATH=/bin", "4", "",
    }  # fmt: skip
    await run.process.close()


async def test_a_program_that_left_nothing_behind_has_no_supervisor_left() -> None:
    async with running("true") as run:
        await run.process.finished.wait()
        transport = run.process._transport  # pyright: ignore[reportPrivateUsage]
        assert transport is not None
        async with asyncio.timeout(5):
            while is_alive(transport.get_pid()):
                await asyncio.sleep(0.01)
        await run.process.kill()
        assert run.process.exit == Exit(0, None)


async def test_a_program_that_cannot_be_started_is_an_os_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        await Run().start("no-such-program")
    with pytest.raises(PermissionError):
        await Run().start(str(tmp_path))
    for argv, env in ((("a\0b",), {}), (("true",), {"A=B": "c"})):
        with pytest.raises(ValueError, match="does not allow"):
            await Run().start(*argv, env=env)
    stuck = tmp_path / "stuck"
    stuck.write_text("#!/bin/sh\nexec sleep 600\n")
    stuck.chmod(0o755)
    monkeypatch.setattr(child, "START", 0.1)
    monkeypatch.setattr(child, "MARGIN", 0.1)
    monkeypatch.setattr(sys, "executable", str(stuck))
    with pytest.raises(OSError, match="timed out"):
        await Run().start("true")


async def test_a_start_that_is_cancelled_leaves_nothing_running(tmp_path: Path) -> None:
    for number in range(12):
        mark = tmp_path / str(number)
        run = Run()
        starting = asyncio.create_task(run.start("sh", "-c", f"echo $$ > {mark}; exec sleep 60"))
        await asyncio.wait({starting}, timeout=number / 200)
        starting.cancel()
        await asyncio.wait({starting}, timeout=20)
        await run.process.close()
        if mark.exists() and (pid := mark.read_text()):
            assert not is_alive(int(pid))


async def test_at_once_means_without_the_grace() -> None:
    run = Run(grace=600)
    await run.start("sh", "-c", DEAF)
    pid = int(await run.wrote(b"\n"))
    async with asyncio.timeout(20):
        await run.process.kill(at_once=True)
    assert not is_alive(pid)
    await run.process.close()


def test_a_loop_that_ends_in_the_middle_of_a_kill_kills_at_once() -> None:
    async def leave() -> int:
        run = Run(grace=30.0)
        await run.start("sh", "-c", DEAF)
        pid = int(await run.wrote(b"\n"))
        killing = asyncio.create_task(run.process.kill())
        await asyncio.sleep(0.05)
        assert not killing.done()
        assert run.process._ending is not None  # pyright: ignore[reportPrivateUsage]
        run.process._ending.cancel()  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(asyncio.CancelledError):
            await killing
        await run.process.close()
        return pid

    assert not is_alive(asyncio.run(asyncio.wait_for(leave(), 20)))
