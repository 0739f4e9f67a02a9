"""The history of a session at an agent, as session/load sends it."""

from typing import Any

from trunkline import events as ev
from trunkline.content import LinkBlock, TextBlock
from trunkline.protocols.acp.profiles import CLAUDE_CODE
from trunkline.protocols.acp.replay import decode_replay, replayed_conversation


def said(who: str, text: str, message_id: str | None = None) -> dict[str, Any]:
    """Give a block of a message."""
    update = {"sessionUpdate": f"{who}_message_chunk", "content": {"type": "text", "text": text}}
    return update if message_id is None else {**update, "messageId": message_id}


def test_each_message_of_the_user_begins_a_turn() -> None:
    events = decode_replay([said("user", "a"), said("agent", "b"), said("user", "c"), said("agent", "d")])

    assert events == [
        ev.TurnStarted(turn_id="replay_1"),
        ev.UserMessage(turn_id="replay_1", message_id="replay_1.user1", content=(TextBlock(text="a"),)),
        ev.Text(turn_id="replay_1", message_id="replay_1.1", delta="b"),
        ev.TurnFinished(turn_id="replay_1"),
        ev.TurnStarted(turn_id="replay_2"),
        ev.UserMessage(turn_id="replay_2", message_id="replay_2.user2", content=(TextBlock(text="c"),)),
        ev.Text(turn_id="replay_2", message_id="replay_2.1", delta="d"),
        ev.TurnFinished(turn_id="replay_2"),
    ]


def test_blocks_of_one_message_of_the_user_stay_together() -> None:
    link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
    replay = [
        said("user", "look", "u"),
        {"sessionUpdate": "user_message_chunk", "content": link, "messageId": "u"},
    ]
    [message] = replayed_conversation(replay).messages
    assert message.content == (TextBlock(text="look"), LinkBlock(uri="file:///a", name="a"))


def test_two_messages_of_the_user_in_a_row_are_two_turns() -> None:
    folded = replayed_conversation(
        [said("user", "a", "u1"), said("user", "b", "u2"), said("agent", "c", "m")]
    )

    assert [(message.text, message.turn_id) for message in folded.messages] == [
        ("a", "replay_1"),
        ("b", "replay_2"),
        ("c", "replay_2"),
    ]


def test_a_fact_about_the_session_does_not_part_a_message() -> None:
    usage = {"sessionUpdate": "usage_update", "used": 1, "size": 2}
    events = decode_replay([usage, said("user", "a"), usage, said("user", "b"), said("agent", "c"), usage])

    assert [type(event) for event in events] == [
        ev.ContextUsage,
        ev.TurnStarted,
        ev.ContextUsage,
        ev.UserMessage,
        ev.Text,
        ev.ContextUsage,
        ev.TurnFinished,
    ]


def test_a_history_that_begins_with_the_agent_is_a_turn_of_its_own() -> None:
    first, *_ = decode_replay([said("agent", "welcome"), said("user", "a")])
    assert first == ev.TurnStarted(turn_id="replay_1", by="agent")


def test_a_call_whose_end_is_not_in_the_history_is_not_a_success() -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "status": "pending"}
    folded = replayed_conversation([said("user", "a"), call, said("user", "b", "u")])

    assert folded.calls["c"].status == "failed"
    assert folded.calls["c"].reason == "the agent's history does not say how this call ended"
    assert folded.calls["c"].turn_id == "replay_1"


def test_turns_have_the_names_that_the_caller_gives() -> None:
    events = decode_replay(
        [said("user", "a")], turn_id=lambda number: f"import_{number}", profile=CLAUDE_CODE
    )
    assert {event.turn_id for event in events} == {"import_1"}


def test_an_empty_history_has_no_turn() -> None:
    assert decode_replay([]) == []
