"""The follower watch: a turn that no reader follows is cancelled after a while."""

from __future__ import annotations

import asyncio

from tests.hubs import soon

from trunkline.session.followers import FollowerWatch


class Turn:
    """What the watch knows of a turn."""

    def __init__(self, *, running: bool = True, suspended: bool = False) -> None:
        self.running = running
        self.suspended = suspended
        self.reasons: list[str] = []
        self.asked = asyncio.Event()
        self.cancelled = asyncio.Event()

    def watch(self, limit: float | None = 0.0) -> FollowerWatch:
        return FollowerWatch(
            limit, is_running=lambda: self.running, is_suspended=self.is_suspended, cancel=self.cancel
        )

    def is_suspended(self) -> bool:
        self.asked.set()
        return self.suspended

    def cancel(self, reason: str) -> None:
        self.reasons.append(reason)
        self.cancelled.set()


async def timers_have_run() -> None:
    """Wait for a timer that was set after those of the test."""
    passed = asyncio.Event()
    asyncio.get_running_loop().call_later(0.01, passed.set)
    await soon(passed.wait())


async def test_a_turn_without_a_reader_is_cancelled_with_the_reason() -> None:
    turn = Turn()
    turn.watch().followers_changed(0)
    await soon(turn.cancelled.wait())
    assert turn.reasons == ["no reader followed the turn any more"]


async def test_a_reader_that_comes_in_time_keeps_the_turn() -> None:
    turn = Turn()
    watch = turn.watch()
    watch.followers_changed(0)
    watch.followers_changed(1)
    await timers_have_run()
    assert not turn.asked.is_set()


async def test_a_suspended_turn_waits_for_its_answer() -> None:
    turn = Turn(suspended=True)
    turn.watch(0.001).followers_changed(0)
    await soon(turn.asked.wait())
    assert turn.reasons == []
    turn.suspended = False
    await soon(turn.cancelled.wait())


async def test_nothing_is_cancelled_without_a_limit_a_turn_or_after_the_close() -> None:
    unlimited, idle, closed = Turn(), Turn(running=False), Turn()
    unlimited.watch(None).followers_changed(0)
    idle.watch().followers_changed(0)
    watch = closed.watch()
    watch.followers_changed(0)
    watch.close()
    await timers_have_run()
    assert unlimited.reasons + idle.reasons + closed.reasons == []
