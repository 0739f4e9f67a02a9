"""Which records a search reads, and when they match."""

from hypothesis import given
from hypothesis import strategies as st

from trunkline.content import TextBlock
from trunkline.events import Text, Thought, UserMessage, encode_event
from trunkline.journal.search import PREFIXES, Query, search_page


def payloads(*events: Text | UserMessage | Thought) -> list[bytes]:
    return [encode_event(event) for event in reversed(events)]


@given(st.text(min_size=1, max_size=60).filter(lambda text: text.isalnum()), st.data())
def test_any_cutting_of_a_message_into_pieces_is_found(word: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(word)), max_size=5)))
    pieces = [word[a:b] for a, b in zip([0, *cuts], [*cuts, len(word)], strict=True)]
    said = payloads(*(Text(message_id="m", delta=piece) for piece in pieces))
    assert Query.parse(word).matches(said)


def test_pieces_of_different_messages_are_no_word() -> None:
    said = payloads(Text(message_id="a", delta="gar"), Text(message_id="b", delta="den"))
    assert not Query.parse("garden").matches(said)


def test_messages_that_are_told_in_turns_are_whole_each() -> None:
    told = [("a", "gar"), ("b", "win"), ("a", "den"), ("b", "dow")]
    said = payloads(*(Text(message_id=message, delta=delta) for message, delta in told))
    assert Query.parse("garden window").matches(said)


def test_the_payloads_that_are_searched_begin_as_they_are_written() -> None:
    events = (Text(message_id="m", delta="x"), UserMessage(message_id="m", content=(TextBlock(text="x"),)))
    assert all(encode_event(event).startswith(PREFIXES) for event in events)
    assert not encode_event(Thought(message_id="m", delta="x")).startswith(PREFIXES)


def test_what_is_damaged_or_has_no_text_is_passed_over() -> None:
    thought = payloads(Thought(message_id="t", delta="needle"))
    said = [b'{"type":"text"', *thought, *payloads(Text(message_id="m", delta="word"))]
    assert Query.parse("word").matches(said)
    assert not Query.parse("needle").matches(said)


def test_what_the_title_has_is_not_looked_for_in_the_texts() -> None:
    assert Query.parse("big Garden big").without("A GARDEN") == Query(("big",))
    assert Query.parse("garden").without(None) == Query(("garden",))


def test_no_session_is_a_page_without_a_next() -> None:
    assert search_page(Query.parse("x"), iter(()), lambda info: (), 5) == ([], None)
