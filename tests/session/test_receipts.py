"""Receipts: a prompt that is sent again is known, and memory stays bounded."""

from __future__ import annotations

import pytest

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.errors import InvalidCommand, SessionBusy
from trunkline.session.receipts import PromptQueue, Receipt, Receipts


def test_a_receipt_is_found_by_its_prompt_and_the_newest_one_counts() -> None:
    receipts = Receipts()
    receipts.remember(Receipt(prompt_id="p"))
    started = receipts.remember(Receipt(prompt_id="p", turn_id="t"))
    assert receipts.by_prompt["p"] is started


def test_the_oldest_receipts_and_turns_are_discarded() -> None:
    receipts = Receipts()
    for number in range(1500):
        receipts.remember(Receipt(prompt_id=f"p{number}"))
        receipts.note_start(f"t{number}", number)
    assert next(iter(receipts.by_prompt)) == "p500"
    assert (len(receipts.by_prompt), len(receipts.turn_starts)) == (1000, 1000)
    assert receipts.turn_starts["t1499"] == 1499


def test_prompts_are_taken_in_the_order_in_which_they_came() -> None:
    emitted: list[ev.Event] = []
    queue = PromptQueue({}, 2, emitted.append)
    queue.add("a", Prompt.of("one"))
    queue.add("b", Prompt.of("two"))
    assert emitted == [
        ev.PromptQueued(prompt_id="a", content=Prompt.of("one").content),
        ev.PromptQueued(prompt_id="b", content=Prompt.of("two").content),
    ]
    assert [queue.take()[0], queue.take()[0]] == ["a", "b"]
    assert not queue


def test_a_full_queue_takes_no_more() -> None:
    queue = PromptQueue({}, 1, lambda event: None)
    queue.add("a", Prompt())
    with pytest.raises(SessionBusy, match="1 prompts wait already"):
        queue.add("b", Prompt())
    assert queue.take()[0] == "a"


def test_a_discarded_prompt_is_announced_once_and_an_unknown_one_is_refused() -> None:
    emitted: list[ev.Event] = []
    queue = PromptQueue({"a": Prompt(), "b": Prompt()}, 5, emitted.append)
    queue.discard("a", "withdrawn")
    with pytest.raises(InvalidCommand, match="no prompt 'a' is waiting"):
        queue.discard("a", "withdrawn")
    queue.discard_all("closed")
    assert emitted == [
        ev.PromptDropped(prompt_id="a", reason="withdrawn"),
        ev.PromptDropped(prompt_id="b", reason="closed"),
    ]
