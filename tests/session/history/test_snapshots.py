"""Snapshots change how fast a session opens, and nothing else."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hubs import CountingJournal, collect, hub_for, opened, reopened, soon, until
from tests.legal_sessions import rewound_sessions

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.conversation import Conversation
from trunkline.cursor import Entry
from trunkline.folding import Folder, fold
from trunkline.journal import Journal, SessionKey, Snapshot, open_journal
from trunkline.journal.memory import MemoryJournal
from trunkline.session.history.open_state import VERSION, OpenState, read_snapshot
from trunkline.session.history.snapshots import OPEN, OUTLINE, read_outline
from trunkline.session.hub import Hub
from trunkline.session.session import Session

KEY = SessionKey("local", "s")


def entries(events: list[ev.Event]) -> list[Entry]:
    return [Entry(seq, 0, 1, float(seq), event) for seq, event in enumerate(events, 1)]  # type: ignore[arg-type]


# -- what is kept is what reading would give -------------------------------------------------------


@given(rewound_sessions())
def test_what_is_learned_is_the_same_from_a_snapshot_at_every_cut(events: list[ev.Event]) -> None:
    read, taken = OpenState.alone(), dict[int, bytes]()
    for entry in entries(events):
        read.feed(entry)
        if (payload := read.take()) is not None:
            taken[entry.seq] = payload
    whole = read.take()
    assert whole is not None
    for seq, payload in taken.items():
        kept = read_snapshot(payload)
        assert kept is not None
        later = OpenState.alone()
        later.restore(kept)
        for entry in entries(events)[seq:]:
            later.feed(entry)
        assert later.take() == whole


@given(rewound_sessions(), st.data())
def test_a_fold_on_a_past_is_the_fold_of_all_and_leaves_the_past_alone(
    events: list[ev.Event], data: st.DataObject
) -> None:
    starts = [number for number, event in enumerate(events) if isinstance(event, ev.TurnStarted)]
    cut = data.draw(st.sampled_from([0, *starts]))
    past, same = fold(events[:cut]), fold(events[:cut])
    folder = Folder(past)
    for event in events[cut:]:
        folder.feed(event)
    assert folder.conversation == fold(events)
    assert past == same


# -- sessions --------------------------------------------------------------------------------------


async def talk(hub: Hub, turns: int, session_id: str = "s") -> Session:
    session = await hub.create(session_id)
    for number in range(turns):
        await collect(session, Prompt.of(f"word {number}", message_id=f"u{number}", key=f"p{number}"))
    return session


async def written(session: Session) -> None:
    """Wait until the snapshots of a session are there."""
    await until(lambda: not session.snapshots.writing)


async def kept(journal: Journal, part: str) -> list[Snapshot]:
    return await journal.get_snapshots(KEY, part)


async def learned(journal: Journal) -> tuple[bytes | None, Conversation, int]:
    """What a fresh process knows of the session."""
    async with reopened("s", journal=journal) as session:
        conversation = await session.history()
        return session.open_state.take(), conversation, session.stored_seq


async def test_a_session_is_the_same_with_its_snapshots_without_them_and_with_bad_ones(
    journal: MemoryJournal,
) -> None:
    async with hub_for(journal=journal, snapshot_after=8) as hub:
        session = await talk(hub, 12)
        await written(session)
    assert len(await kept(journal, OPEN)) == 1
    pages = await kept(journal, OUTLINE)
    assert len(pages) > 1
    assert [page.after for page in pages] == [0, *(page.seq for page in pages[:-1])]
    with_them = await learned(journal)
    stored = journal._sessions[KEY].snapshots  # pyright: ignore[reportPrivateUsage]
    good = dict(stored)
    seq = good[OPEN][0].seq
    for bad in (
        Snapshot(seq, 0, VERSION + 1, good[OPEN][0].payload),
        Snapshot(seq, 0, VERSION, good[OPEN][0].payload[:-3]),
        Snapshot(10_000, 0, VERSION, good[OPEN][0].payload),
        None,
    ):
        stored[OPEN] = [bad] if bad else []
        stored[OUTLINE] = [bad._replace(seq=1)] if bad else []
        assert await learned(journal) == with_them


async def test_a_prompt_in_a_long_session_reads_as_little_as_in_a_short_one() -> None:
    counts: dict[int, int] = {}
    for turns in (20, 200):
        async with opened(CountingJournal()) as journal:
            async with hub_for(journal=journal, snapshot_after=20) as hub:
                session = await talk(hub, turns)
                await written(session)
            journal.read_records = 0
            async with hub_for(journal=journal) as hub:
                await collect(await hub.session("s"), "and now")
            counts[turns] = journal.read_records
    assert counts[200] <= counts[20] + 40


async def test_a_rewind_in_a_long_session_reads_as_little_as_in_a_short_one() -> None:
    counts: dict[int, int] = {}
    for turns in (20, 200):
        async with opened(CountingJournal()) as journal:
            async with hub_for(journal=journal, snapshot_after=20) as hub:
                session = await talk(hub, turns)
                await written(session)
            async with reopened("s", journal=journal) as session:
                journal.read_records = 0
                await session.rewind("u5")
                counts[turns] = journal.read_records
                shown = [message.message_id for message in (await session.history()).messages]
                assert shown[-1] == "u5"
    assert counts[200] <= counts[20] + 40


@pytest.mark.parametrize("url", ["memory:", "sqlite:{}"])
async def test_a_session_goes_on_from_its_snapshot(url: str, tmp_path: Any) -> None:
    journal = await open_journal(url.format(tmp_path / "j.db"))
    async with hub_for(journal=journal, snapshot_after=8) as hub:
        session = await talk(hub, 10)
        last = session.receipts.by_prompt["p9"]
    async with reopened("s", journal=journal) as session:
        again = await soon(session.prompt(Prompt.of("word 9", key="p9")))
        assert again.turn_id == last.turn_id, "a prompt that was taken is known again"
        events = await collect(session, Prompt.of("more", message_id="u10"))
        assert [event.message_id for event in events if isinstance(event, ev.UserMessage)] == ["u10"]
        assert len((await session.history()).turns) == 11
    await journal.close()


async def test_a_snapshot_costs_what_is_new_and_not_the_whole_session() -> None:
    sizes: list[int] = []
    for turns in (30, 120):
        async with opened(MemoryJournal()) as journal:
            async with hub_for(journal=journal, snapshot_after=10) as hub:
                await written(await talk(hub, turns))
            sizes.append(sum(len(page.payload) for page in await kept(journal, OUTLINE)))
    assert sizes[1] < 5 * sizes[0]


async def test_trimming_a_session_that_is_open_leaves_nothing_wrong_behind(journal: MemoryJournal) -> None:
    async with hub_for(journal=journal, snapshot_after=8) as hub:
        session = await talk(hub, 10)
        await written(session)
        assert await journal.retain(max_bytes=1)
        for number in range(10, 20):
            await collect(session, Prompt.of("more", message_id=f"u{number}"))
        await written(session)
    with_them = await learned(journal)
    journal._sessions[KEY].snapshots.clear()  # pyright: ignore[reportPrivateUsage]
    assert await learned(journal) == with_them


def test_pages_that_do_not_follow_each_other_are_read_up_to_the_hole() -> None:
    page = b'[["turn","t1",[["u1",true]]]]'
    broken = [Snapshot(5, 0, VERSION, page), Snapshot(20, 10, VERSION, page)]
    outline, seq = read_outline(broken, "t9", 100)
    assert (list(outline.shown_messages), seq) == (["u1"], 5)
    unreadable = [Snapshot(5, 0, VERSION, b"[")]
    assert read_outline(unreadable, "t9", 100)[1] == 0


# -- the loop --------------------------------------------------------------------------------------


async def test_opening_a_long_session_without_a_snapshot_lets_others_run(journal: MemoryJournal) -> None:
    async with hub_for(journal=journal, snapshot_after=1_000_000) as hub:
        await talk(hub, 300)
    async with hub_for(journal=journal) as hub:
        turns = 0
        opening = asyncio.ensure_future(hub.session("s"))
        while not opening.done():
            await asyncio.sleep(0)
            turns += 1
        session = await opening
        assert turns > session.stored_seq / 400
