import asyncio
import os
import signal

import pytest

from trunkline.cli.signals import handle_signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_calls_the_handler_inside_the_block(number: signal.Signals) -> None:
    heard: asyncio.Queue[signal.Signals] = asyncio.Queue()
    with handle_signals(heard.put_nowait):
        os.kill(os.getpid(), number)
        async with asyncio.timeout(5):
            assert await heard.get() is number
    assert asyncio.get_running_loop().remove_signal_handler(number) is False


async def test_a_window_may_close_under_nohup() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with handle_signals(lambda number: None):
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


async def test_where_signals_cannot_be_handled_the_block_runs_all_the_same() -> None:
    async def block() -> str:
        with handle_signals(lambda number: None):
            return "ran"

    assert await asyncio.to_thread(asyncio.run, block()) == "ran"
