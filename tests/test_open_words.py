"""Words outside our sets are kept: live, in every journal and on the wire of a strict protocol."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal, cast

import msgspec
import pytest

from tests.hubs import collect, events_of, hub_for, make, only, session_for
from tests.strategies import event_kinds
from trunkline import events as ev
from trunkline.cursor import Entry
from trunkline.frontends.acp.encoder import AcpEncoder
from trunkline.journal import open_journal
from trunkline.open_words import OpenWord, known_words
from trunkline.options import Choice, ConfigOption
from trunkline.questions import Option, Permission

WORD = cast("Any", "of_a_peer")
OPTION = ConfigOption(
    option_id="o", name="O", value="a", category=WORD, choices=(Choice(value="a", name="A"),)
)
FOREIGN: list[ev.Event] = [
    ev.TurnFinished(turn_id="t", stop_reason=WORD),
    ev.ToolCall(turn_id="t", call_id="c", name="n", kind=WORD),
    ev.ToolUpdate(turn_id="t", call_id="c", status=WORD, kind=WORD),
    ev.Decided(turn_id="t", allowed=True, by="policy", reason="", kind=WORD),
    ev.Plan(turn_id="t", entries=(ev.PlanEntry(content="a", status=WORD, priority=WORD),)),
    ev.StepStarted(turn_id="t", step_id="s", kind=WORD),
    ev.SubagentFinished(turn_id="t", lane="a", outcome=WORD),
    ev.Compaction(turn_id="t", compaction_id="k", status=WORD),
    ev.Notice(turn_id="t", title="n", severity=WORD),
    ev.ConfigChanged(turn_id="t", options=(OPTION,)),
    ev.Asked(
        turn_id="t",
        question_id="q",
        question=Permission(call_id="c", options=(Option(option_id="a", name="A", kind=WORD),)),
    ),
]


def test_a_field_knows_its_words() -> None:
    field = OpenWord[Literal["a", "b"]]
    assert known_words(field) == known_words(field | None) == ("a", "b")
    assert known_words(str) == known_words(int | None) == ()


@pytest.mark.parametrize("event", FOREIGN, ids=lambda event: type(event).__name__)
def test_an_event_with_foreign_words_decodes_to_itself(event: ev.Event) -> None:
    assert ev.decode_event(ev.encode_event(event)) == event


def test_every_event_with_words_is_in_this_test() -> None:
    def has_words(kind: Any) -> bool:
        fields = msgspec.structs.fields(kind)
        return any(known_words(field.type) for field in fields)

    tested = {type(event) for event in FOREIGN}
    assert {kind for kind in event_kinds() if has_words(kind)} <= tested


@pytest.mark.parametrize("address", ["memory:", "sqlite:{}/j.db"])
async def test_foreign_words_of_an_adapter_come_back_from_a_journal(address: str, tmp_path: Path) -> None:
    output = [
        event for event in FOREIGN if not isinstance(event, ev.Asked | ev.SubagentFinished | ev.Decided)
    ]

    async def adapter() -> AsyncIterator[Any]:
        for event in (*output[1:], output[0]):
            yield msgspec.structs.replace(event, turn_id=None)

    journal = await open_journal(address.format(tmp_path))
    agent = make(adapter, name="adapter", foreign_words=True)
    async with session_for(agent, journal=journal, session_id="s") as session:
        live = await collect(session, "go")
    async with hub_for(agent, journal=journal) as hub:
        kept = await events_of(await hub.session("s"))
    for event in output:
        assert only(kept, type(event)) == only(live, type(event))
        assert len(only(kept, type(event))) >= 1
    assert not only(kept, ev.Raw)
    assert only(kept, ev.ToolUpdate)[0].status == WORD
    assert only(kept, ev.TurnFinished)[0].stop_reason == WORD
    await journal.close()


def test_acp_is_given_words_that_it_knows() -> None:
    encoder = AcpEncoder("s")
    output: list[Any] = []
    for seq, event in enumerate((ev.TurnStarted(turn_id="t"), *FOREIGN[1:5]), 1):
        output += encoder.feed(Entry(seq, 0, 1, 0.0, cast("Any", event)))
    text = "".join(str(one) for one in output)
    assert WORD not in text
    assert '"kind":"other"' in text
    assert '"status":"in_progress"' in text
    assert '"priority":"medium"' in text
