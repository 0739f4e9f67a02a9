"""The values of a conversation."""

import msgspec
import pytest

from trunkline.content import ImageBlock, TextBlock
from trunkline.conversation import Call, CallPart, Conversation, Message, TextPart, ThoughtPart, is_imported


def test_the_text_of_a_message_is_what_its_writer_wrote_without_thoughts_and_calls() -> None:
    image = ImageBlock(data="aGk=", mime_type="image/png")
    asked = Message(message_id="u", role="user", content=(TextBlock(text="a"), image, TextBlock(text="b")))
    assert "a" in asked.text
    assert "b" in asked.text
    parts = [
        ThoughtPart(part_id="m:0", text="hm"),
        TextPart(part_id="m:1", text="one "),
        CallPart(part_id="m:2", call_id="c"),
        TextPart(part_id="m:3", text="two"),
    ]
    assert Message(message_id="m", role="agent", parts=list(parts)).text == "one two"


def test_a_message_is_found_by_its_id() -> None:
    message = Message(message_id="m", role="agent")
    assert Conversation(messages=[message]).message("m") is message
    assert Conversation(messages=[message]).message("n") is None


def test_conversations_do_not_share_their_lists_and_compare_by_value() -> None:
    one, other = Conversation(), Conversation()
    assert one == other
    one.messages.append(Message(message_id="m", role="agent"))
    assert one != other
    assert other.messages == []


def test_a_conversation_survives_json_also_with_words_that_are_not_known() -> None:
    call = msgspec.convert({"call_id": "c", "name": "t", "kind": "dance", "status": "resting"}, Call)
    whole = Conversation(calls={"c": call}, messages=[Message(message_id="m", role="agent")])
    assert msgspec.json.decode(msgspec.json.encode(whole), type=Conversation) == whole
    assert call.kind == "dance"


@pytest.mark.parametrize(("turn_id", "imported"), [("import_1", True), ("t1", False), (None, False)])
def test_a_turn_that_a_client_brought_along_is_known_by_its_id(turn_id: str | None, imported: bool) -> None:
    assert is_imported(turn_id) is imported
