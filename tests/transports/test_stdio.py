"""Standard input and output as a transport: nothing blocks, nothing is lost, nobody else gets in."""

import asyncio
import fcntl
import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.hubs import soon, until

from trunkline.transports.stdio import StdioTransport


class Ends:
    """The other ends of a transport's two pipes."""

    def __init__(self) -> None:
        self.agent_in, self.into = os.pipe()
        self.out_of, self.agent_out = os.pipe()
        self.transport = StdioTransport(self.agent_in, self.agent_out)
        self.got = bytearray()
        self._open = {self.into, self.out_of}

    def close(self, *fds: int) -> None:
        for fd in fds or tuple(self._open):
            self._open.discard(fd)
            os.close(fd)

    async def read(self, size: int) -> bytes:
        """Read that much of what the transport wrote."""
        data = b""
        while len(data) < size and (chunk := await asyncio.to_thread(os.read, self.out_of, 1 << 16)):
            data += chunk
        return data


@asynccontextmanager
async def running() -> AsyncGenerator[tuple[Ends, asyncio.Task[None]]]:
    ends = Ends()
    run = asyncio.create_task(ends.transport.run(ends.got.extend))
    try:
        yield ends, run
    finally:
        ends.close()
        await soon(run)
        await soon(ends.transport.close())


@pytest.mark.skipif(not hasattr(fcntl, "F_GETPIPE_SZ"), reason="this system's pipes have one size")
async def test_a_reader_may_be_half_a_megabyte_behind_before_anything_waits() -> None:
    async with running() as (ends, _):
        await until(lambda: fcntl.fcntl(ends.agent_out, fcntl.F_GETPIPE_SZ) >= 1 << 20)
        ends.transport.write(b"x" * (1 << 19))
        assert len(os.read(ends.out_of, 1 << 20)) == 1 << 19


async def test_bytes_go_both_ways() -> None:
    async with running() as (ends, _):
        os.write(ends.into, b"in")
        ends.transport.write(b"o")
        ends.transport.write(b"ut")
        assert await soon(ends.read(3)) == b"out"
        await until(lambda: bytes(ends.got) == b"in")


async def test_what_is_written_before_it_runs_is_not_lost() -> None:
    ends = Ends()
    ends.transport.write(b"early ")
    run = asyncio.create_task(ends.transport.run(ends.got.extend))
    ends.transport.write(b"bird")
    assert await soon(ends.read(10)) == b"early bird"
    ends.close()
    await soon(run)
    await soon(ends.transport.close())


async def test_it_ends_with_its_input_after_the_last_byte() -> None:
    async with running() as (ends, run):
        os.write(ends.into, b"x" * 50_000)
        ends.close(ends.into)
        await soon(run)
        assert len(ends.got) == 50_000


async def test_it_ends_when_nobody_reads_its_output_any_more() -> None:
    async with running() as (ends, run):
        ends.transport.write(b"x")
        await until(lambda: not run.done())
        ends.close(ends.out_of)
        await soon(run)
        ends.transport.write(b"dropped")
        await soon(ends.transport.drained())


async def test_a_reader_that_stays_behind_shows_and_gets_everything_later() -> None:
    async with running() as (ends, _):
        ends.transport.write(b"a")
        assert await soon(ends.read(1)) == b"a"
        assert not ends.transport.congested
        ends.transport.write(b"x" * (3 << 20))
        assert ends.transport.congested
        drained = asyncio.create_task(ends.transport.drained())
        assert await soon(ends.read(3 << 20)) == b"x" * (3 << 20)
        await soon(drained)
        assert not ends.transport.congested


async def test_closing_lets_the_last_words_out() -> None:
    ends = Ends()
    run = asyncio.create_task(ends.transport.run(ends.got.extend))
    await asyncio.sleep(0)
    ends.transport.write(b"x" * (1 << 20))
    reading = asyncio.create_task(ends.read(1 << 20))
    ends.close(ends.into)
    await soon(run)
    await soon(ends.transport.close())
    assert len(await soon(reading)) == 1 << 20
    ends.close()


async def test_closing_waits_only_so_long_for_a_reader_that_does_not_read() -> None:
    ends = Ends()
    run = asyncio.create_task(ends.transport.run(ends.got.extend))
    await asyncio.sleep(0)
    ends.transport.write(b"x" * (1 << 20))
    ends.close(ends.into)
    await soon(run)
    await soon(ends.transport.close(grace=0.01), within=2.0)
    ends.close()


async def test_closing_before_running_closes_the_descriptors() -> None:
    ends = Ends()
    await soon(ends.transport.close())
    for fd in (ends.agent_in, ends.agent_out):
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(fd)
    ends.close()


async def test_files_serve_as_well_as_pipes(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b"y" * 600_000)
    got = bytearray()
    transport = StdioTransport(os.open(source, os.O_RDONLY), os.open(target, os.O_WRONLY | os.O_CREAT))
    transport.write(b"early ")
    await soon(transport.run(got.extend))
    transport.write(b"late")
    assert not transport.congested
    await soon(transport.close())
    assert got == b"y" * 600_000
    assert target.read_bytes() == b"early late"


async def test_a_null_device_is_an_input_that_has_ended() -> None:
    transport = StdioTransport(os.open(os.devnull, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY))
    transport.write(b"into nothing")
    await soon(transport.run(lambda data: None))
    await soon(transport.close())


async def test_a_full_disk_is_a_reader_that_is_gone() -> None:
    into, feeding = os.pipe()
    transport = StdioTransport(into, os.open("/dev/full", os.O_WRONLY))
    transport.write(b"x")
    await soon(transport.run(lambda data: None))
    transport.write(b"dropped")
    await soon(transport.close())
    os.close(feeding)


async def test_sockets_serve_as_well_as_pipes() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        got = bytearray()
        transport = StdioTransport(os.dup(ours.fileno()), os.dup(ours.fileno()))
        ours.close()
        run = asyncio.create_task(transport.run(got.extend))
        transport.write(b"out")
        theirs.sendall(b"in")
        assert await asyncio.to_thread(theirs.recv, 3) == b"out"
        await until(lambda: bytes(got) == b"in")
        theirs.shutdown(socket.SHUT_WR)
        await soon(run)
        await soon(transport.close())


async def test_a_terminal_is_left_as_it_was() -> None:
    master, slave = os.openpty()
    transport = StdioTransport(os.dup(slave), os.dup(slave))
    run = asyncio.create_task(transport.run(lambda data: None))
    transport.write(b"x")
    assert await asyncio.to_thread(os.read, master, 1) == b"x"
    os.write(master, b"\x04")
    await soon(run)
    await soon(transport.close())
    assert os.get_blocking(slave)
    os.close(slave)
    os.close(master)


# -- taking over a process's own -------------------------------------------------------------------

CLAIM = """
import asyncio, os, sys
from trunkline.transports.stdio import StdioTransport

transport = StdioTransport.claim()
print("printed")
os.write(1, b"written\\n")
os.system("echo a child; read line; echo the child read $?")
got = bytearray()

async def main():
    await transport.run(got.extend)
    transport.write(bytes(got).upper() + f" {len(os.read(0, 9))}".encode())
    await transport.close()

asyncio.run(main())
"""


def claim(redirection: str = "") -> subprocess.CompletedProcess[bytes]:
    shell = f'"$0" -c "$1" {redirection}'
    return subprocess.run(
        ["sh", "-c", shell, sys.executable, CLAIM], input=b"hello", capture_output=True, timeout=30
    )


def test_only_the_transport_has_stdin_and_stdout() -> None:
    done = claim()
    assert done.stdout == b"HELLO 0"
    assert set(done.stderr.splitlines()) == {b"printed", b"written", b"a child", b"the child read 1"}


@pytest.mark.parametrize(
    ("redirection", "stdout"),
    [("2>&-", b"HELLO 0"), ("2>/dev/null", b"HELLO 0"), ("<&-", b" 0"), (">&-", b""), ("</dev/null", b" 0")],
)
def test_a_descriptor_that_is_missing_harms_nothing(redirection: str, stdout: bytes) -> None:
    done = claim(redirection)
    assert done.returncode == 0, done.stderr
    assert done.stdout == stdout
    assert b"Traceback" not in done.stderr


def test_what_was_printed_before_is_still_stdouts() -> None:
    program = [sys.executable, "-c", "print('early')\n" + CLAIM]
    done = subprocess.run(program, input=b"x", capture_output=True, timeout=30, check=True)
    assert done.stdout == b"early\nX 0"
