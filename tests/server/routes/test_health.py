"""Readiness: it stores something and reads it back, and says why it cannot."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.hubs import BRISK, WAIT, echo, make, opened, soon
from tests.server.asgi_requests import Reply, call, scope
from tests.server.running_server import SECRET

from trunkline.journal.sqlite import SqliteJournal
from trunkline.server.asgi import asgi
from trunkline.server.routes import health


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    async with opened(SqliteJournal(tmp_path / "journal.db", timeout=30)) as engine:
        yield engine


@pytest.fixture
async def app(journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    monkeypatch.setattr(health, "_REUSE_SECONDS", 0.0)
    # On a busy machine a check may take long, and no renewal of a lease may be among the writes.
    monkeypatch.setattr(health, "_CHECK_SECONDS", WAIT)
    server = asgi(make(echo), journal=journal, tokens=SECRET, settings=replace(BRISK, lease_ttl=60.0))
    async with server.lifespan():
        yield server


async def ready(app: Any) -> Reply:
    return await soon(call(app, scope("/readyz", token=False)))


def reason(reply: Reply) -> str:
    error = json.loads(reply.body)["error"]
    assert (reply.status, error["code"]) == (503, "journal")
    return error["message"]


def delete(path: Path) -> None:
    path.unlink()


async def test_a_journal_that_stores_and_gives_back_is_ready(app: Any) -> None:
    assert (await ready(app)).status == 200


async def test_a_deleted_journal_is_not_ready_and_the_reason_names_no_file(app: Any, tmp_path: Path) -> None:
    delete(tmp_path / "journal.db")
    output = reason(await ready(app))
    assert "deleted" in output
    assert str(tmp_path) not in output


async def test_a_disk_with_little_space_is_not_ready(tmp_path: Path) -> None:
    async with opened(SqliteJournal(tmp_path / "journal.db", reserve=2**62)) as journal:
        server = asgi(make(echo), journal=journal, tokens=SECRET, settings=BRISK)
        async with server.lifespan():
            assert "free some space" in reason(await ready(server))


async def test_a_journal_that_hangs_is_not_ready_and_keeps_nobody_waiting(
    app: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "_CHECK_SECONDS", 0.05)
    with closing(sqlite3.connect(tmp_path / "journal.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        assert "no answer" in reason(await ready(app))
        assert "no answer" in reason(await ready(app))
    monkeypatch.setattr(health, "_CHECK_SECONDS", WAIT)
    assert (await ready(app)).status == 200


async def test_a_flood_of_questions_is_one_write(
    app: Any, journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "_REUSE_SECONDS", 60.0)
    commits = journal.commits
    replies = await asyncio.gather(*(ready(app) for _ in range(200)))
    assert {reply.status for reply in replies} == {200}
    assert (await ready(app)).status == 200
    assert journal.commits <= commits + 1
