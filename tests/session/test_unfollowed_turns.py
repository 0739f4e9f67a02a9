"""The follower watch: a turn that no reader follows is cancelled after a while."""

import asyncio

from tests.hubs import soon

from trunkline.session.unfollowed_turns import FollowerWatch


class Turn:
    """Counts how often the watch expired."""

    def __init__(self, *, again: int = 0) -> None:
        self.expired = 0
        self.ended = asyncio.Event()
        self._again = again

    def expire(self) -> bool:
        self.expired += 1
        if self.expired <= self._again:
            return True
        self.ended.set()
        return False


async def timers_have_run() -> None:
    """Wait for a timer that was set after those of the test."""
    passed = asyncio.Event()
    asyncio.get_running_loop().call_later(0.01, passed.set)
    await soon(passed.wait())


async def test_a_turn_without_a_reader_expires_once() -> None:
    turn = Turn()
    FollowerWatch(0.0, turn.expire).followers_changed(0, running=True)
    await soon(turn.ended.wait())
    await timers_have_run()
    assert turn.expired == 1


async def test_a_reader_that_comes_in_time_keeps_the_turn() -> None:
    turn = Turn()
    watch = FollowerWatch(0.0, turn.expire)
    watch.followers_changed(0, running=True)
    watch.followers_changed(1, running=True)
    await timers_have_run()
    assert turn.expired == 0


async def test_a_turn_that_may_not_end_yet_is_looked_at_again() -> None:
    turn = Turn(again=2)
    FollowerWatch(0.001, turn.expire).followers_changed(0, running=True)
    await soon(turn.ended.wait())
    assert turn.expired == 3


async def test_nothing_expires_without_a_limit_a_turn_or_after_the_close() -> None:
    turn = Turn()
    FollowerWatch(None, turn.expire).followers_changed(0, running=True)
    FollowerWatch(0.0, turn.expire).followers_changed(0, running=False)
    closed = FollowerWatch(0.0, turn.expire)
    closed.followers_changed(0, running=True)
    closed.close()
    await timers_have_run()
    assert turn.expired == 0
