"""Commands in terminals: their output, and whether their processes live."""

import asyncio
import sys

from tests.process_state import is_alive

from trunkline.workspace.terminal import Terminal


def script(source: str) -> list[str]:
    return [sys.executable, "-c", source]


async def finished(terminal: Terminal) -> str:
    await terminal.wait()
    return terminal.output().text


async def wait_for_output(terminal: Terminal, words: str) -> str:
    """Wait until the output has these words in it."""
    text = ""
    async for piece in terminal.stream():
        text += piece
        if words in text:
            return text
    raise AssertionError(f"{words!r} was never said: {text!r}")


async def gone(pid: int) -> None:
    async with asyncio.timeout(5):
        while is_alive(pid):
            await asyncio.sleep(0.01)
