import asyncio
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.child_programs import SECONDS, command
from trunkline.cli import signals
from trunkline.cli.signals import end_by_signals, handle_signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_calls_the_handler_inside_the_block(number: signal.Signals) -> None:
    heard: asyncio.Queue[signal.Signals] = asyncio.Queue()
    with handle_signals(heard.put_nowait):
        os.kill(os.getpid(), number)
        async with asyncio.timeout(5):
            assert await heard.get() is number
    assert asyncio.get_running_loop().remove_signal_handler(number) is False


async def test_the_second_ctrl_c_interrupts_what_holds_up_the_loop(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(signals, "_HELD_UP", 0.0)
    heard: asyncio.Queue[signal.Signals] = asyncio.Queue()
    with handle_signals(heard.put_nowait):
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        async with asyncio.timeout(5):
            assert await heard.get() is signal.SIGINT
            os.kill(os.getpid(), signal.SIGTERM)
            assert await heard.get() is signal.SIGTERM, "two presses that came late are one"
    assert "write `def` instead of `async def`" in caplog.text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_what_holds_up_the_loop_is_interrupted_when_the_command_shall_end(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(signals, "_ENDS_WITHIN", 0.05)
    heard: list[signal.Signals] = []
    with handle_signals(heard.append):
        os.kill(os.getpid(), number)
        with pytest.raises(KeyboardInterrupt, match="told to end"):
            select.select([], [], [], SECONDS)
        async with asyncio.timeout(5):
            while not heard:
                await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGINT)
        async with asyncio.timeout(5):
            while len(heard) < 2:
                await asyncio.sleep(0)
    assert heard == [number, signal.SIGINT], "what came twice is one signal"
    assert "the agent holds up everything else" in caplog.text


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


def test_a_command_without_a_loop_ends_with_the_code_of_the_signal() -> None:
    with pytest.raises(SystemExit, match="143"), end_by_signals():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.slow
@pytest.mark.parametrize("words", ["check", "doctor", "record -o trace.jsonl --"])
def test_the_agent_ends_with_a_command_that_is_terminated(words: str, tmp_path: Path) -> None:
    pipe, agent = tmp_path / "pipe", tmp_path / "agent"
    os.mkfifo(pipe)
    # It holds the pipe open as long as it lives, and ends by no end of its input.
    agent.write_text(f"#!/bin/sh\nread line\nexec 9>{pipe}\necho started >&9\nexec sleep 1000\n")
    agent.chmod(0o700)
    target = [str(agent), "x"] if "--" in words else [f"acp:{agent}"]
    process = subprocess.Popen(
        command(*words.split(), *target),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
    )
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with process:
            assert process.stdin is not None
            process.stdin.write(b"{}\n")
            process.stdin.flush()
            assert select.select([reading], [], [], SECONDS)[0]
            assert os.read(reading, 100) == b"started\n"
            process.terminate()
            assert select.select([reading], [], [], SECONDS)[0]
            assert os.read(reading, 100) == b""
            assert process.wait(SECONDS) == 128 + signal.SIGTERM
    finally:
        os.close(reading)


_TWICE = """
import asyncio, signal, sys
from trunkline.cli import signals
signals._TWICE_WITHIN = float(sys.argv[1])

async def main():
    heard = asyncio.Event()
    with signals.handle_signals(lambda number: heard.set()):
        signal.raise_signal(signal.SIGTERM)
        await heard.wait()
    signal.raise_signal(signal.SIGTERM)

asyncio.run(main())
sys.exit(143)
"""


@pytest.mark.parametrize(("within", "code"), [("60", 143), ("0", -signal.SIGTERM)])
def test_a_signal_that_comes_twice_is_one_unless_the_end_takes_long(within: str, code: int) -> None:
    program = [sys.executable, "-c", _TWICE, within]
    assert subprocess.run(program, timeout=SECONDS, check=False).returncode == code
