"""Polling the journal: a failure holds up neither the next look nor another session."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.hubs import collect, echo, hub_for, only, soon, text_of, until

from trunkline import events as ev
from trunkline.errors import Corrupt, JournalError
from trunkline.journal import open_journal
from trunkline.session.session import Session


async def test_a_journal_that_fails_for_a_while_is_watched_again(caplog: pytest.LogCaptureFixture) -> None:
    journal = await open_journal("memory:")
    async with hub_for(echo, journal=journal) as hub:
        session: Session = await hub.create()
        await journal.close()
        await until(lambda: "could not be watched" in caplog.text)
        await journal.open()
        del session
    await journal.close()


async def test_a_damaged_session_keeps_no_other_from_being_followed(tmp_path: Path) -> None:
    ours, theirs = [await open_journal(f"sqlite:{tmp_path / 'j.db'}") for _ in range(2)]
    async with hub_for(journal=ours) as hub, hub_for(journal=theirs) as other:
        damaged, sound = await hub.create("damaged"), await hub.create("sound")
        following = [await other.session(name) for name in ("damaged", "sound")]
        with closing(sqlite3.connect(tmp_path / "j.db")) as db:
            db.execute(
                "CREATE TRIGGER damage AFTER INSERT ON records"
                " WHEN NEW.session = (SELECT id FROM sessions WHERE session_id = 'damaged')"
                " BEGIN UPDATE records SET payload = x'00' WHERE session = NEW.session; END"
            )
        async with following[0].follow() as broken, following[1].follow() as whole:
            with suppress(JournalError):  # On a slow machine the owner reads it too, and stops.
                await collect(damaged, "cannot be read")
            await collect(sound, "can be read")
            seen: list[Any] = []
            while not only(seen, ev.TurnFinished):
                seen += [entry.event for entry in await soon(whole.next())]
            assert text_of(seen) == "can be read "
            with pytest.raises(Corrupt, match="is damaged"):
                await soon(broken.next())
    await ours.close()
    await theirs.close()
