"""The prompts that wait: their order, their limit, and what is told of them."""

import pytest

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.errors import InvalidCommand, SessionBusy
from trunkline.session.turns.prompt_queue import PromptQueue


def test_prompts_wait_in_the_order_in_which_they_came() -> None:
    told: list[ev.Event] = []
    queue = PromptQueue({"p1": Prompt.of("first")}, 3, told.append)
    queue.add("p2", Prompt.of("second"))
    assert [type(event) for event in told] == [ev.PromptQueued]
    assert [queue.take()[0], queue.take()[0], len(queue)] == ["p1", "p2", 0]


def test_a_full_queue_takes_no_more() -> None:
    queue = PromptQueue({"p1": Prompt.of("first")}, 1, lambda event: None)
    with pytest.raises(SessionBusy, match="1 prompts wait already"):
        queue.add("p2", Prompt.of("second"))


def test_a_prompt_that_is_dropped_is_told_and_one_that_does_not_wait_is_refused() -> None:
    told: list[ev.Event] = []
    queue = PromptQueue({"p1": Prompt.of("first"), "p2": Prompt.of("second")}, 3, told.append)
    queue.discard("p1", "withdrawn")
    with pytest.raises(InvalidCommand, match="no prompt 'p1' is waiting"):
        queue.discard("p1", "withdrawn")
    queue.discard_all("the session was closed")
    assert told == [
        ev.PromptDropped(prompt_id="p1", reason="withdrawn"),
        ev.PromptDropped(prompt_id="p2", reason="the session was closed"),
    ]


def test_only_prompts_that_may_steer_join_a_running_turn() -> None:
    waiting = {"p1": Prompt.of("first", busy="steer"), "p2": Prompt.of("second", busy="queue")}
    queue = PromptQueue(waiting, 3, lambda event: None)
    assert [name for name, _ in queue.take_steering()] == ["p1"]
    assert len(queue) == 1
