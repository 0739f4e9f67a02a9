"""Every format of a session, from the journal."""

import asyncio
import json

import pytest
from tests.hubs import hub_for

from trunkline import events as ev
from trunkline.content import TextBlock
from trunkline.exports.formats import FORMATS, as_row
from trunkline.journal import Record, SessionInfo, SessionKey
from trunkline.testing import ScriptedAgent


async def test_every_format_has_the_whole_session() -> None:
    async with hub_for(ScriptedAgent(), target="demo") as hub:
        session = await hub.create("s")
        async for _ in session.stream("/tools"):
            pass
        await session.durable()
        info = await hub.journal.get(session.key)
        assert info is not None
        written = {
            name: b"".join([piece async for piece in write(hub.journal, info)])
            for name, write in FORMATS.items()
        }
        records = await hub.journal.read(session.key)
    assert json.loads(written["json"])["conversation"]["messages"][0]["role"] == "user"
    lines = [json.loads(line) for line in written["jsonl"].splitlines()]
    assert [line["seq"] for line in lines] == [record.seq for record in records]
    document = json.loads(written["document"])
    assert document["records"] == lines
    assert document["session"] == as_row(info)
    events = [json.loads(line) for line in written["events"].splitlines()]
    assert events == [line["event"] for line in lines if "event" in line]
    for name in ("text", "markdown", "html"):
        assert "/tools" in written[name].decode()


@pytest.mark.parametrize("name", ["text", "markdown", "html", "json", "jsonl", "document"])
async def test_a_session_without_a_word_can_be_written(name: str) -> None:
    async with hub_for() as hub:
        session = await hub.create("s")
        pieces = [piece async for piece in FORMATS[name](hub.journal, session.info)]
    assert b"".join(pieces) if name != "jsonl" else pieces == []


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
async def test_others_go_on_while_a_long_session_is_written(name: str) -> None:
    class Records:
        async def read(self, key: SessionKey, after: int = 0, limit: int = 1000) -> list[Record]:
            said = ev.UserMessage(message_id=str(after), content=(TextBlock(text="word <b>\n" * 200_000),))
            return [Record(seq=after + 1, at=0.0, fence=1, event=said)] if after < 4 else []

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    turns = 0
    counting = asyncio.create_task(count())
    write = FORMATS[name](Records(), SessionInfo(principal="local", session_id="s"))
    size = sum([len(piece) async for piece in write])
    counting.cancel()
    assert size > 7_000_000
    assert turns > 20
