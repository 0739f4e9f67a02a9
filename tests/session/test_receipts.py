"""Receipts: a prompt that is sent again is known, and memory stays bounded."""

from trunkline.session.receipts import Receipt, Receipts


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
