from collections.abc import AsyncIterator

import pytest

from trunkline.cli import journals
from trunkline.cli.journals import all_sessions, find_session, look_for_session, opened_journal
from trunkline.journal import Journal, SessionInfo


@pytest.fixture
async def journal(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Journal]:
    """A journal with five sessions, of which two fit on a page."""
    monkeypatch.setattr(journals, "_PAGE", 2)
    async with opened_journal("memory:") as opened:
        for number in range(5):
            principal = "somebody" if number == 4 else "local"
            await opened.create(SessionInfo(principal=principal, session_id=f"session-number-{number}"))
        yield opened


async def test_all_pages_are_read_and_no_more_than_wanted(journal: Journal) -> None:
    everyone = [info.session_id async for info in all_sessions(journal)]
    assert sorted(everyone) == [f"session-number-{number}" for number in range(5)]
    for limit in (1, 2, 3, 4, 9):
        assert [info.session_id async for info in all_sessions(journal, limit)] == everyone[:limit]


async def test_a_session_of_another_principal_is_found_by_its_whole_id(journal: Journal) -> None:
    assert (await find_session(journal, "session-number-4")).principal == "somebody"


async def test_four_digits_of_an_agents_own_id_are_enough_and_a_short_word_may_be_a_new_name(
    journal: Journal,
) -> None:
    for one in ("fad6a058-ad8f-4527-bbd7-735098f46347", "work-of-ada"):
        await journal.create(SessionInfo(principal="local", session_id=one))
    for beginning in ("fad6", "fad6a058-ad"):
        assert (await find_session(journal, beginning)).session_id.startswith("fad6a058-")
    assert await look_for_session(journal, "work") is None
