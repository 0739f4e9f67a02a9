"""Events are frozen values that survive their journey through JSON."""

import re
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import event_kinds, json_values, structs_of
from trunkline import events as ev
from trunkline.events import decode_event, encode_event


def tag_of(kind: type[ev.Event]) -> Any:
    return kind.__struct_config__.tag


@pytest.mark.parametrize("kind", event_kinds())
def test_any_event_of_a_kind_comes_back_as_it_went(kind: type[ev.Event]) -> None:
    @settings(max_examples=30)
    @given(structs_of(kind))
    def comes_back(event: ev.Event) -> None:
        assert decode_event(encode_event(event)) == event
        assert decode_event(encode_event(event).decode()) == event

    comes_back()


@given(st.one_of([structs_of(kind) for kind in event_kinds()]))
def test_an_event_is_a_value_that_cannot_be_changed(event: Any) -> None:
    assert msgspec.structs.replace(event) == event
    with pytest.raises(AttributeError):
        event.turn_id = "other"


@given(st.dictionaries(st.text(max_size=3), json_values, max_size=3))
def test_what_we_do_not_know_becomes_raw(payload: dict[str, Any]) -> None:
    payload["type"] = "of_a_newer_version"
    data = msgspec.json.encode(payload)
    assert decode_event(data) == ev.Raw(source="trunkline", payload=payload)


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "text", "message_id": "m1"},
        {"type": "text", "message_id": 1, "delta": "a"},
        {"type": "plan", "entries": [{"content": "a", "status": 7}]},
        {"message_id": "m1", "delta": "a"},
        [],
        None,
        "text",
        7,
    ],
)
def test_what_does_not_fit_becomes_raw_and_is_kept_whole(payload: Any) -> None:
    assert decode_event(msgspec.json.encode(payload)) == ev.Raw(source="trunkline", payload=payload)


@pytest.mark.parametrize(
    ("payload", "event"),
    [
        (
            {"type": "tool_update", "call_id": "c", "status": 3, "kind": 4, "output": "o"},
            ev.ToolUpdate(call_id="c", output="o", meta={"unread": {"status": 3, "kind": 4}}),
        ),
        (
            {"type": "turn_failed", "code": "c", "message": "m", "fault": "nobody", "meta": {"a": 1}},
            ev.TurnFailed(code="c", message="m", meta={"a": 1, "unread": {"fault": "nobody"}}),
        ),
        (
            {"type": "answered", "question_id": "q", "outcome": "postponed"},
            ev.Answered(question_id="q", outcome="cancelled", meta={"unread": {"outcome": "postponed"}}),
        ),
    ],
)
def test_a_word_of_a_newer_version_is_kept_and_its_event_still_counts(payload: Any, event: ev.Event) -> None:
    read = decode_event(msgspec.json.encode(payload))
    assert read == event
    assert decode_event(ev.encode_event(read)) == read


def test_a_record_that_cannot_be_read_still_belongs_to_its_turn() -> None:
    payload = {"type": "of_a_newer_version", "turn_id": "t", "lane": "a"}
    read = decode_event(msgspec.json.encode(payload))
    assert read == ev.Raw(turn_id="t", lane="a", source="trunkline", payload=payload)


def test_a_field_of_a_newer_version_is_passed_over() -> None:
    data = b'{"type":"text","message_id":"m1","delta":"a","mood":"good"}'
    assert decode_event(data) == ev.Text(message_id="m1", delta="a")


@pytest.mark.parametrize("data", [b"", b"{", b'{"type":"text"', b"\xff", b'{"type":"text"} {}'])
def test_what_is_not_json_is_an_error(data: bytes) -> None:
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
        decode_event(data)


def test_the_union_holds_every_event() -> None:
    assert set(get_args(ev.AnyEvent)) == set(ev.Event.__subclasses__())
    assert all(not kind.__subclasses__() for kind in event_kinds())


def test_tags_are_unique_and_spell_the_name_of_their_class() -> None:
    assert tag_of(ev.ContextUsage) == "usage", "journals hold this word; ``Usage`` is the earlier name"
    assert ev.Usage is ev.ContextUsage
    for kind in set(event_kinds()) - {ev.ContextUsage}:
        assert tag_of(kind) == re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
    assert len({tag_of(kind) for kind in event_kinds()}) == len(event_kinds())


@pytest.mark.parametrize("kind", event_kinds())
def test_a_kind_is_frozen_keyword_only_documented_and_leaves_defaults_out(kind: type[ev.Event]) -> None:
    config = kind.__struct_config__
    assert config.frozen
    assert config.omit_defaults
    assert kind.__doc__
    build: Any = kind
    with pytest.raises(TypeError, match="positional"):
        build("t1")


def test_everything_public_is_exported() -> None:
    made_here = {
        name
        for name, value in vars(ev).items()
        if not name.startswith("_") and getattr(value, "__module__", ev.__name__) == ev.__name__
    }
    aliases = {"AnyEvent", "Delta", "StepKind", "StopReason", "ToolKind", "ToolStatus", "encode_event"}
    assert set(ev.__all__) == {
        name for name in made_here if isinstance(getattr(ev, name), type)
    } | aliases | {"APPLICATION", "FINAL_STATUSES", "decode_event"}
    assert len(ev.__all__) == len(set(ev.__all__))


def test_deltas_are_the_events_that_only_append() -> None:
    assert set(get_args(ev.Delta)) == {ev.Text, ev.Thought, ev.ToolInput, ev.TerminalOutput}


def test_the_final_statuses_are_statuses() -> None:
    assert set(get_args(ev.ToolStatus)) - ev.FINAL_STATUSES == {"pending", "in_progress"}


def test_what_is_left_at_its_default_takes_no_room() -> None:
    assert (
        encode_event(ev.Text(message_id="m1", delta="a")) == b'{"type":"text","message_id":"m1","delta":"a"}'
    )
    assert encode_event(ev.TurnStarted(turn_id="t1")) == b'{"type":"turn_started","turn_id":"t1"}'


def test_a_stop_reason_is_always_told() -> None:
    assert encode_event(ev.TurnFinished()) == b'{"type":"turn_finished","stop_reason":"end_turn"}'


@pytest.mark.parametrize("value", [0, False, "", [], {}])
def test_an_empty_value_is_not_taken_for_none(value: Any) -> None:
    event = ev.ToolUpdate(call_id="c1", input=value, raw_output=value)
    assert decode_event(encode_event(event)) == event
