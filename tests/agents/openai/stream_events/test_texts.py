"""Texts, refusals, reasoning and sources: in pieces, whole, or both."""

from typing import Any

import pytest
from agents.testing import ModelStep
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import (
    ResponseOutputMessage,
    ResponseOutputRefusal,
    ResponseReasoningItem,
)
from openai.types.responses.response_reasoning_item import Content, Summary

from tests.agents.openai.stream_events import runs
from tests.agents.openai.stream_events.runs import completed, created, done, message, raw
from trunkline import events as ev
from trunkline.conversation import SourcePart, ThoughtPart

TEXT = "response.output_text.delta"
SUMMARY = "response.reasoning_summary_text.delta"
REASONING = "response.reasoning_text.delta"


def reasoning(**fields: Any) -> dict[str, Any]:
    return {"id": "__fake_id__", "type": "reasoning", "summary": [], **fields}


@given(st.lists(st.text("ab é", min_size=1), max_size=5), st.booleans(), st.booleans())
def test_text_is_said_once_however_it_comes(pieces: list[str], item: bool, whole: bool) -> None:
    text = "".join(pieces)
    deltas = [raw(TEXT, delta=piece) for piece in pieces]
    ends = [done(message(text))] * item
    played = runs.translate(created(), *deltas, *ends, completed([message(text)] if whole else []))
    assert played.text == text


def test_text_that_comes_only_with_the_whole_response_is_said() -> None:
    assert runs.translate(completed([message("all at once")])).text == "all at once"


def test_the_end_of_a_text_that_was_cut_short_is_added() -> None:
    played = runs.translate(created(), raw(TEXT, delta="be"), raw("response.output_text.done", text="begin"))
    assert played.text == "begin"


def test_text_and_a_call_that_come_side_by_side_are_one_message() -> None:
    call = {"id": "__fake_id__", "type": "function_call", "call_id": "c", "name": "f", "arguments": ""}
    played = runs.translate(
        created(),
        raw(TEXT, delta="a", output_index=1),
        runs.added(call, 0),
        raw(TEXT, delta="b", output_index=1),
        completed(),
    )
    (one,) = played.folded.messages
    assert (runs.text_of(one), played.call("c").message_id) == ("ab", one.message_id)


# -- refusals ---------------------------------------------------------------------------------------


async def test_a_refusal_is_text_and_the_reason_to_stop() -> None:
    refused = ResponseOutputMessage(
        id="x",
        type="message",
        role="assistant",
        status="completed",
        content=[ResponseOutputRefusal(type="refusal", refusal="I will not.")],
    )
    played = await runs.play(runs.agent(ModelStep(output=[refused])))
    assert (played.text, played.stop) == ("I will not.", "refusal")


def test_a_refusal_that_comes_only_whole_is_said() -> None:
    part = {"type": "refusal", "refusal": "no"}
    for end in (raw("response.refusal.done", refusal="no"), raw("response.content_part.done", part=part)):
        played = runs.translate(created(), end)
        assert (played.text, played.stop) == ("no", "refusal")


# -- reasoning --------------------------------------------------------------------------------------


async def test_of_a_summary_and_a_text_only_the_first_is_shown() -> None:
    item = ResponseReasoningItem(
        id="r",
        type="reasoning",
        summary=[Summary(type="summary_text", text="short")],
        content=[Content(type="reasoning_text", text="long")],
    )
    played = await runs.play(runs.agent([item, runs.assistant_message("so")]))
    (one,) = played.folded.messages
    assert (runs.thoughts_of(one), runs.text_of(one)) == ("short", "so")


def test_reasoning_text_is_shown_where_there_is_no_summary() -> None:
    item = reasoning(content=[{"type": "reasoning_text", "text": "long"}])
    streamed = runs.translate(created(), raw(REASONING, delta="long"), done(item))
    whole = runs.translate(created(), done(item))
    assert (
        runs.thoughts_of(streamed.folded.messages[0]) == runs.thoughts_of(whole.folded.messages[0]) == "long"
    )


def test_parts_of_a_summary_stand_apart() -> None:
    parts = [raw(SUMMARY, delta=delta, summary_index=at) for at, delta in ((0, "one"), (0, "."), (1, "two"))]
    item = reasoning(summary=[{"type": "summary_text", "text": text} for text in ("one.", "two")])
    for items in ([*parts, done(item)], [done(item)]):
        played = runs.translate(created(), *items)
        assert runs.thoughts_of(played.folded.messages[0]) == "one.\n\ntwo"


def test_two_reasoning_items_stand_apart_but_not_across_a_call() -> None:
    call = {"id": "c", "type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    thoughts = [raw(SUMMARY, delta=f"t{at}", output_index=at) for at in (0, 1, 3)]
    played = runs.translate(created(), *thoughts[:2], done(call, 2), thoughts[2])
    assert [event.delta for event in played.of(ev.Thought)] == ["t0", "\n\nt1", "t3"]


def test_reasoning_after_a_text_begins_the_next_message() -> None:
    played = runs.translate(
        created(),
        *(raw(SUMMARY, delta="t0"), raw(TEXT, delta="a", output_index=1)),
        *(raw(SUMMARY, delta="t2", output_index=2), raw(TEXT, delta="b", output_index=3)),
    )
    said = [(runs.thoughts_of(one), runs.text_of(one)) for one in played.folded.messages]
    assert said == [("t0", "a"), ("t2", "b")]


def test_encrypted_reasoning_seals_the_thought() -> None:
    item = reasoning(summary=[{"type": "summary_text", "text": "so"}], encrypted_content="sealed")
    played = runs.translate(
        created(), raw(SUMMARY, delta="so"), done(item), raw(TEXT, delta="a", output_index=1)
    )
    first = played.folded.messages[0].parts[0]
    assert isinstance(first, ThoughtPart)
    assert (first.text, first.signature) == ("so", "sealed")


# -- sources ----------------------------------------------------------------------------------------

PAGE = {"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 0, "end_index": 1}


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_an_annotation_is_a_source_once(live: bool, whole: bool) -> None:
    items: list[Any] = [created(), raw(TEXT, delta="x")]
    items += [raw("response.output_text.annotation.added", annotation=PAGE)] * live
    items += [done(message("x", annotations=[PAGE]))] * whole
    played = runs.translate(*items)
    sources = played.of(ev.Source)
    assert [(one.url, one.title) for one in sources] == [("https://a.example", "A")] * (live or whole)
    assert all(one.meta == {"citation": {"start_index": 0, "end_index": 1}} for one in sources)


def test_files_that_are_cited_are_documents() -> None:
    notes = [
        {"type": "file_citation", "file_id": "f1", "filename": "a.pdf", "index": 0},
        {"type": "file_path", "file_id": "f2", "index": 0},
        {"type": "container_file_citation", "file_id": "f3", "filename": "b.csv", "container_id": "k",
         "start_index": 0, "end_index": 1},
    ]  # fmt: skip
    played = runs.translate(created(), done(message("x", annotations=notes)))
    parts = [part for part in played.folded.messages[0].parts if isinstance(part, SourcePart)]
    found = [(part.source_id, part.document) for part in parts]
    assert found == [("f1", "a.pdf"), ("f2", "f2"), ("f3", "b.csv")]


def test_an_annotation_of_an_unknown_kind_is_kept() -> None:
    note = {"type": "raw_response_event", "data": {"type": "response.output_text.annotation.added",
            "annotation": {"type": "new"}}}  # fmt: skip
    (kept,) = runs.translate(created(), raw(TEXT, delta="x"), note).of(ev.Raw)
    assert kept.payload == {"type": "new"}
