"""The journal of a spliced session: order, limits, and failures that are reported."""

import asyncio
import logging
from pathlib import Path

import pytest

from tests.agents.acp.splice.pairs import TARGET, paired
from tests.hubs import only, opened, text_of, until
from trunkline import events as ev
from trunkline.agents.acp.splice import journal as module
from trunkline.errors import JournalError
from trunkline.journal import SessionInfo, SessionKey
from trunkline.journal.memory import MemoryJournal
from trunkline.session.owners import Ownership


async def test_a_journal_that_lags_lets_the_agent_wait_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUEUE_LIMIT", 20)
    async with paired(tmp_path) as pair:
        await pair.new()
        editor_id, heard = await pair.prompt("Hi")
        journal = pair.splice.journal_of("native-1")
        assert journal is not None
        hold = asyncio.Event()
        await journal.drained(5)
        journal.put(hold.wait)
        for number in range(20_000):
            pair.agent.say("native-1", f"{number} ")
        pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        await asyncio.sleep(0.1)
        assert pair.editor.lines.qsize() < 10_000  # What the pipes hold, and no more.
        hold.set()
        await pair.editor.until(id=editor_id)
        assert text_of(await pair.events()) == "".join(f"{number} " for number in range(20_000))


async def test_a_journal_that_fails_is_reported_and_the_pair_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with paired(tmp_path) as pair:
        session = await pair.new()

        async def fail(*_: object) -> None:
            raise JournalError("the disk is full")

        monkeypatch.setattr(session, "carry_out", fail)
        for _ in range(2):
            editor_id, heard = await pair.prompt("Hi")
            line = pair.agent.say("native-1", "Hello.")
            pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
            assert await pair.editor.line() == line
            await pair.editor.until(id=editor_id)
        await pair.session()
        told = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
        assert told == ["session native-1 is not journalled as it should be: the disk is full"]
        assert pair.editor.is_quiet
        await until(lambda: not session.busy)


async def test_a_message_for_a_turn_that_is_not_journalled_does_not_ask_for_the_session_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    async def refuse(_: Ownership, within: float) -> None:
        asked.append(within)
        raise JournalError("the disk is full")

    async with paired(tmp_path) as pair:
        session = await pair.new()
        await session.close()
        monkeypatch.setattr(Ownership, "take_over", refuse)
        editor_id, heard = await pair.prompt("Hi")
        params = {"sessionId": "native-1", "prompt": [{"type": "text", "text": "And blue"}]}
        pair.editor.send(id="s", method="_session/steering", params=params)
        steering = await pair.agent.until(method="_session/steering")
        journal = pair.splice.journal_of("native-1")
        assert journal is not None
        await journal.drained(5)
        pair.agent.send(id=steering["id"], result={"outcome": "injected"})
        await pair.editor.until(id="s")
        pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        await pair.editor.until(id=editor_id)
        await journal.drained(5)
        assert len(asked) == 2  # Before the prompt went to the agent, and to journal it.


async def test_what_is_no_block_and_what_is_no_update_is_kept_as_it_can(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.new()
        params = {"sessionId": "native-1", "prompt": [{"type": "hologram"}, {"type": "text", "text": "Hi"}]}
        pair.editor.send(id=1, method="session/prompt", params=params)
        heard = await pair.agent.until(method="session/prompt")
        pair.agent.update("native-1", "never_heard_of", n=1)
        pair.agent.send(method="_x/status", params={"sessionId": "native-1", "ok": True})
        pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        await pair.editor.until(id=1)
        events = await pair.events()
        assert [block.text for block in only(events, ev.UserMessage)[0].content] == ["[hologram]", "Hi"]  # type: ignore[union-attr]
        assert len(only(events, ev.Raw)) == 2


async def test_a_session_that_the_editor_closes_is_opened_again_by_a_resume(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.new()
        await pair.call("session/close", {"sessionId": "native-1"}, {})
        await pair.call("session/resume", {"sessionId": "native-1", "cwd": "/"}, {})
        session = await pair.session()
        assert not session.closed


async def test_a_session_that_was_begun_elsewhere_goes_on_under_its_own_id(tmp_path: Path) -> None:
    async with opened(MemoryJournal()) as journal:
        kept = {"acp": {"session_id": "native-1"}}
        await journal.create(
            SessionInfo(principal="local", session_id="ours", target=TARGET, cwd="/", kept=kept)
        )
        async with paired(tmp_path, journal=journal) as pair:
            pair.editor.send(id=1, method="session/load", params={"sessionId": "native-1", "cwd": "/"})
            heard = await pair.agent.until(method="session/load")
            pair.agent.say("native-1", "What it said before.")
            pair.agent.send(id=heard["id"], result={})
            await pair.editor.until(id=1)
            session = await pair.session()
            assert session.session_id == "ours"
            editor_id, heard = await pair.prompt("Go on.")
            pair.agent.say("native-1", "Yes.")
            pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
            await pair.editor.until(id=editor_id)
            await pair.session()
        assert [info.session_id for info in await journal.list("local")] == ["ours"]
        said = [one.event for one in await journal.read(SessionKey("local", "ours"))]
        assert text_of([event for event in said if event is not None]) == "Yes."
