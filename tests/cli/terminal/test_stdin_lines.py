import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from trunkline.cli.terminal.stdin_lines import StdinLines


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """Both ends of a pipe."""
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue


async def test_lines_arrive_however_they_are_cut(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    stdin = StdinLines(reader)
    os.write(writer, b"one\r\ntwo\nthr")
    async with asyncio.timeout(5):
        assert [await stdin.line(), await stdin.line()] == ["one", "two"]
        waiting = asyncio.create_task(stdin.line())
        os.write(writer, "ée\nrest".encode())
        assert await waiting == "thrée"
        os.close(writer)
        assert [await stdin.line(), await stdin.line()] == ["rest", None]


async def test_typed_lines_come_first(pipe: tuple[int, int]) -> None:
    stdin = StdinLines(pipe[0])
    stdin.type("a", "b")
    assert [await stdin.line(), await stdin.line()] == ["a", "b"]


async def test_waiting_can_be_cancelled_and_nothing_is_lost(pipe: tuple[int, int]) -> None:
    stdin = StdinLines(pipe[0])
    waiting = asyncio.create_task(stdin.line())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    os.write(pipe[1], b"later\n")
    async with asyncio.timeout(5):
        assert await stdin.line() == "later"


async def test_closing_ends_whoever_waits(pipe: tuple[int, int]) -> None:
    stdin = StdinLines(pipe[0])
    waiting = asyncio.create_task(stdin.line())
    await asyncio.sleep(0)
    stdin.close()
    async with asyncio.timeout(5):
        assert await waiting is None
    stdin.close()
    assert await stdin.line() is None


async def test_a_file_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("from a file\n")
    fd = os.open(path, os.O_RDONLY)
    try:
        stdin = StdinLines(fd)
        async with asyncio.timeout(5):
            assert [await stdin.line(), await stdin.line()] == ["from a file", None]
    finally:
        os.close(fd)


async def test_a_terminal_that_is_gone_is_the_end() -> None:
    master, slave = os.openpty()
    stdin = StdinLines(slave)
    assert stdin.is_terminal
    os.close(master)
    try:
        async with asyncio.timeout(5):
            assert await stdin.line() is None
    finally:
        os.close(slave)


async def test_a_line_without_an_end_is_given_before_memory_is_full(pipe: tuple[int, int]) -> None:
    stdin = StdinLines(pipe[0])
    writing = asyncio.create_task(asyncio.to_thread(os.write, pipe[1], b"x" * (1024 * 1024 + 10)))
    async with asyncio.timeout(10):
        line = await stdin.line()
        assert line is not None
        assert len(line) >= 1024 * 1024
        os.set_blocking(pipe[0], False)
        while not writing.done():
            await asyncio.sleep(0.001)
            try:
                os.read(pipe[0], 65536)
            except BlockingIOError:
                continue
