"""What a stream of AG-UI events tells about calls and interrupts."""

from typing import Any

from trunkline.conformance.agui.kit import Run, calls_in_snapshots, interrupts_of, streamed_calls
from trunkline.conformance.agui.reference_client import ReferenceClient
from trunkline.conformance.http import Exchange


def run_of(*events: dict[str, Any]) -> Run:
    exchange = Exchange("POST", 200, {}, b"", (), (), True)
    return Run({}, exchange, list(events), ReferenceClient())


def test_arguments_are_joined_by_call_in_whatever_order_they_come() -> None:
    pieces = [("a", '{"x":'), ("b", "{"), ("a", "1}"), ("b", "}")]
    run = run_of(
        {"type": "TOOL_CALL_START", "toolCallId": "a"},
        {"type": "TOOL_CALL_START", "toolCallId": "b"},
        *({"type": "TOOL_CALL_ARGS", "toolCallId": one, "delta": text} for one, text in pieces),
    )
    assert streamed_calls(run) == {"a": '{"x":1}', "b": "{}"}


def test_a_chunk_without_an_id_belongs_to_the_call_before_it() -> None:
    run = run_of(
        {"type": "TOOL_CALL_CHUNK", "toolCallId": "a", "toolCallName": "add", "delta": "{"},
        {"type": "TOOL_CALL_CHUNK", "delta": "}"},
    )
    assert streamed_calls(run) == {"a": "{}"}


def test_the_newest_snapshot_counts() -> None:
    def snapshot(arguments: str) -> dict[str, Any]:
        call = {"id": "a", "function": {"name": "add", "arguments": arguments}}
        return {
            "type": "MESSAGES_SNAPSHOT",
            "messages": [{"id": "m", "role": "assistant", "toolCalls": [call]}],
        }

    assert calls_in_snapshots(run_of(snapshot("{}"), snapshot('{"x":1}'))) == {"a": '{"x":1}'}


def test_interrupts_are_those_of_the_last_event() -> None:
    interrupts = [{"id": "i1"}]
    outcome = {"type": "interrupt", "interrupts": interrupts}
    assert interrupts_of(run_of({"type": "RUN_FINISHED", "outcome": outcome})) == interrupts
    assert interrupts_of(run_of()) == []
