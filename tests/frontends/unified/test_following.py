"""Places: where a client begins, what it is primed with, and what it lacks."""

from typing import Any

import pytest
from tests.frontends.unified.sessions import folded
from tests.hubs import hub_for, soon

from trunkline.cursor import Cursor
from trunkline.demos.scripted import ScriptedAgent
from trunkline.frontends.unified.following import Place, find_place, follow, replay
from trunkline.protocols.unified.wire import UnifiedMessage
from trunkline.session.session import Session
from trunkline.session.stream.reader import WHOLE


async def finished(session: Session, *texts: str) -> None:
    for text in texts:
        await session.prompt(text)
        await soon(session.wait_until_idle())
    await session.durable()


async def shown(session: Session, place: Place) -> list[UnifiedMessage]:
    """What is shown from a place on, up to where the session is now."""
    end = session.position.record
    out: list[UnifiedMessage] = []
    batches = follow(session, place)
    while not out or out[-1].metadata["seq"] < end:
        out += await soon(anext(batches))
    await batches.aclose()
    return out


async def test_a_new_client_begins_now_and_one_in_a_running_turn_at_its_start() -> None:
    async with hub_for(ScriptedAgent()) as hub:
        session = await hub.create()
        await finished(session, "hi")
        assert (await find_place(session)).first == session.position.record + 1
        receipt = await session.prompt("/wait-for-cancel")
        assert (await find_place(session)).first == session.turn_start(receipt.turn_id or "")
        await session.cancel()


async def test_every_record_is_a_place_and_folds_to_the_rest() -> None:
    async with hub_for(ScriptedAgent()) as hub:
        session = await hub.create()
        await finished(session, "one two three", "/tools")
        whole = await shown(session, await find_place(session, from_seq=1))
        assert whole == [message async for message in replay(session)]
        for number in range(1, session.position.record + 1):
            rest = await shown(session, await find_place(session, from_seq=number))
            assert rest == [message for message in whole if message.metadata["seq"] >= number]
            assert rest == [message async for message in replay(session, number)]


async def test_a_cursor_inside_a_joined_text_gives_the_rest_of_it() -> None:
    async with hub_for(ScriptedAgent()) as hub:
        session = await hub.create()
        await finished(session, "abcdefgh")
        whole = await shown(session, Place(0, WHOLE))
        text = next(message for message in whole if message.type == "stream_event")
        cursor = Cursor.parse(text.metadata["cursor"])
        assert cursor.offset > 3
        rest = await shown(session, await find_place(session, after=cursor._replace(offset=3)))
        pieces: Any = rest[0].content[0]
        full: Any = text.content[0]
        assert pieces.text == full.text[3:]
        assert folded(rest[1:]) == folded(whole[whole.index(text) + 1 :]), "the answer is whole all the same"
        assert rest[0].id == text.id


@pytest.mark.parametrize("after", [None, Cursor(9, 9999, 0)])
async def test_a_place_that_was_never_stored_is_a_gap(after: Cursor | None) -> None:
    async with hub_for(ScriptedAgent()) as hub:
        session = await hub.create()
        await finished(session, "hi")
        wanted: dict[str, Any] = {"from_seq": 9999} if after is None else {"after": after}
        assert await find_place(session, **wanted) == Place(0, WHOLE, gap=True)


async def test_a_session_that_is_closed_ends_its_followers() -> None:
    async with hub_for(ScriptedAgent()) as hub:
        session = await hub.create()
        await finished(session, "hi")
        place = await find_place(session)
        await session.close()
        assert [batch async for batch in follow(session, place)] == []


async def test_a_place_that_the_journal_has_forgotten_is_a_gap_and_what_is_left_is_shown() -> None:
    async with hub_for(ScriptedAgent()) as hub:
        session = await hub.create()
        await finished(session, "one", "two", "three")
        assert await hub.journal.retain(max_bytes=1) > 0
        info = await hub.journal.get(session.key)
        assert info is not None
        assert info.first_seq > 1
        places: list[dict[str, Any]] = [
            {"from_seq": 1},
            {"after": session.position._replace(record=1, offset=0)},
        ]
        for wanted in places:
            place = await find_place(session, **wanted)
            assert place == Place(info.first_seq - 1, WHOLE, gap=True)
            left = await shown(session, place)
            assert left[0].metadata["seq"] >= info.first_seq
            assert [message.metadata.get("stopReason") for message in left if message.type == "result"] == [
                "end_turn"
            ]
