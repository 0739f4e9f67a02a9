"""Process groups."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess

import pytest

from trunkline.transports.process.group import Group


async def test_a_group_is_forgotten_when_nobody_is_left_in_it() -> None:
    process = await asyncio.create_subprocess_exec("sleep", "60", start_new_session=True)
    group = Group(process.pid)
    assert group.signal(0)
    assert group.signal(signal.SIGTERM)
    assert await process.wait() == -signal.SIGTERM
    assert not group.signal(0)
    assert not group.is_known
    assert not group.signal(signal.SIGKILL)


async def test_waiting_is_bounded_and_ends_with_the_last_one() -> None:
    process = await asyncio.create_subprocess_exec("sleep", "60", start_new_session=True)
    group = Group(process.pid)
    async with asyncio.timeout(10):
        await group.wait(0.1)
        assert group.signal(signal.SIGKILL)
        await process.wait()
        await group.wait(60)
    assert not group.is_known


def test_the_dead_whom_nobody_buried_are_not_waited_for() -> None:
    with subprocess.Popen(["true"], start_new_session=True) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        group = Group(process.pid)
        assert group.signal(0), "it still receives signals"
        asyncio.run(asyncio.wait_for(group.wait(60), 10))


async def test_a_group_that_we_may_not_signal_counts_as_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(group: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "killpg", refuse)
    assert not Group(1).signal(signal.SIGTERM)


async def test_without_procfs_the_signal_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> list[str]:
        raise FileNotFoundError(path)

    process = await asyncio.create_subprocess_exec("sleep", "60", start_new_session=True)
    group = Group(process.pid)
    monkeypatch.setattr(os, "listdir", refuse)
    async with asyncio.timeout(10):
        await group.wait(0.05)
        assert group.is_known
        group.signal(signal.SIGKILL)
        await process.wait()


async def test_processes_that_vanish_while_we_look_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "listdir", lambda _path: ["999999999", "self", "1"])  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    process = await asyncio.create_subprocess_exec("sleep", "60", start_new_session=True)
    group = Group(process.pid)
    async with asyncio.timeout(10):
        await group.wait(60)
        process.kill()
        await process.wait()
