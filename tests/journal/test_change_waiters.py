"""Waiting for a change: one timer for everyone, versions that only grow."""

import asyncio

import pytest

from trunkline.errors import JournalError
from trunkline.journal.change_waiters import ChangeWaiters


class Marks:
    """A mark that the test moves, and how often it was looked at."""

    def __init__(self) -> None:
        self.mark: int | None = 7
        self.looks = 0

    def __call__(self) -> int | None:
        self.looks += 1
        return self.mark


async def wait(waiters: ChangeWaiters, since: int, poll: float | None) -> asyncio.Task[int]:
    task = asyncio.create_task(waiters.wait(since, poll))
    await asyncio.sleep(0)
    return task


async def test_version_zero_returns_at_once() -> None:
    assert await ChangeWaiters(Marks()).wait(0, None) == 1


async def test_a_version_of_another_life_returns_at_once() -> None:
    assert await ChangeWaiters(Marks()).wait(99, None) == 1


async def test_a_mark_that_differs_is_a_newer_version_even_if_it_is_smaller() -> None:
    marks = Marks()
    waiters = ChangeWaiters(marks)
    versions: list[int] = []
    for mark in (9, 3, 3, None, 3, 7):
        marks.mark = mark
        versions.append(await waiters.wait(0, None))
    assert versions == [2, 3, 3, 3, 3, 4]


async def test_a_thousand_waiters_look_no_more_often_than_one() -> None:
    marks = Marks()
    waiters = ChangeWaiters(marks)
    waiting = [asyncio.create_task(waiters.wait(1, 0.01)) for _ in range(1000)]
    await asyncio.sleep(0)
    entered = marks.looks
    asyncio.get_running_loop().call_later(0.1, setattr, marks, "mark", 8)
    async with asyncio.timeout(10):
        assert set(await asyncio.gather(*waiting)) == {2}
    assert marks.looks - entered < 50


async def test_the_most_impatient_waiter_sets_the_pace() -> None:
    marks = Marks()
    waiters = ChangeWaiters(marks)
    patient = await wait(waiters, 1, 3600)
    also_patient = await wait(waiters, 1, 3600)
    impatient = await wait(waiters, 1, 0.01)
    marks.mark = 8
    async with asyncio.timeout(10):
        assert await asyncio.gather(patient, also_patient, impatient) == [2, 2, 2]


async def test_nobody_looks_when_nobody_waits() -> None:
    marks = Marks()
    waiters = ChangeWaiters(marks)
    task = await wait(waiters, 1, 0.001)
    task.cancel()
    await asyncio.wait([task])
    before = marks.looks
    await asyncio.sleep(0.02)
    assert marks.looks == before


async def test_a_waiter_cancelled_at_the_moment_of_a_change_is_left_alone() -> None:
    marks = Marks()
    waiters = ChangeWaiters(marks)
    first, second = await wait(waiters, 1, None), await wait(waiters, 1, None)
    first.cancel()
    marks.mark = 8
    waiters.refresh()
    waiters.close(lambda: JournalError("closed"))
    assert await second == 2
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_closing_sends_everyone_home() -> None:
    waiters = ChangeWaiters(Marks())
    waiting = [await wait(waiters, 1, 0.01), await wait(waiters, 1, None)]
    waiters.close(lambda: JournalError("closed"))
    for result in await asyncio.gather(*waiting, return_exceptions=True):
        assert isinstance(result, JournalError)
