"""Any stream an agent may give: its responses are legal in any prefix, and from any place on."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.frontends.aisdk.responses import EVERYTHING, as_entries, responses_of, runs_of, turns_of
from tests.legal_sessions import LegalSession, legal_sessions
from tests.strategies import sloppy_streams

from trunkline import events as ev
from trunkline.conformance.aisdk.stream_rules import breaches
from trunkline.frontends.aisdk.encoder import AisdkEncoder
from trunkline.grammar import Grammar

NUMBERS: Any = st.sampled_from([5, 6, 7])
_TOOL = {"toolCallId", "providerExecuted", "dynamic"}
STRICT_KEYS_OF_5 = {
    "tool-input-start": _TOOL | {"toolName"},
    "tool-input-available": _TOOL | {"toolName", "input", "providerMetadata"},
    "tool-output-available": _TOOL | {"output", "preliminary"},
    "tool-output-error": _TOOL | {"errorText"},
    "finish": {"finishReason", "messageMetadata"},
    "abort": set[str](),
}
"""All keys that ``ai`` at 5.0.92 to 5.0.216 takes: any other one ends the chat with an error."""


@settings(max_examples=60)
@given(legal_sessions(), NUMBERS, st.integers(0, 60))
def test_any_prefix_is_closed_in_order_and_ends_once(story: LegalSession, version: Any, length: int) -> None:
    (first, *_) = turns_of(story.events)
    encoder = AisdkEncoder("t0", EVERYTHING, version=version)
    output = encoder.begin(0.0)
    for entry in as_entries(runs_of(first[:length])[0]):
        output += encoder.feed(entry)
    output += encoder.close()

    assert breaches(output, version) == []
    assert encoder.close() == []


@settings(max_examples=60)
@given(legal_sessions(), NUMBERS, st.integers(0, 60))
def test_an_encoder_that_is_primed_up_to_any_place_says_exactly_what_is_left(
    story: LegalSession, version: Any, place: int
) -> None:
    (turn, *_) = turns_of(story.events)
    whole, primed = (AisdkEncoder("t0", EVERYTHING, version=version) for _ in range(2))
    output = [whole.feed(entry) for entry in as_entries(turn)]
    for entry in as_entries(turn)[:place]:
        primed.feed(entry)

    assert [primed.feed(entry) for entry in as_entries(turn)[place:]] == output[place:]


@settings(max_examples=60)
@given(legal_sessions(), NUMBERS)
def test_many_events_at_once_say_what_they_say_one_by_one(story: LegalSession, version: Any) -> None:
    (turn, *_) = turns_of(story.events)
    one_by_one, at_once = (AisdkEncoder("t0", EVERYTHING, version=version) for _ in range(2))
    output = [chunk for entry in as_entries(turn) for chunk in one_by_one.feed(entry)]

    assert at_once.feed_all(as_entries(turn)) == output


@settings(max_examples=60)
@given(sloppy_streams(), NUMBERS)
def test_whatever_an_agent_says_the_responses_are_legal(events: list[ev.Event], version: Any) -> None:
    grammar = Grammar("sloppy")
    legal = [out for event in events for out in grammar.feed(event)] + grammar.close()
    for made in responses_of(legal, version):
        for chunks in made.chunks:
            found = breaches(chunks, version)
            # A response that goes on with a message may speak of calls of the one before.
            assert [one for one in found if not one.endswith("of an unknown call")] == []
            if version == 5:
                assert [one for one in chunks if not _is_strict(one)] == []


def _is_strict(chunk: Any) -> bool:
    known = STRICT_KEYS_OF_5.get(chunk["type"])
    return known is None or set(chunk) <= known | {"type"}


@settings(max_examples=40)
@given(legal_sessions(), NUMBERS)
def test_no_chunk_is_changed_after_it_was_given(story: LegalSession, version: Any) -> None:
    (turn, *_) = turns_of(story.events)
    encoder = AisdkEncoder("t0", EVERYTHING, version=version)
    given_out: list[Any] = []
    copies: list[str] = []
    for entry in as_entries(turn):
        chunks = encoder.feed(entry)
        given_out += chunks
        copies += [repr(chunk) for chunk in chunks]

    assert [repr(chunk) for chunk in given_out] == copies
