"""Floods: one principal's large results make itself wait, and nobody else."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from tests.hubs import collect, events_of, hub_for, only, session_for, soon, text_of, until
from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.errors import JournalError
from trunkline.journal.sqlite import SqliteJournal
from trunkline.session.context import TurnContext

LIMIT = 2**20
LARGE = "x" * (LIMIT + 20_000)
"""A result that is larger than what may wait of one session, as 66 MB are with the limit of 64 MiB."""


@contextmanager
def slow_disk(path: Path) -> Generator[None]:
    """Keep the file's write lock, so that everything waits."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield


async def test_large_results_of_one_principal_fail_nobody(tmp_path: Path) -> None:
    begun, go_on = 0, asyncio.Event()

    async def working(prompt: Prompt) -> AsyncIterator[ev.Event | str]:
        nonlocal begun
        calls = [f"c{number}" for number in range(4 if prompt.text == "large" else 0)]
        for call_id in calls:
            yield ev.ToolCall(call_id=call_id, name="dump")
        if calls:
            begun += 1
            await go_on.wait()
        for call_id in calls:
            yield ev.ToolUpdate(call_id=call_id, status="completed", output=LARGE)
            await asyncio.sleep(0)
        yield prompt.text

    path = tmp_path / "journal.db"
    journal = SqliteJournal(path, max_waiting=LIMIT, timeout=30)
    await journal.open()
    async with hub_for(working, journal=journal, lease_ttl=30.0) as hub:
        large = [await hub.create(principal="ada") for _ in range(2)]
        small = [await hub.create(principal="bob") for _ in range(50)]
        for session in (*large, *small):
            await session.own()
        running = [asyncio.create_task(collect(session, "large")) for session in large]
        await until(lambda: begun == 2)
        with slow_disk(path):
            go_on.set()
            await until(lambda: all(journal.crowded(session.key) for session in large))
            running += [asyncio.create_task(collect(session, "small")) for session in small]
            await until(lambda: all(session.busy for session in small))
        results = await soon(asyncio.gather(*running), within=30)
        for events in results[:2]:
            assert [event.output for event in only(events, ev.ToolUpdate)] == [LARGE] * 4
        assert [text_of(events) for events in results] == ["large"] * 2 + ["small"] * 50
        assert all(only(events, ev.TurnFinished) for events in results)
    await journal.close()


@pytest.mark.parametrize("kind", ["text", "events"])
async def test_an_agent_that_runs_ahead_of_the_disk_in_bytes_waits(tmp_path: Path, kind: str) -> None:
    count = 0

    async def hasty(prompt: Prompt) -> AsyncIterator[ev.Event | str]:
        nonlocal count
        page = "y" * (LIMIT // 8)
        for number in range(200):
            count = number
            yield page if kind == "text" else ev.Custom(name="page", value=page)

    path = tmp_path / "journal.db"
    journal = SqliteJournal(path, max_waiting=LIMIT, timeout=30)
    await journal.open()
    async with session_for(hasty, journal=journal, lease_ttl=30.0) as session:
        await session.own()
        with slow_disk(path):
            running = asyncio.create_task(collect(session, "go"))
            await until(lambda: journal.crowded(session.key))
            for _ in range(50):
                await asyncio.sleep(0)
            assert count < 20
        assert only(await soon(running, within=30), ev.TurnFinished)
        events = await events_of(session)
        assert len(text_of(events)) // (LIMIT // 8) + len(only(events, ev.Custom)) == 200
    await journal.close()


async def test_an_agent_that_never_waits_fails_its_own_turn_with_the_reason(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def reckless(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        await go_on.wait()
        while prompt.text == "flood":
            ctx.emit(ev.Custom(name="page", value="y" * (LIMIT // 4)))
            await asyncio.sleep(0)
        yield prompt.text

    path = tmp_path / "journal.db"
    journal = SqliteJournal(path, max_waiting=LIMIT, timeout=30)
    await journal.open()
    async with hub_for(reckless, journal=journal, lease_ttl=30.0) as hub:
        session, other = await hub.create(principal="ada"), await hub.create(principal="bob")
        await session.own()
        await other.own()
        reader = session.follow()
        await soon(session.prompt("flood"))
        with slow_disk(path):
            go_on.set()
            fine = asyncio.create_task(collect(other, "fine"))
            await until(lambda: session.closed)
        output: list[ev.AnyEvent] = []
        with suppress(JournalError):
            while True:
                output += [entry.event for entry in await soon(reader.next(), within=30)]
        (failed,) = only(output, ev.TurnFailed)
        assert failed.code == "journal"
        assert "bytes of this session wait to be written" in failed.message
        assert text_of(await soon(fine, within=30)) == "fine"
        again = await hub.session(session.session_id, principal="ada")
        assert text_of(await collect(again, "back")) == "back"
    await journal.close()
