"""Any session an agent may give: its messages are legal in any prefix, and from any place on."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.frontends.unified.sessions import as_entries, folded
from tests.legal_sessions import LegalSession, legal_sessions, rechunked
from tests.strategies import sloppy_streams

from trunkline import events as ev
from trunkline.cursor import Entry
from trunkline.frontends.unified.encoder import UnifiedEncoder
from trunkline.grammar import Grammar
from trunkline.protocols.unified.wire import UnifiedMessage, as_message, is_unified_message, to_dict


def breaches(messages: list[UnifiedMessage]) -> list[str]:
    """What a client could not understand."""
    found: list[str] = []
    status = "idle"
    ids: set[str] = set()
    results = starts = 0
    for message in messages:
        made = to_dict(message)
        if not is_unified_message(made) or as_message(made) != message:
            found.append(f"no message: {made}")
        if message.id in ids:
            found.append(f"the id {message.id} comes twice")
        ids.add(message.id)
        metadata = message.metadata
        if message.type == "status_change" and "subtype" not in metadata:
            starts += metadata["status"] == "running" and status == "idle"
            status = metadata["status"]
        if message.type == "result":
            results += 1
            if status == "idle":
                found.append("a result without a turn")
    if status != "idle" or results != starts:
        found.append(f"{starts} turns, {results} results, and the last status is {status}")
    return found


def all_of(encoder: UnifiedEncoder, entries: list[Entry]) -> list[UnifiedMessage]:
    return [message for entry in entries for message in encoder.feed(entry)]


@settings(max_examples=60)
@given(legal_sessions(), st.integers(0, 90))
def test_any_prefix_is_closed_with_one_result_for_each_turn(story: LegalSession, length: int) -> None:
    encoder = UnifiedEncoder("s1")
    output = all_of(encoder, as_entries(story.events[:length])) + encoder.close()
    assert breaches(output) == []
    assert encoder.close() == []


@settings(max_examples=60)
@given(sloppy_streams())
def test_whatever_an_agent_says_the_messages_are_legal(events: list[ev.Event]) -> None:
    grammar = Grammar("sloppy")
    legal = [out for event in events for out in grammar.feed(event)] + grammar.close()
    encoder = UnifiedEncoder("s1")
    assert breaches(all_of(encoder, as_entries(legal)) + encoder.close()) == []


def start_of_turn(entries: list[Entry], place: int) -> int:
    """Where the turn begins that a place is in; the place itself between turns."""
    for at in range(place - 1, -1, -1):
        if isinstance(entries[at].event, ev.TurnFinished | ev.TurnFailed):
            return place
        if isinstance(entries[at].event, ev.TurnStarted):
            return at
    return place


@settings(max_examples=80)
@given(legal_sessions(), st.integers(0, 90))
def test_an_encoder_that_is_primed_from_the_turns_start_says_exactly_what_is_left(
    story: LegalSession, wanted: int
) -> None:
    entries = as_entries(story.events)
    place = min(wanted, len(entries))
    whole, primed = UnifiedEncoder("s1"), UnifiedEncoder("s1")
    output = [whole.feed(entry) for entry in entries]
    for entry in entries[start_of_turn(entries, place) : place]:
        primed.feed(entry)
    assert [primed.feed(entry) for entry in entries[place:]] == output[place:]


@settings(max_examples=60)
@given(legal_sessions(), st.data())
def test_other_pieces_of_the_same_stream_fold_to_the_same(story: LegalSession, data: st.DataObject) -> None:
    output: list[Any] = list(story.events)
    whole, pieces = UnifiedEncoder("s1"), UnifiedEncoder("s1")
    one = folded(all_of(whole, as_entries(output)))
    other = folded(all_of(pieces, as_entries(data.draw(rechunked(output)))))
    assert one == other
