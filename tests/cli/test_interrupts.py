from __future__ import annotations

import asyncio
import os
import signal

from trunkline.cli.interrupts import interrupts


async def test_ctrl_c_calls_the_handler_inside_the_block() -> None:
    pressed = asyncio.Event()
    with interrupts(pressed.set):
        os.kill(os.getpid(), signal.SIGINT)
        async with asyncio.timeout(5):
            await pressed.wait()
    assert asyncio.get_running_loop().remove_signal_handler(signal.SIGINT) is False


async def test_where_signals_cannot_be_handled_the_block_runs_all_the_same() -> None:
    async def block() -> str:
        with interrupts(lambda: None):
            return "ran"

    assert await asyncio.to_thread(asyncio.run, block()) == "ran"
