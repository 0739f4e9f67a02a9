"""Frames of ours in the official decoder: whatever an event says, protobuf says the same as JSON."""

from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.peers.agui import Browser, JsonObject
from tests.strategies import json_values, structs_of, values_of
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.protobuf import frame_event

pytestmark = pytest.mark.slow

KINDS: tuple[type[Any], ...] = get_args(wire.AguiEvent)
TEXT = st.text(max_size=6)
OBJECT = values_of(dict[str, Any])
COUNT = st.integers(-(2**53) + 1, 2**53 - 1)
METADATA = {"metadata": OBJECT}
UNTOLD = ("interruptIds", "pendingToolCallIds", "toolCalls", "usage")
"""Lists that protobuf does not tell from none when they are empty."""


def record(optional: dict[str, Any] | None = None, /, **required: Any) -> st.SearchStrategy[JsonObject]:
    return st.fixed_dictionaries(required, optional=optional or {})


def some(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, max_size=2)


def union(kinds: Iterable[str], **fields: Any) -> st.SearchStrategy[JsonObject]:
    return record({"metadata": json_values, "id": TEXT}, type=st.sampled_from(sorted(kinds)), **fields)


SOURCE = (
    record(type=st.just("data"), value=TEXT, mimeType=TEXT)
    | record({"mimeType": TEXT}, type=st.just("url"), value=TEXT)
    | record({"mimeType": TEXT, "provider": TEXT}, type=st.just("file"), value=TEXT)
)
PART = union(["text"], text=TEXT) | union(["image", "audio", "video", "document"], source=SOURCE)
OPERATION = (
    record(op=st.sampled_from(["add", "replace", "test"]), path=TEXT, value=json_values)
    | record(op=st.sampled_from(["move", "copy"]), path=TEXT, **{"from": TEXT})
    | record(op=st.just("remove"), path=TEXT)
)
FUNCTION = record(name=TEXT, arguments=TEXT)
CALL = record({**METADATA, "encryptedValue": TEXT}, id=TEXT, type=st.just("function"), function=FUNCTION)
MORE = {**METADATA, "name": TEXT, "subagentRunId": TEXT, "encryptedValue": TEXT}
MESSAGE = (
    record(MORE, id=TEXT, role=st.sampled_from(["developer", "system", "reasoning"]), content=TEXT)
    | record({**MORE, "content": TEXT, "toolCalls": some(CALL)}, id=TEXT, role=st.just("assistant"))
    | record(MORE, id=TEXT, role=st.just("user"), content=TEXT | some(PART))
    | record(
        {**MORE, "error": TEXT}, id=TEXT, role=st.just("tool"), toolCallId=TEXT, content=TEXT | some(PART)
    )
    | record(MORE, id=TEXT, role=st.just("activity"), activityType=TEXT, content=OBJECT)
)
TOOL = record(METADATA, name=TEXT, description=TEXT, parameters=json_values)
RESUME = record({**METADATA, "payload": json_values}, interruptId=TEXT, status=st.sampled_from(["resolved"]))
INPUT = record(
    {"parentRunId": TEXT, "protocolVersion": TEXT, "state": json_values, "forwardedProps": json_values},
    threadId=TEXT,
    runId=TEXT,
    messages=some(MESSAGE),
    tools=some(TOOL),
    context=some(record(description=TEXT, value=TEXT)),
    resume=some(RESUME),
)
USAGE = record(
    {
        field.name: TEXT if field.name in ("provider", "model") else COUNT
        for field in msgspec.structs.fields(wire.TokenUsage)
    }
).map(lambda fields: wire.TokenUsage(**fields))


KNOWN: dict[str | tuple[type[Any], str], st.SearchStrategy[Any]] = {
    "timestamp": COUNT,
    "usage": some(USAGE).map(tuple),
    "messages": some(MESSAGE),
    "input": INPUT,
    "patch": some(OPERATION).map(tuple),
    (wire.StateDelta, "delta"): some(OPERATION).map(tuple),
    (wire.ToolCallResult, "content"): TEXT | some(PART),
    (wire.RunFinished, "outcome"): record({"pendingToolCallIds": some(TEXT)}, type=st.just("success"))
    | record(type=st.just("interrupt"), interrupts=some(structs_of(wire.Interrupt)))
    | record(type=st.just("cancelled")),
    (wire.SubagentFinished, "outcome"): record(type=st.just("success"))
    | record({"interruptIds": some(TEXT)}, type=st.just("suspended")),
}
"""Values as the protocol allows them, where our types say less than it does."""


@cache
def events_of(kind: type[Any]) -> st.SearchStrategy[Any]:
    """Give any event of a kind."""
    required: dict[str, Any] = {}
    optional: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        keys = [key for key in ((kind, field.name), field.name) if key in KNOWN]
        values = KNOWN[keys[0]] if keys else values_of(field.type)
        (required if field.required else optional)[field.name] = values
    return record(optional, **required).map(lambda given: kind(**given))


async def read(browser: Browser, *events: Any) -> tuple[list[JsonObject], list[JsonObject]]:
    """What the client gets of events in JSON, and in protobuf; nobody complains."""
    report = await browser.order(
        do="decode",
        lines=[wire.encode(event).decode() for event in events],
        frames=[b64encode(frame_event(event)).decode() for event in events],
    )
    assert report["written"] == []
    return report["plain"], report["events"]


def without_empty_lists(event: JsonObject) -> JsonObject:
    """Leave out the lists that mean the same when they are empty."""
    event = {key: one for key, one in event.items() if not (key in UNTOLD and one == [])}
    for key in ("input", "outcome"):
        if key in event:
            event[key] = without_empty_lists(event[key])
    if "messages" in event:
        event["messages"] = [without_empty_lists(message) for message in event["messages"]]
    return event


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__struct_config__.tag)
@given(data=st.data())
@settings(max_examples=40)
async def test_an_event_says_the_same_in_protobuf_as_in_json(
    browser: Browser, kind: type[Any], data: st.DataObject
) -> None:
    events, heard = await read(browser, *data.draw(st.lists(events_of(kind), min_size=1, max_size=8)))
    assert heard == [without_empty_lists(event) for event in events]


@pytest.mark.parametrize("number", [2**53 + 1, -(2**63), 10**400, 1e-320, -0.0, 1e308, 0.1])
async def test_a_number_is_what_it_would_be_in_json(browser: Browser, number: float) -> None:
    output, heard = await read(browser, wire.StateSnapshot(snapshot={"n": [number, -number]}))
    assert heard == output


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
async def test_what_is_no_number_is_null_as_it_is_in_json(browser: Browser, number: float) -> None:
    output, heard = await read(browser, wire.Custom(name="x", value=[number]))
    assert heard == output
    assert heard[0]["value"] == [None]


async def test_a_deep_state_arrives(browser: Browser) -> None:
    state: Any = "deep"
    for _ in range(300):
        state = {"a": [state]}
    output, heard = await read(browser, wire.StateSnapshot(snapshot=state))
    assert heard == output


async def test_texts_of_any_length_arrive(browser: Browser) -> None:
    pieces = [
        wire.TextMessageContent(message_id="m", delta="ä" * size)
        for size in (0, 63, 64, 8191, 8192, 1_200_000)
    ]
    output, heard = await read(browser, *pieces)
    assert heard == output


async def test_an_operation_and_a_part_that_nobody_knows_are_left_to_the_client(browser: Browser) -> None:
    strange = {"op": "swap", "path": "/a"}
    part = {"type": "hologram", "source": {"type": "url", "value": "x"}}
    image = {"type": "image", "source": {"type": "dream", "value": "x"}}
    report = await browser.order(
        do="decode",
        lines=[],
        frames=[
            b64encode(frame_event(event)).decode()
            for event in (
                wire.StateDelta(delta=(strange,)),
                wire.ToolCallResult(message_id="m", tool_call_id="c", content=[part, image]),
            )
        ],
    )
    delta, result = report["events"]
    assert delta["delta"] == [{"op": "6", "path": "/a"}]
    assert result["content"] == []
    assert len(report["written"]) == 2
    assert all("Dropped a content part" in line for line in report["written"])


async def test_a_key_that_is_the_name_of_the_prototype_is_lost(browser: Browser) -> None:
    output, heard = await read(browser, wire.StateSnapshot(snapshot={"__proto__": {"a": 1}, "b": 2}))
    assert output[0]["snapshot"] == {"__proto__": {"a": 1}, "b": 2}
    assert heard[0]["snapshot"] == {"b": 2}
