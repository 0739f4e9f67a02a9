"""Any stream an agent may give: what the encoder makes of it is legal, and means the same."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.frontends.agui.client_runs import comparable
from tests.legal_sessions import LegalSession, legal_sessions, rechunked
from tests.session_parts import runs_of, turns_of
from tests.strategies import sloppy_streams

from trunkline import events as ev
from trunkline.conformance.agui.event_verifier import breaches, plain
from trunkline.conformance.agui.reference_client import JsonObject, ReferenceClient
from trunkline.conversation import Conversation
from trunkline.cursor import Entry
from trunkline.folding import fold
from trunkline.frontends.agui.decoder import read_input
from trunkline.frontends.agui.encoder import AguiEncoder
from trunkline.frontends.agui.history import ThreadSnapshot
from trunkline.frontends.agui.options import AguiOptions
from trunkline.grammar import Grammar
from trunkline.protocols.agui.messages import snapshot_of

EVERYTHING = AguiOptions(emit_activities=True, emit_raw=True, max_ui_payload_size=0)


def entries(events: list[Any]) -> list[Entry]:
    return [Entry(seq=at, offset=0, fence=1, at=float(at), event=event) for at, event in enumerate(events)]


class Thread:
    """A client that follows a session turn by turn, and run by run."""

    def __init__(self, options: AguiOptions = EVERYTHING, *, modern: bool = True) -> None:
        self.client = ReferenceClient()
        self.options = options
        self.modern = modern
        self.events: list[ev.Event] = []
        self.count = 0

    def follow(self, turn: list[Any]) -> None:
        state = fold(self.events).state
        seen: list[Any] = []
        for run in runs_of(turn):
            for event in run:
                if isinstance(event, ev.UserMessage) and event.prompt_id is None:
                    self.client.say(snapshot_of(fold([event]))[0]["content"], event.message_id)
            self.events += run
            self._run(seen, run, state)
            seen += run

    def _run(self, seen: list[Any], run: list[Any], state: Any) -> None:
        self.count += 1
        encoder = AguiEncoder("t1", f"r{self.count}", self.options, modern=self.modern, state=state)
        for entry in entries(seen):
            encoder.feed(entry)
        output = plain(encoder.begin(0.0))
        for entry in entries(run):
            output += plain(encoder.feed(entry))
        output += plain(encoder.close())
        if encoder.needs_snapshot or encoder.has_joined:
            messages = plain(snapshot_of(self.conversation, modern=self.modern, with_metadata=True))
            output.insert(-1, {"type": "MESSAGES_SNAPSHOT", "messages": messages})
        assert breaches(output) == []
        self.client.take(output)

    @property
    def conversation(self) -> Conversation:
        return fold(self.events)

    def held(self) -> list[JsonObject]:
        return plain(snapshot_of(self.conversation, modern=self.modern, with_metadata=True))


def by_id(messages: list[JsonObject]) -> dict[str, JsonObject]:
    """Give messages by id; a title that changed after it was told is news for the next snapshot."""
    output: dict[str, JsonObject] = {}
    for message in comparable(messages):
        assert message["id"] not in output
        calls = [{**call, "metadata": None} for call in message.get("toolCalls", ())]
        output[message["id"]] = {**message, **({"toolCalls": calls} if calls else {})}
    return output


def order(messages: list[JsonObject], lane: str | None) -> tuple[list[str], list[str]]:
    """The messages of a lane, and the calls without one: those may come between two words of a message."""
    spoken = [
        message
        for message in messages
        if message["role"] in ("user", "assistant") and message.get("subagentRunId") == lane
    ]
    loose = [m["id"] for m in spoken if [call["id"] for call in m.get("toolCalls", ())] == [m["id"]]]
    return [message["id"] for message in spoken if message["id"] not in loose], loose


def check_folds(thread: Thread) -> None:
    client = [message for message in thread.client.messages if message["role"] != "activity"]
    ours = thread.held()
    assert by_id(client) == by_id(ours)
    for lane in {message.get("subagentRunId") for message in ours}:
        assert order(client, lane) == order(ours, lane)
    for at, message in enumerate(client):
        if message["role"] == "tool":
            assert client[at - 1]["role"] in ("tool", "assistant"), "a result stands behind its call"
    state = thread.conversation.state
    assert thread.client.state == ({} if state is None else state)


@settings(max_examples=50)
@given(legal_sessions())
def test_what_a_client_folds_run_by_run_is_what_the_session_means(story: LegalSession) -> None:
    thread = Thread()
    for turn in turns_of([event for event in story.events if not isinstance(event, ev.Rewound)]):
        thread.follow(turn)

    check_folds(thread)


@settings(max_examples=50)
@given(legal_sessions(), st.data())
def test_other_pieces_of_the_same_stream_fold_to_the_same(story: LegalSession, data: st.DataObject) -> None:
    output = [event for event in story.events if not isinstance(event, ev.Rewound)]
    whole, pieces = Thread(), Thread()
    for turn in turns_of(output):
        whole.follow(turn)
    for turn in turns_of(data.draw(rechunked(output))):
        pieces.follow(turn)

    assert pieces.client.messages == whole.client.messages
    assert pieces.client.state == whole.client.state
    assert {**pieces.client.terminal, "timestamp": 0} == {**whole.client.terminal, "timestamp": 0}


@settings(max_examples=50)
@given(legal_sessions(), st.integers(0, 60), st.booleans())
def test_any_prefix_is_closed_in_order_and_ends_once(story: LegalSession, length: int, modern: bool) -> None:
    (first, *_) = turns_of(story.events)
    encoder = AguiEncoder("t1", "r1", EVERYTHING, modern=modern)
    output = encoder.begin(0.0)
    for run in runs_of(first[:length])[:1]:
        for entry in entries(run):
            output += encoder.feed(entry)
    output += encoder.close()

    assert breaches(plain(output)) == []
    assert encoder.close() == []


@settings(max_examples=50)
@given(legal_sessions(), st.integers(0, 60))
def test_an_encoder_that_is_primed_up_to_any_place_says_exactly_what_is_left(
    story: LegalSession, place: int
) -> None:
    (turn, *_) = turns_of(story.events)
    whole, primed = AguiEncoder("t1", "r1", EVERYTHING), AguiEncoder("t1", "r1", EVERYTHING)
    output = [whole.feed(entry) for entry in entries(turn)]
    for entry in entries(turn)[:place]:
        primed.feed(entry)

    assert [primed.feed(entry) for entry in entries(turn)[place:]] == output[place:]


def joined_at(events: list[Any], place: int, *, modern: bool) -> ReferenceClient:
    """A client that begins a run of its own after ``place`` events: it is told what there is by then."""
    turn = turns_of(events)[-1]
    place = max(2, min(place, len(turn) - 1))
    before = events[: events.index(turn[0]) + place]
    encoder = AguiEncoder("t1", "late", AguiOptions(max_ui_payload_size=0), modern=modern)
    for entry in entries(turn[:place]):
        encoder.feed(entry)
    client = ReferenceClient()
    begins, announced = encoder.begin(0.0), encoder.announce()
    standing = ThreadSnapshot()
    for event in before:
        standing.feed(event)
    output = read_input(json.dumps(client.body()).encode())
    options = AguiOptions(max_ui_payload_size=0)
    opening = standing.opening(output, options, 0, modern=modern, sends_everything=True, announced=announced)
    outputs = plain([*begins, *opening, *announced])
    for entry in entries(turn)[place:]:
        if not isinstance(entry.event, ev.TurnSuspended):
            outputs += plain(encoder.feed(entry))
    outputs += plain(encoder.close())
    if encoder.needs_snapshot or encoder.has_joined:
        messages = plain(snapshot_of(fold(events), modern=modern, with_metadata=True))
        outputs.insert(-1, {"type": "MESSAGES_SNAPSHOT", "messages": messages})
    assert breaches(outputs) == []
    client.take(outputs)
    return client


@settings(max_examples=100)
@given(legal_sessions(), st.integers(0, 60), st.booleans())
def test_a_run_that_begins_anywhere_announces_what_is_open_and_folds_to_what_the_session_means(
    story: LegalSession, place: int, modern: bool
) -> None:
    output = [event for event in story.events if not isinstance(event, ev.Rewound)]
    client = joined_at(output, place, modern=modern)

    assert by_id(client.messages) == by_id(
        plain(snapshot_of(fold(output), modern=modern, with_metadata=True))
    )


@settings(max_examples=60)
@given(sloppy_streams(), st.integers(0, 60), st.booleans())
def test_whatever_an_agent_says_a_run_may_begin_anywhere(
    events: list[ev.Event], place: int, modern: bool
) -> None:
    grammar = Grammar("sloppy")
    legal = [out for event in events for out in grammar.feed(event)]
    for turn in turns_of(legal):
        encoder = AguiEncoder("t1", "r1", EVERYTHING, modern=modern)
        for entry in entries(turn[:place]):
            encoder.feed(entry)
        output = encoder.begin(0.0) + encoder.announce()
        for entry in entries(runs_of(turn[place:])[0]):
            output += encoder.feed(entry)

        assert breaches(plain(output + encoder.close())) == []


@settings(max_examples=60)
@given(sloppy_streams(), st.booleans())
def test_whatever_an_agent_says_the_stream_is_legal(events: list[ev.Event], modern: bool) -> None:
    grammar = Grammar("sloppy")
    legal = [out for event in events for out in grammar.feed(event)]
    for turn in turns_of(legal):
        seen: list[Any] = []
        for run in runs_of(turn):
            encoder = AguiEncoder("t1", "r1", EVERYTHING, modern=modern)
            for entry in entries(seen):
                encoder.feed(entry)
            output = encoder.begin(0.0)
            for entry in entries(run):
                output += encoder.feed(entry)
            output += encoder.close()
            assert breaches(plain(output)) == []
            assert modern or not any("subagentRunId" in event for event in plain(output))
            seen += run


@settings(max_examples=50)
@given(legal_sessions())
def test_an_older_client_folds_what_the_agent_itself_says(story: LegalSession) -> None:
    thread = Thread(AguiOptions(max_ui_payload_size=0), modern=False)
    for turn in turns_of([event for event in story.events if not isinstance(event, ev.Rewound)]):
        thread.follow(turn)

    check_folds(thread)
