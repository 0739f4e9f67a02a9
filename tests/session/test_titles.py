"""Titles: taken from the first message, given by the agent, or chosen by a person, whose choice stays."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.hubs import echo, hub_for, make, opened, session_for, soon

from trunkline import events as ev
from trunkline.commands import Prompt, Rename
from trunkline.errors import InvalidCommand, SessionBusy
from trunkline.journal import open_journal
from trunkline.journal.memory import MemoryJournal
from trunkline.session.context import TurnContext
from trunkline.session.session import Session


async def titled(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    ctx.title(f"About {prompt.text}")
    yield "said"


async def say(session: Session, text: str) -> None:
    async for _ in session.stream(text):
        pass


async def titles_of(session: Session) -> list[tuple[str | None, str | None]]:
    found = [entry.event async for entry in session.replay()]
    return [(event.title, event.by) for event in found if isinstance(event, ev.InfoChanged)]


async def test_the_first_line_of_the_first_message_is_the_title() -> None:
    async with session_for(echo) as session:
        await say(session, "  first line  \nsecond")
        await say(session, "another")
        assert session.info.title == "first line"
        info = await session.hub.journal.get(session.key)
        assert info is not None
        assert info.title == "first line"


async def test_an_agent_names_the_session_until_a_person_does() -> None:
    async with session_for(titled) as session:
        await say(session, "one")
        await session.submit(Rename(title=" Mine \n and yours ", by="ann"))
        await say(session, "two")
        session.view.emit(ev.InfoChanged(title="Out of turn"))
        await session.durable()
        assert session.info.title == "Mine and yours"
        assert await titles_of(session) == [("About one", None), ("Mine and yours", "ann")]
        assert (await session.history()).title == "Mine and yours"


@pytest.mark.parametrize("nothing", [None, "", " \n "])
async def test_an_empty_title_lets_the_agent_name_the_session_again(nothing: str | None) -> None:
    async with session_for(titled) as session:
        await session.submit(Rename(title="Mine"))
        await session.submit(Rename(title=nothing))
        assert session.info.title is None
        await say(session, "one")
        assert session.info.title == "About one"


async def test_a_title_that_is_too_long_is_refused() -> None:
    async with session_for(echo) as session:
        with pytest.raises(InvalidCommand, match="501 characters"):
            await session.submit(Rename(title="x" * 501))
        assert session.info.title is None


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_choice_outlives_the_process_with_or_without_a_snapshot(tmp_path: Path, turns: int) -> None:
    address = f"sqlite:{tmp_path / 'journal.db'}"
    for number in range(2):
        journal = await open_journal(address)
        async with hub_for(titled, journal=journal) as hub:
            if number == 0:
                session = await hub.create("s")
                await session.submit(Rename(title="Mine"))
                for turn in range(turns):
                    await say(session, str(turn))
            else:
                session = await hub.session("s")
                assert session.open_state.title_chosen
                await say(session, "later")
            assert session.info.title == "Mine"
        await journal.close()


async def test_a_follower_in_another_process_renames_and_sees_the_name_at_once(tmp_path: Path) -> None:
    address = f"sqlite:{tmp_path / 'journal.db'}"
    journals = [await open_journal(address) for _ in range(2)]
    async with (
        hub_for(make(titled), journal=journals[0]) as here,
        hub_for(make(titled), journal=journals[1]) as there,
    ):
        owner = await here.create("s")
        await say(owner, "one")
        follower = await there.session("s")
        async with follower.follow() as reader:
            await soon(follower.submit(Rename(title="From afar", by="bob")))
            (entry, *_) = await soon(reader.next())
        assert isinstance(entry.event, ev.InfoChanged)
        assert (entry.event.title, entry.event.by) == ("From afar", "bob")
        assert (owner.info.title, follower.info.title) == ("From afar", "From afar")
        await say(owner, "two")
        assert owner.info.title == "From afar"
    for journal in journals:
        await journal.close()


async def test_a_fork_keeps_the_name_that_was_chosen() -> None:
    async with hub_for(titled) as hub:
        session = await hub.create("s")
        await say(session, "one")
        await session.submit(Rename(title="Mine"))
        fork = await hub.fork(session)
        await say(fork, "two")
        assert fork.info.title == "Mine"


async def test_a_session_of_an_agent_that_is_not_served_here_is_renamed_when_it_rests() -> None:
    async with opened(MemoryJournal()) as journal:
        async with hub_for(make(titled), journal=journal, target="one") as first:
            session = await first.create("s")
            await say(session, "word")
        async with hub_for(make(titled), journal=journal, target="two") as second:
            session = await second.session("s")
            async with session.follow() as reader:
                await soon(session.submit(Rename(title="Mine", by="ann")))
                assert session.info.title == "Mine"
                (entry, *_) = await soon(reader.next())
            assert entry.event == ev.InfoChanged(title="Mine", by="ann")
            with pytest.raises(InvalidCommand):
                await session.submit(Rename(title="x" * 501))
            with pytest.raises(SessionBusy, match="belongs to 'one'"):
                await second.fork(session)
        async with hub_for(make(titled), journal=journal, target="one") as third:
            session = await third.session("s")
            await say(session, "more")
            assert session.info.title == "Mine"


async def test_a_session_that_another_process_runs_is_renamed_by_that_one() -> None:
    async with (
        opened(MemoryJournal()) as journal,
        hub_for(make(titled), journal=journal, target="one") as owner,
        hub_for(make(titled), journal=journal, target="two") as other,
    ):
        session = await owner.create("s")
        await say(session, "word")
        follower = await other.session("s")
        await soon(follower.submit(Rename(title="Mine", by="ann")))
        assert session.info.title == "Mine"
