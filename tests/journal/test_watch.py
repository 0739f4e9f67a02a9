"""Watching: one timer for everyone, versions that only grow."""

import asyncio

import pytest

from trunkline.errors import JournalError
from trunkline.journal.watch import Watch


class Marks:
    """A mark that the test moves, and how often it was looked at."""

    def __init__(self) -> None:
        self.mark: int | None = 7
        self.looks = 0

    def __call__(self) -> int | None:
        self.looks += 1
        return self.mark


async def wait(watch: Watch, since: int, poll: float | None) -> asyncio.Task[int]:
    task = asyncio.create_task(watch.wait(since, poll))
    await asyncio.sleep(0)
    return task


async def test_version_zero_returns_at_once() -> None:
    assert await Watch(Marks()).wait(0, None) == 1


async def test_a_version_of_another_life_returns_at_once() -> None:
    assert await Watch(Marks()).wait(99, None) == 1


async def test_a_mark_that_differs_is_a_newer_version_even_if_it_is_smaller() -> None:
    marks = Marks()
    watch = Watch(marks)
    versions: list[int] = []
    for mark in (9, 3, 3, None, 3, 7):
        marks.mark = mark
        versions.append(await watch.wait(0, None))
    assert versions == [2, 3, 3, 3, 3, 4]


async def test_a_thousand_waiters_look_no_more_often_than_one() -> None:
    marks = Marks()
    watch = Watch(marks)
    waiting = [asyncio.create_task(watch.wait(1, 0.01)) for _ in range(1000)]
    await asyncio.sleep(0)
    entered = marks.looks
    asyncio.get_running_loop().call_later(0.1, setattr, marks, "mark", 8)
    async with asyncio.timeout(10):
        assert set(await asyncio.gather(*waiting)) == {2}
    assert marks.looks - entered < 50


async def test_the_most_impatient_waiter_sets_the_pace() -> None:
    marks = Marks()
    watch = Watch(marks)
    patient = await wait(watch, 1, 3600)
    also_patient = await wait(watch, 1, 3600)
    impatient = await wait(watch, 1, 0.01)
    marks.mark = 8
    async with asyncio.timeout(10):
        assert await asyncio.gather(patient, also_patient, impatient) == [2, 2, 2]


async def test_nobody_looks_when_nobody_waits() -> None:
    marks = Marks()
    watch = Watch(marks)
    task = await wait(watch, 1, 0.001)
    task.cancel()
    await asyncio.wait([task])
    before = marks.looks
    await asyncio.sleep(0.02)
    assert marks.looks == before


async def test_a_waiter_cancelled_at_the_moment_of_a_change_is_left_alone() -> None:
    marks = Marks()
    watch = Watch(marks)
    first, second = await wait(watch, 1, None), await wait(watch, 1, None)
    first.cancel()
    marks.mark = 8
    watch.refresh()
    watch.close(lambda: JournalError("closed"))
    assert await second == 2
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_closing_sends_everyone_home() -> None:
    watch = Watch(Marks())
    waiting = [await wait(watch, 1, 0.01), await wait(watch, 1, None)]
    watch.close(lambda: JournalError("closed"))
    for result in await asyncio.gather(*waiting, return_exceptions=True):
        assert isinstance(result, JournalError)
