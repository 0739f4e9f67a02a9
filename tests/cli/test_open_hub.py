"""Which session a command works in: a new one, one by id or name, or the last of the folder."""

from pathlib import Path

import click
import pytest

from tests.hubs import hub_for
from trunkline.cli.journals import name_of
from trunkline.cli.open_hub import SessionChoice, open_session
from trunkline.errors import InvalidCommand, SessionNotFound
from trunkline.session.hub import Hub


async def spoken_in(hub: Hub, choice: SessionChoice) -> str:
    """Open the chosen session and say something in it; give its id."""
    session = await open_session(hub, choice)
    async for _ in session.stream("hi"):
        pass
    return session.session_id


async def test_without_a_choice_each_session_is_new(tmp_path: Path) -> None:
    async with hub_for(target="a") as hub:
        here = SessionChoice(cwd=str(tmp_path))
        assert here.is_new
        assert await spoken_in(hub, here) != await spoken_in(hub, here)


async def test_the_last_one_is_of_the_folder_and_was_spoken_in(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    last = SessionChoice(last=True, cwd=str(tmp_path))
    assert not last.is_new
    async with hub_for(target="a") as hub:
        with pytest.raises(SessionNotFound, match="leave --continue out"):
            await open_session(hub, last)
        first = await spoken_in(hub, SessionChoice(cwd=str(tmp_path)))
        await spoken_in(hub, SessionChoice(cwd=str(other)))
        await open_session(hub, SessionChoice(cwd=str(tmp_path)))
        assert (await open_session(hub, last)).session_id == first


async def test_a_name_begins_a_session_once(tmp_path: Path) -> None:
    work = SessionChoice("work", cwd=str(tmp_path))
    async with hub_for(target="a") as hub:
        session = await open_session(hub, work)
        info = await hub.journal.get(session.key)
        assert info is not None
        assert name_of(info) == "work"
        with pytest.raises(InvalidCommand, match="--cwd is for a new session"):
            await open_session(hub, work)
        assert (await open_session(hub, SessionChoice("work"))) is session


async def test_a_session_of_another_agent_is_refused_with_its_target(tmp_path: Path) -> None:
    async with hub_for(target="a") as hub:
        session = await open_session(hub, SessionChoice(cwd=str(tmp_path)))
        async with hub_for(target="b", journal=hub.journal) as other:
            with pytest.raises(InvalidCommand, match="belongs to the agent 'a'"):
                await open_session(other, SessionChoice(session.session_id))


def test_two_choices_are_refused() -> None:
    with pytest.raises(click.UsageError, match="leave --session out"):
        SessionChoice("work", last=True).check()
    with pytest.raises(click.UsageError, match="--cwd is for a new session"):
        SessionChoice("sess_12345678", cwd=".").check()
    assert SessionChoice("work", cwd=".").check() == SessionChoice("work", cwd=".")
