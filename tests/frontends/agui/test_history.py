from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.frontends.agui.client_runs import run
from tests.hubs import CountingJournal, collect, hub_for, session_for
from tests.legal_sessions import rewound_sessions

from trunkline import content as c
from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.conformance.agui.event_verifier import plain
from trunkline.conformance.agui.reference_client import JsonObject, ReferenceClient
from trunkline.cursor import Cursor
from trunkline.folding import Folder, fold
from trunkline.frontends.agui.endpoint import AguiEndpoint
from trunkline.frontends.agui.history import ThreadSnapshot, read_thread
from trunkline.frontends.agui.options import AguiOptions
from trunkline.outline import CLIENT_MESSAGE_ID, Outline, OutlineReader
from trunkline.protocols.agui.messages import snapshot_of
from trunkline.protocols.agui.wire import Message, RunAgentInput
from trunkline.session.context import TurnContext
from trunkline.session.hub import Hub
from trunkline.session.run_start import RunStart

HELLO = (c.TextBlock(text="hello"),)
STORY: list[ev.Event] = [
    ev.TurnStarted(turn_id="t1"),
    ev.UserMessage(turn_id="t1", message_id="u1", content=HELLO),
    ev.Thought(turn_id="t1", message_id="m1", delta="hm"),
    ev.Text(turn_id="t1", message_id="m1", delta="a"),
    ev.ToolCall(turn_id="t1", call_id="c1", name="f", message_id="m1"),
    ev.ToolUpdate(turn_id="t1", call_id="c1", status="completed", result_message_id="r1"),
    ev.StateReplaced(turn_id="t1", state={"n": 1}),
    ev.TurnFinished(turn_id="t1"),
    ev.TurnStarted(turn_id="t2"),
    ev.UserMessage(turn_id="t2", message_id="u2", content=HELLO),
]


def standing_of(*events: ev.Event) -> ThreadSnapshot:
    thread = ThreadSnapshot()
    for event in events:
        thread.feed(event)
    return thread


def sent(*keys: str, state: Any = None) -> RunAgentInput:
    """A request with these messages; the first letter of an id says whose it is."""
    roles = {"u": "user", "m": "assistant", "r": "tool", "g": "assistant", "s": "system"}
    messages = [Message(id=key, role=roles[key[0]]) for key in keys]
    return RunAgentInput(thread_id="t", run_id="r", messages=messages, state=state)


def opening(
    thread: ThreadSnapshot, given: RunAgentInput, whole: bool = False, **options: Any
) -> list[JsonObject]:
    return plain(thread.opening(given, AguiOptions(**options), 7, modern=True, sends_everything=whole))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["u1", "m1", "r1", "u2"], False),
        (["s1", "g1", "u1", "m1", "r1", "u2"], False),
        (["u2"], True),
        (["u1", "m1", "u2"], True),
        (["m1", "u1", "r1", "u2"], True),
        (["u1", "m1", "r1", "u9", "m9", "u2"], True),
    ],
)
def test_messages_are_sent_where_the_client_has_others(keys: list[str], expected: bool) -> None:
    thread = standing_of(*STORY)
    thread.known_ids |= {"u9", "m9"}

    sent_events = opening(thread, sent(*keys, state={"n": 1}))

    assert bool(sent_events) is expected
    client = ReferenceClient()
    client.messages = [{"id": key, "role": "user" if key[0] == "u" else "assistant"} for key in keys]
    client.take(sent_events)
    if expected:
        assert client.messages == plain(thread.messages(AguiOptions(), modern=True))


def test_a_result_that_was_taken_back_is_a_difference() -> None:
    thread = standing_of(*STORY)
    thread.known_ids.add("r9")

    assert opening(thread, sent("u1", "m1", "r1", "r9", "u2", state={"n": 1}))


def test_all_is_sent_where_results_of_open_calls_may_come() -> None:
    thread = standing_of(*STORY, ev.ToolCall(turn_id="t2", call_id="c2", name="f", message_id="m2"))

    assert opening(thread, sent("u1", "m1", "r1", "u2", "m2", state={"n": 1}))


def test_a_reasoning_of_the_client_is_cleared_only_for_another() -> None:
    without = standing_of(*(event for event in STORY if not isinstance(event, ev.Thought)))

    assert opening(without, sent("u2"))[0]["messages"] == []
    (dummy,) = opening(standing_of(*STORY), sent("u2"))[0]["messages"]
    assert dummy["role"] == "reasoning"


@pytest.mark.parametrize(
    ("state", "mode", "whole", "expected"),
    [
        ({"n": 1}, "initial", False, False),
        ({}, "initial", False, True),
        (None, "all", False, True),
        ({}, "final", False, False),
        ({}, "none", True, False),
        ({"n": 1}, "initial", True, True),
    ],
)
def test_the_state_is_sent_where_the_client_has_another(
    state: Any, mode: Any, whole: bool, expected: bool
) -> None:
    sent_events = opening(
        standing_of(*STORY), sent("u1", "m1", "r1", "u2", state=state), whole, emit_state_snapshots=mode
    )

    assert [event["snapshot"] for event in sent_events if event["type"] == "STATE_SNAPSHOT"] == [
        {"n": 1}
    ] * expected


def test_the_state_before_the_last_turn_is_known() -> None:
    assert standing_of(*STORY[:8]).state_before is None
    assert standing_of(*STORY).state_before == {"n": 1}


def test_ids_of_everything_ever_emitted_are_known() -> None:
    brought = ev.Answered(question_id="q", outcome="accepted", meta={CLIENT_MESSAGE_ID: "mine"})
    thread = standing_of(*STORY, ev.Rewound(to_message_id=None), brought)

    assert thread.conversation.messages == []
    assert {"u1", "m1", "c1", "c1:result", "r1", "u2", "mine"} <= thread.known_ids


async def talks(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
    yield "one "
    yield "two "
    ctx.start_call("f")
    yield "three"


async def test_a_place_is_right_after_the_message_or_anywhere_in_a_text() -> None:
    async with session_for(talks, session_id="t1") as session:
        await collect(session, Prompt.of("hello", message_id="u1"))
        started = await session.history()
        turn_id = started.turns[0].turn_id
        places: list[Cursor] = [entry.cursor async for entry in session.replay()]

        whole = await read_thread(session)
        first = await read_thread(session, RunStart(turn_id, None))
        assert [message.message_id for message in first.conversation.messages] == ["u1"]
        assert whole.conversation == started
        seen = [
            "".join(
                message.text
                for message in (await read_thread(session, RunStart(turn_id, place))).conversation.messages
            )
            for place in places
        ]
        assert seen == sorted(seen, key=len)
        text = next(place for place, text in zip(places, seen, strict=True) if text.endswith("two "))
        cut = await read_thread(session, RunStart(turn_id, text._replace(offset=2)))
        assert cut.conversation.messages[-1].text == "on"
        none = await read_thread(session, RunStart(turn_id, text._replace(offset=0)))
        assert [message.message_id for message in none.conversation.messages] == ["u1"]


# -- what it costs ---------------------------------------------------------------------------------


@given(rewound_sessions(), st.data(), st.booleans(), st.booleans())
def test_a_client_is_compared_with_the_ids_of_the_messages_it_would_get(
    events: list[ev.Event], data: st.DataObject, results: bool, modern: bool
) -> None:
    starts = [number for number, event in enumerate(events) if isinstance(event, ev.TurnStarted)]
    cut = data.draw(st.sampled_from([0, *starts]))
    past, reader = Outline(), OutlineReader()
    for event in events[:cut]:
        past.extend(reader.feed(event))
    past.extend(reader.close())
    thread = ThreadSnapshot(past, 1, fold(events[:cut]).state)
    for event in events[cut:]:
        thread.feed(event)
    folded = snapshot_of(fold(events), modern=modern, results=results)
    own = [message for message in folded if "subagentRunId" not in message]

    assert list(thread.outline.shown_messages) == [m["id"] for m in own if m["role"] in ("user", "assistant")]
    assert thread.conversation.state == fold(events).state
    if any(call.status not in ev.FINAL_STATUSES for call in thread.conversation.calls.values()):
        return
    client = [Message(id=message["id"], role=message["role"]) for message in own]
    options = AguiOptions(emit_tool_results=results)
    for kept in (client, client[:-1], client[1:], client[::-1]):
        request = RunAgentInput(thread_id="t", run_id="r", messages=kept)
        heard = [one.id for one in kept if one.role in ("user", "assistant")]
        shown_messages = [one.id for one in client if one.role in ("user", "assistant")]
        lacks = {one.id for one in client if one.role == "tool"} - {one.id for one in kept}
        differs = heard != shown_messages or bool(lacks)
        assert thread.sends_messages(request, options, modern=modern) is differs


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_run_in_a_long_thread_reads_and_folds_as_little_as_in_a_short_one(
    restarted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folded = 0
    feed = Folder.feed

    def counted(folder: Folder, event: ev.Event) -> None:
        nonlocal folded
        folded += 1
        feed(folder, event)

    async def cost(hub: Hub, journal: CountingJournal, client: ReferenceClient) -> tuple[int, int]:
        nonlocal folded
        with monkeypatch.context() as patch:
            patch.setattr(Folder, "feed", counted)
            folded = journal.read_records = 0
            events = await run(AguiEndpoint(hub), client, "and now")
        assert [event["type"] for event in events].count("MESSAGES_SNAPSHOT") == 0
        return journal.read_records, folded

    costs: list[tuple[int, int]] = []
    for turns in (15, 150):
        journal, client = CountingJournal(), ReferenceClient()
        await journal.open()
        async with hub_for(journal=journal, snapshot_after=20) as hub:
            for _ in range(turns):
                await run(AguiEndpoint(hub), client, "word")
            session = await hub.session("t1")
            await session.snapshots.written()
            if not restarted:
                costs.append(await cost(hub, journal, client))
        if restarted:
            async with hub_for(journal=journal) as hub:
                costs.append(await cost(hub, journal, client))
        await journal.close()
    (short_read, short_folded), (long_read, long_folded) = costs
    assert long_read <= short_read + 40
    assert long_folded <= short_folded + 80


async def test_a_page_that_has_nothing_is_sent_all_of_a_long_thread_without_reading_it_again() -> None:
    reads: list[int] = []
    for turns in (15, 150):
        journal, client = CountingJournal(), ReferenceClient()
        await journal.open()
        async with hub_for(journal=journal, snapshot_after=1_000_000) as hub:
            endpoint = AguiEndpoint(hub)
            for _ in range(turns):
                await run(endpoint, client, "word")
            client.say("again")
            await run(endpoint, client, messages=client.messages[-1:])
            journal.read_records = 0
            client.say("and again")
            events = await run(endpoint, client, messages=client.messages[-1:])
            _, snapshot = (event for event in events if event["type"] == "MESSAGES_SNAPSHOT")
            assert [message["id"] for message in snapshot["messages"]] == [
                message["id"] for message in client.messages[:-1]
            ]
        reads.append(journal.read_records)
        await journal.close()
    assert reads[1] <= reads[0] + 20
