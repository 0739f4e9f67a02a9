"""Earlier turns: read when they are asked for, shared, and discarded after a while."""

from tests.hubs import soon
from tests.session.stream.test_event_stream import owned_stream

from trunkline import events as ev
from trunkline.content import TextBlock
from trunkline.journal.memory import MemoryJournal
from trunkline.session.history.earlier_turns import EarlierTurns
from trunkline.session.receipts import Receipts
from trunkline.session.stream.event_stream import EventStream


async def two_turns() -> tuple[EventStream, EarlierTurns]:
    stream, receipts = await owned_stream(MemoryJournal()), Receipts()
    stream.on_turn_started = receipts.note_start
    for turn in ("t1", "t2"):
        stream.emit(ev.TurnStarted(turn_id=turn))
        question = (TextBlock(text=f"question of {turn}"),)
        stream.emit(ev.UserMessage(turn_id=turn, message_id=f"{turn}.0", content=question))
        stream.emit(ev.Text(turn_id=turn, message_id=f"{turn}.1", delta=f"answer of {turn}"))
        stream.emit(ev.TurnFinished(turn_id=turn))
    await soon(stream.durable())
    return stream, EarlierTurns(stream, receipts)


async def test_the_outline_ends_before_the_last_turn() -> None:
    _, earlier = await two_turns()
    outline, start = await earlier.outline()
    assert start == earlier.start
    assert "t1.1" in outline.known_ids
    assert "t2.1" not in outline.known_ids


async def test_the_conversation_before_the_last_turn_is_read_once_and_shared() -> None:
    _, earlier = await two_turns()
    conversation, start = await earlier.conversation()
    assert [message.message_id for message in conversation.messages] == ["t1.0", "t1.1"]
    assert await earlier.before(start) is conversation


async def test_a_fold_covers_everything_or_ends_before_a_turn() -> None:
    _, earlier = await two_turns()
    assert len((await earlier.fold()).messages) == 4
    assert len((await earlier.fold("t2")).messages) == 2
    assert (await earlier.fold("t1")).messages == []


async def test_what_was_discarded_is_read_again() -> None:
    _, earlier = await two_turns()
    first, _ = await earlier.conversation()
    earlier.discard()
    again, _ = await earlier.conversation()
    assert again is not first
    assert again.messages == first.messages


async def test_the_present_outline_has_the_last_turn_too() -> None:
    stream, earlier = await two_turns()
    stream.emit(ev.TurnStarted(turn_id="t3"))
    stream.emit(ev.Text(turn_id="t3", message_id="t3.1", delta="now"))
    present = await earlier.present()
    assert present.has_message("t1.1")
    assert present.has_message("t3.1")
    assert not present.has_message("t4.1")
