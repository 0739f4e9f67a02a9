from trunkline.frontends.agui.text_parts import TextParts
from trunkline.protocols.agui import wire


def names(events: list[wire.AguiEvent]) -> list[str]:
    return [type(event).__name__ for event in events]


def test_the_reasoning_of_a_message_ends_before_its_text_begins() -> None:
    parts = TextParts(None)
    parts.add_reasoning("m1", "a", None, 7)

    assert names(parts.start_text("m1", 8)) == ["ReasoningMessageEnd", "ReasoningEnd", "TextMessageStart"]
    assert parts.end_reasoning("m1", 9) == []
    assert names(parts.end_message("m1", 9)) == ["TextMessageEnd"]


def test_a_signature_is_the_encrypted_value_of_the_reasoning_that_it_ends() -> None:
    parts = TextParts("l1")
    signed = parts.add_reasoning("m1", "a", "s", 7)

    assert names(signed)[-3:] == ["ReasoningEncryptedValue", "ReasoningMessageEnd", "ReasoningEnd"]
    assert signed[-3] == wire.ReasoningEncryptedValue(
        timestamp=7,
        subagent_run_id="l1",
        subtype="message",
        entity_id="m1:reasoning:1",
        encrypted_value="s",
    )
    more = parts.add_reasoning("m1", "b", None, 8)
    assert more[0] == wire.ReasoningStart(timestamp=8, subagent_run_id="l1", message_id="m1:reasoning:2")


def test_texts_stay_open_side_by_side_until_they_are_complete() -> None:
    parts = TextParts(None)
    parts.start_text("m1", 7)

    assert names(parts.start_text("m2", 8)) == ["TextMessageStart"]
    assert parts.start_text("m1", 9) == []
    parts.complete("m2")
    assert names(parts.start_text("m3", 10)) == ["TextMessageEnd", "TextMessageStart"]
    parts.complete_all()
    assert parts.announce(11) == []


def test_reasoning_that_goes_on_in_the_next_run_keeps_its_id() -> None:
    parts = TextParts(None)
    first = parts.add_reasoning("m1", "a", None, 7)
    parts.close(8)
    second = parts.add_reasoning("m1", "b", None, 9)

    assert first[0] == wire.ReasoningStart(timestamp=7, message_id="m1:reasoning:1")
    assert second[0] == wire.ReasoningStart(timestamp=9, message_id="m1:reasoning:1")
