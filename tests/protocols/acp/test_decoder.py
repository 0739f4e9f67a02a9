"""What an agent says in a session, as neutral events."""

from typing import Any

from trunkline import events as ev
from trunkline.content import TextBlock
from trunkline.protocols.acp.decoder import AcpDecoder, is_of_session


def chunk(text: str, kind: str = "agent_message_chunk", **fields: Any) -> dict[str, Any]:
    """Give a piece of a message."""
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}, **fields}


def in_turn(prompt: str = "hello") -> AcpDecoder:
    """Give a decoder in a turn."""
    decoder = AcpDecoder()
    decoder.begin_turn("t", [{"type": "text", "text": prompt}])
    return decoder


def test_pieces_without_ids_are_one_message_until_a_tool_is_called() -> None:
    decoder = in_turn()
    out = decoder.feed(chunk("hm", "agent_thought_chunk")) + decoder.feed(chunk("one"))
    out += decoder.feed({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T"})
    out += decoder.feed(chunk("two"))

    assert out == [
        ev.Thought(message_id="t.1", delta="hm"),
        ev.Text(message_id="t.1", delta="one"),
        ev.ToolCall(call_id="c", native_id="c", name="T", title="T", message_id="t.1"),
        ev.Text(message_id="t.2", delta="two"),
    ]


def test_an_empty_piece_says_nothing() -> None:
    assert in_turn().feed(chunk("")) == []


def test_the_echo_of_the_prompt_is_swallowed() -> None:
    decoder = in_turn("write a file")
    assert decoder.feed(chunk("write a ", "user_message_chunk")) == []
    assert decoder.feed(chunk("file", "user_message_chunk")) == []
    [other] = decoder.feed(chunk("and another", "user_message_chunk"))
    assert isinstance(other, ev.Raw)


def test_a_message_of_a_user_elsewhere_begins_a_turn_of_its_own() -> None:
    decoder = AcpDecoder()
    assert decoder.feed(chunk("hi", "user_message_chunk", messageId="u")) == []
    user, text = decoder.feed(chunk("hello", messageId="m"))

    assert user == ev.UserMessage(message_id="u", content=(TextBlock(text="hi"),))
    assert text == ev.Text(message_id="m", delta="hello")
    assert decoder.in_turn
    assert decoder.close() == []
    assert not decoder.in_turn


def test_an_update_that_is_not_known_is_kept_as_it_is() -> None:
    update = {"sessionUpdate": "async_task_started", "taskId": 7}
    [raw] = in_turn().feed(update)
    assert raw == ev.Raw(source="acp", payload=update)
    assert is_of_session(raw)
