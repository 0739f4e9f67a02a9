"""What is said in one lane, event by event."""

from typing import Any

import pytest
from tests.frontends.aisdk.responses import chunks_of, kinds

from trunkline import events as ev
from trunkline.content import ImageBlock, TextBlock
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.options import ConfigOption


def test_a_part_closes_when_another_kind_or_message_follows() -> None:
    chunks = chunks_of(
        ev.Thought(message_id="m1", delta="hm"),
        ev.Text(message_id="m1", delta="a"),
        ev.Text(message_id="m2", delta="b"),
        ev.Text(message_id="m1", delta="c"),
    )

    assert [(chunk["type"], chunk["id"]) for chunk in chunks if not chunk["type"].endswith("delta")] == [
        ("reasoning-start", "m1:0"), ("reasoning-end", "m1:0"), ("text-start", "m1:1"), ("text-end", "m1:1"),
        ("text-start", "m2:0"), ("text-end", "m2:0"), ("text-start", "m1:2"),
    ]  # fmt: skip


def test_a_signature_ends_the_reasoning_and_is_kept() -> None:
    chunks = chunks_of(
        ev.Thought(message_id="m1", delta="hm"),
        ev.Thought(message_id="m1", signature="sig"),
        ev.Thought(message_id="m1", delta="more"),
    )

    assert chunks[2]["providerMetadata"] == {"trunkline": {"signature": "sig"}}
    assert chunks[3] == {"type": "reasoning-start", "id": "m1:1"}


def test_what_an_agent_says_in_fields_of_its_own_is_provider_metadata() -> None:
    chunks = chunks_of(ev.Text(message_id="m1", delta="a", meta={"claudeCode": {"x": 1}, "flat": 2}))

    assert chunks[-1]["providerMetadata"] == {"claudeCode": {"x": 1}, "trunkline": {"flat": 2}}


def test_empty_pieces_say_nothing() -> None:
    assert chunks_of(ev.Text(message_id="m1", delta=""), ev.Thought(message_id="m1")) == []


def test_reasoning_and_sources_can_be_left_out() -> None:
    options = AisdkOptions(emit_reasoning=False, emit_sources=False)
    events = (
        ev.Thought(message_id="m1", delta="hm"), ev.Source(message_id="m1", source_id="s", url="https://a.b")
    )  # fmt: skip

    assert chunks_of(*events, options=options) == []


def test_media_and_sources_stand_between_the_texts_and_a_source_comes_once() -> None:
    source = ev.Source(message_id="m1", source_id="s", url="https://a.b", title="T", meta={"a": {"b": 1}})
    chunks = chunks_of(
        ev.Text(message_id="m1", delta="a"),
        ev.Media(message_id="m1", content=ImageBlock(mime_type="image/png", data="AAAA")),
        ev.Media(message_id="m1", content=TextBlock(text="block")),
        source,
        source,
        ev.Text(message_id="m1", delta="b"),
    )

    assert kinds(chunks) == [
        "text-start", "text-delta", "text-end", "file", "text-start", "text-delta", "text-end", "source-url",
        "text-start", "text-delta",
    ]  # fmt: skip
    assert chunks[3] == {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AAAA"}
    assert chunks[7]["providerMetadata"] == {"a": {"b": 1}}


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (
            ev.Plan(entries=(ev.PlanEntry(content="a"),)),
            {
                "type": "data-plan",
                "id": "plan",
                "data": {"entries": [{"content": "a", "status": "pending", "priority": "medium"}]},
            },
        ),
        (
            ev.ContextUsage(used=1, size=2, cost=ev.Cost(amount=0.5)),
            {
                "type": "data-usage",
                "id": "usage",
                "data": {"used": 1, "size": 2, "cost": {"amount": 0.5, "currency": "USD"}},
            },
        ),
        (
            ev.ConfigChanged(options=(ConfigOption(option_id="o", name="O", value=True),)),
            {
                "type": "data-config",
                "data": {"options": [{"optionId": "o", "name": "O", "value": True}]},
                "transient": True,
            },
        ),
        (ev.ConfigChanged(), {"type": "data-config", "data": {"options": []}, "transient": True}),
        (ev.CommandsChanged(), {"type": "data-commands", "data": {"commands": []}, "transient": True}),
        (ev.InfoChanged(), {"type": "data-info", "data": {"title": None}, "transient": True}),
        (ev.InfoChanged(title="T"), {"type": "data-info", "data": {"title": "T"}, "transient": True}),
        (
            ev.Notice(title="hm"),
            {"type": "data-notice", "data": {"severity": "info", "title": "hm"}, "transient": True},
        ),
        (ev.Custom(name="weather", value=None), {"type": "data-weather", "data": None}),
        (ev.Custom(name="plan", value=1), {"type": "data-custom", "data": {"name": "plan", "value": 1}}),
        (
            ev.Raw(source="acp", payload={"a": 1}),
            {"type": "data-raw", "data": {"source": "acp", "payload": {"a": 1}}, "transient": True},
        ),
    ],
)  # fmt: skip
def test_what_is_no_text_and_no_tool_is_a_data_part(event: Any, expected: Any) -> None:
    assert chunks_of(event) == [expected]


def test_unknown_events_are_sent_on_demand_and_an_applications_own_always() -> None:
    quiet = AisdkOptions()

    assert chunks_of(ev.Raw(source="acp", payload=1), options=quiet) == []
    assert kinds(chunks_of(ev.Raw(source=ev.APPLICATION, payload=1), options=quiet)) == ["data-raw"]


def test_an_activity_and_a_compaction_change_in_place() -> None:
    bad = ({"op": "remove", "path": "/none"},)
    chunks = chunks_of(
        ev.Activity(activity_id="a1", activity_type="t", content={"x": 1}),
        ev.Activity(
            activity_id="a1", activity_type="t", patch=({"op": "replace", "path": "/x", "value": 2},)
        ),
        ev.Activity(activity_id="a1", activity_type="t", patch=bad),
        ev.Compaction(compaction_id="k1", status="in_progress", summary="s"),
        ev.Compaction(compaction_id="k1", status="completed"),
    )

    assert [chunk["data"] for chunk in chunks] == [
        {"type": "t", "content": {"x": 1}},
        {"type": "t", "content": {"x": 2}},
        {"status": "in_progress", "summary": "s"},
        {"status": "completed", "summary": "s"},
    ]
    assert [chunk["id"] for chunk in chunks] == ["a1", "a1", "k1", "k1"]


def test_a_change_of_an_activity_of_an_earlier_message_is_told_as_it_is() -> None:
    patch = ({"op": "replace", "path": "/x", "value": 2},)
    (chunk,) = chunks_of(ev.Activity(activity_id="a1", activity_type="t", patch=patch))

    assert chunk["data"] == {"type": "t", "patch": list(patch)}


def test_an_activity_stays_in_the_message_where_it_began() -> None:
    chunks = chunks_of(
        ev.Activity(activity_id="a1", activity_type="t", content={"x": 1}),
        ev.Activity(activity_id="a1", activity_type="t", lane="l", content={"x": 2}),
    )

    assert kinds(chunks) == ["data-activity", "data-activity"]
