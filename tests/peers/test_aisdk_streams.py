"""The AI SDK itself reads our streams, at 5, 6 and 7: each is legal, and means what the agent said.

What it folds is also what our own fold gives, and passes its own check of messages that a page sends back.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.demos.scenario_runs import play
from tests.frontends.aisdk.meaning import meaning_of_message, meaning_of_turn
from tests.frontends.aisdk.responses import (
    EVERYTHING,
    as_entries,
    responses_of,
    runs_of,
    turns_of,
    with_waits,
)
from tests.legal_sessions import LegalSession, legal_sessions
from tests.peers.aisdk import AiSdk
from tests.protocols.acp import recorded
from tests.strategies import json_values, sloppy_streams
from trunkline import events as ev
from trunkline.demos.scenarios import SCENARIOS
from trunkline.folding import fold
from trunkline.frontends.aisdk import fold_ui_messages
from trunkline.frontends.aisdk.encoder import AisdkEncoder
from trunkline.frontends.aisdk.message_reducer import MessageReducer
from trunkline.grammar import Grammar
from trunkline.protocols.aisdk.wire import CHUNK_KEYS, VERSIONS
from trunkline.questions import Permission

NUMBERS: Any = st.sampled_from([5, 6, 7])
GENERATED = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def aisdk(root: Path) -> Iterator[AiSdk]:
    """One node process for all tests of the module."""
    sdk = AiSdk(root)
    yield sdk
    sdk.close()


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def check(aisdk: AiSdk, events: list[Any], version: Any) -> None:
    """Let the AI SDK read the responses of a session: legal, what was meant, and what we fold."""
    ours: dict[str, list[Any]] = {}
    for message in fold_ui_messages(events, EVERYTHING, version=version):
        ours.setdefault(message["id"], []).append(plain(message))
    before: list[Any] = []
    for responses, turn in zip(responses_of(events, version), turns_of(events), strict=True):
        problems, message = aisdk.read(version, responses.chunks, responses.answers)
        assert problems == []
        if len(turn) > 1:
            assert message == ours[responses.turn_id].pop(0)
        meant = plain(meaning_of_turn(turn, fold(before).state))
        assert plain(meaning_of_message(message, turn)) == meant
        before += turn


@pytest.mark.parametrize("version", [5, 6, 7])
@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_scenario_is_read_as_the_agent_meant_it(aisdk: AiSdk, name: str, version: Any) -> None:
    events = await play(name)

    check(aisdk, events, version)
    check(aisdk, with_waits(events), version)


@pytest.mark.parametrize("version", [6, 7])
@pytest.mark.parametrize("name", ["permission", "permission-twice", "edit"])
async def test_a_page_sends_its_approvals_by_itself(aisdk: AiSdk, name: str, version: Any) -> None:
    (made,) = responses_of(with_waits(await play(name)), version)
    problems, _ = aisdk.read(version, made.chunks, made.answers)

    assert problems == []
    assert aisdk.sends == [True] * (len(made.chunks) - 1)
    assert aisdk.sends


@pytest.mark.parametrize("version", [6, 7])
def test_a_page_sends_the_approval_of_a_subagents_call_by_itself(aisdk: AiSdk, version: Any) -> None:
    lane: Any = {"turn_id": "t1", "lane": "a"}
    events: list[ev.Event] = [
        ev.TurnStarted(turn_id="t1"),
        ev.ToolCall(turn_id="t1", call_id="c1", name="task"),
        ev.ToolUpdate(turn_id="t1", call_id="c1", status="in_progress"),
        ev.SubagentStarted(**lane, name="helper", parent_call_id="c1"),
        ev.ToolCall(**lane, call_id="c2", name="write"),
        ev.Asked(**lane, question_id="q1", question=Permission(call_id="c2")),
        ev.TurnSuspended(turn_id="t1", question_ids=("q1",)),
        ev.Answered(**lane, question_id="q1", outcome="accepted"),
        ev.TurnResumed(turn_id="t1"),
        ev.ToolUpdate(**lane, call_id="c2", status="completed", raw_output=1),
        ev.SubagentFinished(**lane),
        ev.ToolUpdate(turn_id="t1", call_id="c1", status="completed"),
        ev.TurnFinished(turn_id="t1"),
    ]
    (made,) = responses_of(events, version)
    problems, _ = aisdk.read(version, made.chunks, made.answers)

    assert problems == []
    assert aisdk.sends == [True]


@pytest.mark.parametrize("version", [5, 6, 7])
async def test_a_page_sends_the_output_of_its_own_tool_by_itself(aisdk: AiSdk, version: Any) -> None:
    (made,) = responses_of(with_waits(await play("client-tool")), version, client_tools={"pick_colour"})
    call_id = next(chunk["toolCallId"] for chunk in made.chunks[0] if "toolCallId" in chunk)
    problems, message = aisdk.read(version, made.chunks, outputs={call_id: "blue"})

    assert problems == []
    assert aisdk.sends == [True]
    (part,) = [part for part in message["parts"] if part["type"] == "tool-pick_colour"]
    assert part["state"] == "output-available"


@pytest.mark.parametrize("version", [5, 6, 7])
@pytest.mark.parametrize("name", [name for name in recorded.NAMES if name.endswith("-turn")])
def test_a_turn_of_a_real_agent_is_read_as_the_agent_meant_it(aisdk: AiSdk, name: str, version: Any) -> None:
    grammar = Grammar(name)
    events = [out for event in recorded.decode(name) for out in grammar.feed(event)]

    check(aisdk, events, version)


@GENERATED
@given(story=legal_sessions(), version=NUMBERS)
def test_a_generated_session_is_read_as_it_was_meant(aisdk: AiSdk, story: LegalSession, version: Any) -> None:
    check(aisdk, [event for event in story.events if not isinstance(event, ev.Rewound)], version)


@GENERATED
@given(events=sloppy_streams(), version=NUMBERS)
def test_whatever_an_agent_says_the_stream_is_legal(
    aisdk: AiSdk, events: list[ev.Event], version: Any
) -> None:
    grammar = Grammar("sloppy")
    legal = [out for event in events for out in grammar.feed(event)] + grammar.close()
    for responses in responses_of(legal, version):
        problems, _ = aisdk.read(version, responses.chunks, responses.answers)
        assert problems == []


@GENERATED
@given(story=legal_sessions(), version=NUMBERS, length=st.integers(0, 60))
def test_any_prefix_ends_legally_and_folds_the_same(
    aisdk: AiSdk, story: LegalSession, version: Any, length: int
) -> None:
    (first, *_) = turns_of(story.events)
    run = runs_of(first[:length])[0]
    encoder = AisdkEncoder("t0", EVERYTHING, version=version)
    chunks = encoder.begin(0.0)
    for entry in as_entries(run):
        chunks += encoder.feed(entry)
    chunks += encoder.close()
    problems, message = aisdk.read(version, [chunks])
    reducer = MessageReducer("t0", VERSIONS[version])
    reducer.feed_all(chunks)

    assert problems == []
    assert message == plain(reducer.message)


@GENERATED
@given(story=legal_sessions(), version=NUMBERS, place=st.integers(0, 60))
def test_a_response_may_begin_anywhere(aisdk: AiSdk, story: LegalSession, version: Any, place: int) -> None:
    (turn, *_) = turns_of(story.events)
    (run, *_) = runs_of(turn)
    place = min(place, len(run) - 1)
    first, second = AisdkEncoder("t0", version=version), AisdkEncoder("t0", version=version)
    seen = first.begin()
    for entry in as_entries(run[:place]):
        seen += first.feed(entry)
        second.feed(entry)
    rest = [*second.begin(), *second.announce()]
    for entry in as_entries(run[place:]):
        rest += second.feed(entry)
    problems, _ = aisdk.read(version, [seen, rest + second.close()])

    # The first response was cut off: what it left open stays so.
    assert [one for one in problems if not one.startswith("lint")] == []


@GENERATED
@given(value=json_values, data=st.data())
def test_arguments_are_shown_while_they_arrive_as_the_aisdk_shows_them(
    aisdk: AiSdk, value: Any, data: st.DataObject
) -> None:
    text = json.dumps(value, ensure_ascii=False)
    shown = text[: data.draw(st.integers(1, len(text)))]
    chunks: list[Any] = [
        {"type": "start", "messageId": "t0"},
        {"type": "tool-input-start", "toolCallId": "c", "toolName": "n", "dynamic": True},
        {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": shown},
        {"type": "finish"},
    ]
    problems, message = aisdk.read(7, [chunks])
    reducer = MessageReducer("t0", VERSIONS[7])
    reducer.feed_all(chunks)

    assert problems == []
    # It stumbles over escapes in keys and over 1e+16; earlier versions over more than that.
    if not {"\\", "+"} & set(text):
        assert message == plain(reducer.message)


BAD: dict[str, list[Any]] = {
    "an unknown type": [{"type": "start"}, {"type": "nonsense"}, {"type": "finish"}],
    "a missing delta": [{"type": "start"}, {"type": "text-delta", "id": "1"}, {"type": "finish"}],
    "a reason of our own": [{"type": "start"}, {"type": "finish", "finishReason": "end_turn"}],
    "a delta before its start": [
        {"type": "start"}, {"type": "text-start", "id": "2"}, {"type": "text-delta", "id": "1", "delta": "a"},
        {"type": "finish"},
    ],
    "an output without its call": [
        {"type": "start"}, {"type": "tool-output-available", "toolCallId": "c", "output": 1, "dynamic": True},
        {"type": "finish"},
    ],
    "a missing output": [
        {"type": "start"},
        {"type": "tool-input-available", "toolCallId": "c", "toolName": "n", "input": 1, "dynamic": True},
        {"type": "tool-output-available", "toolCallId": "c"}, {"type": "finish"},
    ],
    "flat metadata": [
        {"type": "start"}, {"type": "text-start", "id": "1", "providerMetadata": {"x": 1}},
        {"type": "finish"},
    ],
    "a part that is left open": [{"type": "start"}, {"type": "text-start", "id": "1"}, {"type": "finish"}],
    "no end": [{"type": "start"}],
}  # fmt: skip


@pytest.mark.parametrize("version", [5, 6, 7])
@pytest.mark.parametrize("name", BAD)
def test_the_reader_finds_what_is_wrong(aisdk: AiSdk, name: str, version: int) -> None:
    problems, _ = aisdk.read(version, [BAD[name]])

    assert problems


def test_each_version_takes_exactly_the_chunks_that_its_table_has(aisdk: AiSdk) -> None:
    values: dict[str, Any] = {"parts": [], "approved": True, "messageMetadata": {}, "kind": "a.b"}
    for number, version in VERSIONS.items():
        taken: set[str] = set()
        for kind, keys in CHUNK_KEYS.items():
            chunk = {"type": kind, **{key: values.get(key, "x") for key in keys}}
            problems, _ = aisdk.read(number, [[{"type": "start"}, chunk, {"type": "finish"}]])
            if not any(one.startswith("schema") for one in problems):
                taken.add(kind)
            for key in keys:
                less = {name: value for name, value in chunk.items() if name != key}
                problems, _ = aisdk.read(number, [[{"type": "start"}, less, {"type": "finish"}]])
                assert any(one.startswith("schema") for one in problems) or key == "messageMetadata", (
                    kind,
                    key,
                )
        assert taken == version.chunks
