"""The reducer by itself; that it is the AI SDK's own is tested with the AI SDK in tests/peers."""

from typing import Any

from trunkline.frontends.aisdk.message_reducer import MessageReducer
from trunkline.protocols.aisdk.wire import VERSIONS


def folded(*chunks: Any, version: int = 7) -> Any:
    reducer = MessageReducer("t1", VERSIONS[version])
    reducer.feed_all(chunks)
    return reducer.message


def test_metadata_is_merged_deeply() -> None:
    message = folded(
        {"type": "start", "messageId": "t2", "messageMetadata": {"a": {"x": 1, "y": [1]}, "b": 1}},
        {"type": "message-metadata", "messageMetadata": {"a": {"y": [2]}}},
        {"type": "finish", "messageMetadata": {"b": {"c": 1}}},
        {"type": "finish"},
    )

    assert message == {
        "id": "t2", "role": "assistant", "metadata": {"a": {"x": 1, "y": [2]}, "b": {"c": 1}}, "parts": []
    }  # fmt: skip


def test_a_message_does_not_change_with_later_chunks() -> None:
    reducer = MessageReducer("t1", VERSIONS[7])
    reducer.feed({"type": "text-start", "id": "1"})
    reducer.feed({"type": "text-delta", "id": "1", "delta": "a"})
    before = reducer.message
    reducer.feed({"type": "text-delta", "id": "1", "delta": "b", "providerMetadata": {"p": {}}})
    reducer.feed({"type": "text-end", "id": "1"})

    assert before["parts"] == [{"type": "text", "text": "a", "state": "streaming"}]
    assert reducer.message["parts"] == [
        {"type": "text", "text": "ab", "state": "done", "providerMetadata": {"p": {}}}
    ]


def test_an_input_is_shown_while_it_arrives() -> None:
    start = {"type": "tool-input-start", "toolCallId": "c", "toolName": "n", "dynamic": True}
    delta = {"type": "tool-input-delta", "toolCallId": "c"}
    (part,) = folded(start, {**delta, "inputTextDelta": '{"a":'}, {**delta, "inputTextDelta": ' "x'})["parts"]
    (nonsense,) = folded(start, {**delta, "inputTextDelta": "oh"})["parts"]

    assert part["input"] == {"a": "x"}
    assert part["rawInput"] == '{"a": "x'
    assert "input" not in nonsense


def test_data_with_an_id_is_replaced_in_place_and_transient_data_is_not_kept() -> None:
    parts = folded(
        {"type": "data-a", "id": "1", "data": 1},
        {"type": "data-a", "data": 2},
        {"type": "data-a", "data": 3},
        {"type": "data-a", "id": "1", "data": 4},
        {"type": "data-b", "id": "1", "data": 5},
        {"type": "data-c", "data": 6, "transient": True},
    )["parts"]

    assert [part["data"] for part in parts] == [4, 2, 3, 5]


def test_a_call_is_found_in_its_step_only_but_its_output_everywhere() -> None:
    available = {"type": "tool-input-available", "toolCallId": "c", "toolName": "n", "dynamic": True}
    parts = folded(
        {**available, "input": 1},
        {"type": "start-step"},
        {"type": "tool-output-available", "toolCallId": "c", "output": None},
    )["parts"]
    twice = folded({**available, "input": 1}, {"type": "start-step"}, {**available, "input": 2})["parts"]

    assert parts[0]["state"] == "output-available"
    assert parts[0]["output"] is None
    assert [part.get("input") for part in twice] == [1, None, 2]


def test_what_an_error_says_is_kept_beside_the_message() -> None:
    reducer = MessageReducer("t1", VERSIONS[7])
    reducer.feed({"type": "error", "errorText": "no"})
    reducer.feed({"type": "unknown-chunk"})

    assert reducer.error == "no"
    assert reducer.message["parts"] == []


def test_an_older_version_keeps_less() -> None:
    chunks: Any = (
        {"type": "tool-input-available", "toolCallId": "c", "toolName": "n", "dynamic": True, "input": 1,
         "title": "T", "providerMetadata": {"a": {}}},
        {"type": "tool-output-available", "toolCallId": "c", "output": 1, "dynamic": True,
         "providerMetadata": {"b": {}}},
        {"type": "file", "mediaType": "image/png", "url": "data:,", "providerMetadata": {"c": {}}},
    )  # fmt: skip
    old, new = folded(*chunks, version=5)["parts"], folded(*chunks)["parts"]

    assert new[0].keys() - old[0].keys() == {"title", "resultProviderMetadata"}
    assert new[1].keys() - old[1].keys() == {"providerMetadata"}


def test_a_call_of_the_pages_own_tool_keeps_the_text_of_its_input_after_an_error() -> None:
    (part,) = folded(
        {"type": "tool-input-start", "toolCallId": "c", "toolName": "n"},
        {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": "{"},
        {"type": "tool-output-error", "toolCallId": "c", "errorText": "no"},
    )["parts"]

    assert part["type"] == "tool-n"
    assert part["errorText"] == "no"


def test_metadata_that_is_no_object_is_replaced() -> None:
    assert folded({"type": "start", "messageMetadata": "a"}, {"type": "finish", "messageMetadata": {"b": 1}})[
        "metadata"
    ] == {"b": 1}
