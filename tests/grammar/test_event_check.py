"""What an agent says is checked when it says it: what is written is what will be read."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hubs import collect, events_of, make, only, reopened, session_for
from tests.strategies import event_kinds, structs_of
from trunkline import events as ev
from trunkline.content import TextBlock
from trunkline.errors import AgentProtocolError
from trunkline.grammar.event_check import check_event, is_plain_text
from trunkline.journal.memory import MemoryJournal
from trunkline.questions import Option, Permission

BROKEN: list[Any] = [
    ev.TurnFinished(stop_reason="done"),  # type: ignore[arg-type]
    ev.ToolCall(call_id="c", name="n", kind="dance"),  # type: ignore[arg-type]
    ev.ToolCall(call_id=7, name="n"),  # type: ignore[arg-type]
    ev.ToolUpdate(call_id="c", status="paused"),  # type: ignore[arg-type]
    ev.ToolUpdate(call_id="c", locations=({"path": 7},)),  # type: ignore[arg-type]
    ev.Text(message_id=3, delta="x"),  # type: ignore[arg-type]
    ev.Text(message_id="m", delta=3),  # type: ignore[arg-type]
    ev.Text(message_id="m", delta="x", lane=3),  # type: ignore[arg-type]
    ev.Media(message_id="m", content="no block"),  # type: ignore[arg-type]
    ev.Plan(entries=("not an entry",)),  # type: ignore[arg-type]
    ev.Plan(entries=(ev.PlanEntry(content="a", status="paused"),)),  # type: ignore[arg-type]
    ev.Asked(
        question_id="q",
        question=Permission(
            call_id="c",
            options=(Option(option_id="a", name="A", kind="allow_session"),),  # type: ignore[arg-type]
        ),
    ),
    ev.Notice(title="t", meta=["no object"]),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("event", BROKEN, ids=lambda event: type(event).__name__)
def test_an_event_that_no_reader_would_take_is_the_agents_mistake(event: Any) -> None:
    assert not is_plain_text(event)
    with pytest.raises(AgentProtocolError, match=f"tester emitted a {type(event).__name__} that is not one"):
        check_event(event, "tester")


def test_an_unknown_word_is_refused_with_the_known_ones() -> None:
    with pytest.raises(AgentProtocolError, match=r"'dance' - at `\$\.kind`; it is one of read, edit, "):
        check_event(BROKEN[1], "tester")
    with pytest.raises(AgentProtocolError, match=r"'paused'.*; it is one of pending, in_progress, completed"):
        check_event(BROKEN[3], "tester")


@pytest.mark.parametrize("value", [object(), float], ids=["object", "class"])
def test_what_is_not_json_is_the_agents_mistake(value: Any) -> None:
    with pytest.raises(AgentProtocolError, match="that is not JSON"):
        check_event(ev.Custom(name="n", value=value), "tester")


@given(st.sampled_from(event_kinds()).flatmap(structs_of))
def test_every_event_that_can_be_read_can_be_emitted(event: ev.AnyEvent) -> None:
    output, size = check_event(event, "tester")
    assert ev.decode_event(ev.encode_event(output)) == output
    assert size == len(ev.encode_event(output))


def test_a_lone_surrogate_is_replaced_wherever_it_stands() -> None:
    output, _ = check_event(ev.Media(message_id="m", content=TextBlock(text="a\ud800b")), "tester")
    assert output == ev.Media(message_id="m", content=TextBlock(text="a\N{REPLACEMENT CHARACTER}b"))


@pytest.mark.parametrize("event", BROKEN, ids=lambda event: type(event).__name__)
async def test_an_agent_that_emits_it_fails_its_turn_which_has_one_end_after_a_restart_too(
    event: Any, journal: MemoryJournal
) -> None:
    async def broken() -> AsyncIterator[Any]:
        yield "before"
        yield event

    async with session_for(make(broken), journal=journal, session_id="s") as session:
        events = await collect(session, "go")
        assert only(events, ev.TurnFailed)[0].code == "agent_protocol"
    async with reopened("s", make(broken), journal=journal) as again:
        assert await again.own()
        kept = await events_of(again)
        assert not only(kept, ev.Raw)
        assert len(only(kept, ev.TurnFailed)) + len(only(kept, ev.TurnFinished)) == 1
