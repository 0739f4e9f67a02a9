"""Who is written next: each session in its own order, and nobody behind another's flood."""

import asyncio
import sqlite3
from typing import Any

from trunkline.journal.fair_queue import GROUP_BYTES, FairQueue, Job
from trunkline.journal.interface import SessionKey

ADA, BOB, EVE = SessionKey("ada", "1"), SessionKey("bob", "1"), SessionKey("eve", "1")
QUARTER = GROUP_BYTES // 4


def job(name: str, key: SessionKey, size: int = 1) -> Job:
    future: asyncio.Future[Any] = asyncio.Future(loop=_LOOP)

    def work(db: object) -> str:
        return name

    return Job(work, future, False, key, size)


_LOOP = asyncio.new_event_loop()
_DB = sqlite3.connect(":memory:")


def names(group: list[Job]) -> str:
    return " ".join(job.work(_DB) for job in group)


def fill(queue: FairQueue, *jobs: Job) -> None:
    for one in jobs:
        queue.put(one)


def test_small_work_of_all_sessions_is_one_group_each_session_in_order() -> None:
    queue = FairQueue()
    fill(queue, job("a1", ADA), job("b1", BOB), job("a2", ADA), job("e1", EVE, 0), job("b2", BOB))
    taken = names(queue.take()).split()
    assert sorted(taken) == ["a1", "a2", "b1", "b2", "e1"]
    assert taken.index("a1") < taken.index("a2")
    assert taken.index("b1") < taken.index("b2")
    assert not queue


def test_a_group_has_a_bounded_size_and_who_was_left_out_is_first_in_the_next() -> None:
    queue = FairQueue()
    fill(queue, *(job(f"a{n}", ADA, QUARTER) for n in range(12)), job("b", BOB), job("e", EVE, QUARTER))
    assert names(queue.take()) == "a0 a1 a2 a3"
    assert names(queue.take()) == "b e a4 a5"
    assert names(queue.take()) == "a6 a7 a8 a9"


def test_large_work_is_committed_alone_and_never_twice_in_a_row_while_small_work_waits() -> None:
    queue = FairQueue()
    large = GROUP_BYTES * 20
    fill(queue, job("A1", ADA, large), job("A2", ADA, large), job("E1", EVE, large))
    assert names(queue.take()) == "A1"
    fill(queue, job("b1", BOB), job("b2", BOB))
    assert names(queue.take()) == "b1 b2"
    fill(queue, job("b3", BOB))
    assert names(queue.take()) == "E1"
    assert names(queue.take()) == "b3"
    assert names(queue.take()) == "A2"
    assert not queue


def test_large_work_is_not_starved_by_small_work() -> None:
    queue = FairQueue()
    fill(queue, job("b", BOB), job("A", ADA, GROUP_BYTES * 2))
    assert names(queue.take()) == "b"
    fill(queue, job("b", BOB))
    assert names(queue.take()) == "A"


def test_bytes_wait_until_their_group_is_settled_and_count_for_session_and_principal() -> None:
    queue = FairQueue()
    other = SessionKey("ada", "2")
    fill(queue, job("a", ADA, 10), job("a", other, 5), job("b", BOB, 0))
    assert (queue.waiting(ADA), queue.waiting(other), queue.waiting(BOB)) == ((10, 15), (5, 15), (0, 0))
    group = queue.take()
    assert queue.waiting(ADA) == (10, 15)
    queue.settle(group)
    assert queue.waiting(ADA) == queue.waiting(other) == (0, 0)
