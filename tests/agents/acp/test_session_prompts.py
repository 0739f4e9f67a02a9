"""The prompts of a session at an agent: errors, crashes and cancelling."""

import asyncio
import gc
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.agents.acp.scripted import received
from tests.agents.acp.worlds import ask, notices_of, world
from tests.hubs import collect, events_of, only, text_of, until
from tests.process_state import is_alive
from trunkline import events as ev
from trunkline.commands import Answer, Cancel, Prompt
from trunkline.content import ImageBlock, ResourceBlock, TextBlock


async def test_blocks_that_the_agent_does_not_take_are_changed_with_a_notice_or_refused(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, "--prompts", "") as here:
        session = await here.hub.create()
        resource = ResourceBlock(uri="file:///a.txt", text="inside")
        events = await collect(session, Prompt(content=(resource, TextBlock(text="\n\nblocks"))))
        assert [block["type"] for block in json.loads(text_of(events))] == ["text", "text"]
        assert any("was sent as text" in title for title in notices_of(events))
        image = ImageBlock(mime_type="image/png", data="AAAA")
        failed = (await collect(session, Prompt(content=(image,))))[-1]
        assert isinstance(failed, ev.TurnFailed)
        assert "takes no images" in failed.message


async def test_an_error_of_the_agent_shows_its_cause(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()
        failed = (await collect(session, "fail"))[-1]
        assert isinstance(failed, ev.TurnFailed)
        assert (
            failed.message
            == "scripted-agent failed in the prompt: Internal error: the quota is used up (code -32603)"
        )
        failed = (await collect(session, "login"))[-1]
        assert isinstance(failed, ev.TurnFailed)
        assert failed.code == "authentication_required"
        assert "API key (set SCRIPTED_KEY), Shell (in a terminal)" in failed.message


async def test_permissions_are_questions_of_the_session(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()

        async def yes(asked: ev.Asked) -> None:
            await session.answer(Answer(question_id=asked.question_id, option_id="y"))

        assert await ask(session, "ask", answers={ev.Asked: yes}) == "got y"


async def test_an_agent_that_lives_without_its_session_is_started_again(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()
        await ask(session, "hello")
        first = await ask(session, "pid")
        assert await ask(session, "lose") == "lost"
        second = await ask(session, "pid")
        assert second != first, "the prompt was not begun, so it is sent again"
        failed = (await collect(session, "break"))[-1]
        assert isinstance(failed, ev.TurnFailed)
        assert "the process exited" in failed.message
        assert await ask(session, "pid") not in (first, second)
        assert json.loads(await ask(session, "recall"))[0] == ["user", "hello"]


async def test_a_crash_in_a_turn_fails_it_and_the_next_prompt_goes_on_where_it_was(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()
        await ask(session, "remember me")
        events = await collect(session, "crash")
        failed = events[-1]
        assert isinstance(failed, ev.TurnFailed)
        assert failed.code == "agent_exited"
        assert "it ended with code 3: it went boom" in failed.message
        assert [e.status for e in events if isinstance(e, ev.ToolUpdate)][-1] == "failed"
        said = json.loads(await ask(session, "recall"))
        assert ["user", "remember me"] in said
        assert len(here.sent("session/resume")) == 1
        assert notices_of(await events_of(session)) == []


async def test_an_agent_that_dies_of_a_cancel_ends_the_turn_as_cancelled_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()

        async def cancel(_: Any) -> None:
            await session.submit(Cancel())

        ended = (await collect(session, "brittle", {ev.Text: cancel}))[-1]
        assert isinstance(ended, ev.TurnFinished)
        assert ended.stop_reason == "cancelled"
        assert await ask(session, "hello") == "You said hello"
    gc.collect()
    assert "never retrieved" not in caplog.text


async def test_a_process_that_dies_between_turns_is_noticed_and_started_again(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()
        os.kill(int(await ask(session, "pid")), signal.SIGKILL)
        async with asyncio.timeout(10):
            while not (noticed := notices_of(await events_of(session))):
                await asyncio.sleep(0.01)
        assert noticed == ["the process of Scripted ended; it is started again with the next prompt"]
        assert await ask(session, "hello") == "You said hello"


async def test_a_cancelled_turn_ends_the_prompt_and_its_questions(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()

        async def cancel(_: Any) -> None:
            await session.submit(Cancel())

        events = await collect(session, "silent", answers={ev.Text: cancel})
        assert isinstance(events[-1], ev.TurnFinished)
        assert events[-1].stop_reason == "cancelled"
        events = await collect(session, "ask", answers={ev.Asked: cancel})
        assert isinstance(events[-1], ev.TurnFinished)
        assert len(here.sent("session/cancel")) == 2
        assert await ask(session, "hello") == "You said hello"
        assert len(here.sent("initialize")) == 1
        answers = [one["result"] for one in received(here.log) if "result" in one]
        assert answers == [{"outcome": {"outcome": "cancelled"}}]


async def test_an_agent_that_does_not_stop_is_killed_and_its_session_loaded_again(tmp_path: Path) -> None:
    async with world(tmp_path, "--ignore", "INT,TERM", "--stays", cancel_within=0.2) as here:
        session = await here.hub.create()
        pid = int(await ask(session, "pid"))

        async def cancel(_: Any) -> None:
            await session.submit(Cancel())

        events = await collect(session, "deaf", answers={ev.Text: cancel})
        assert isinstance(events[-1], ev.TurnFinished)
        assert json.loads(await ask(session, "recall", within=30.0))[0] == ["user", "pid"]
        assert not is_alive(pid)
        assert len(here.sent("session/new")) == 1


async def test_a_turn_that_ends_without_a_word_is_noticed_but_not_that_of_a_command(tmp_path: Path) -> None:
    """Kimi Code 2.1.0 ends a turn so when its model's provider refuses."""
    async with world(tmp_path) as here:
        session = await here.hub.create()
        (noticed,) = only(await collect(session, "mute"), ev.Notice)
        assert noticed.title == "Scripted ended the turn without a word"
        assert "a key that" in (noticed.description or "")
        for prompt in ("/mute", "hello"):
            assert notices_of(await collect(session, prompt)) == []
        (noticed,) = only(await collect(session, "mute 401 Unauthorized"), ev.Notice)
        assert noticed.description == "The end of its stderr: 401 Unauthorized"
        (noticed,) = only(await collect(session, "mute"), ev.Notice)
        assert "401" not in (noticed.description or ""), "that was another turn's"


async def test_an_error_that_an_agent_says_as_its_only_words_is_a_word(tmp_path: Path) -> None:
    async with world(tmp_path, profile="claude-code") as here:
        events = await collect(await here.hub.create(), "overloaded")
        assert text_of(events) == "API Error: 529 overloaded"
        assert notices_of(events) == []


async def test_a_shared_process_is_not_stopped_for_one_session(tmp_path: Path) -> None:
    async with world(tmp_path, shared=True, cancel_within=0.2) as here:
        first, second = await here.hub.create(), await here.hub.create()
        pid = await ask(second, "pid")

        async def cancel(_: Any) -> None:
            await first.submit(Cancel())

        events = await collect(first, "deaf", {ev.Text: cancel})
        assert isinstance(events[-1], ev.TurnFinished)
        assert await ask(second, "pid") == pid
        assert await ask(first, "pid") != pid, "it goes on at once, in a process of its own"
        third = await here.hub.create()
        assert await ask(third, "pid") != pid
        assert await ask(second, "pid") == pid
        assert "Scripted goes on with a cancelled prompt" in notices_of(await events_of(first))


async def test_a_session_that_is_closed_in_a_turn_ends_its_process(tmp_path: Path) -> None:
    async with world(tmp_path, "--stays", cancel_within=0.1) as here:
        session = await here.hub.create()
        pid = int(await ask(session, "pid"))
        await session.prompt(Prompt.of("deaf"))
        await until(lambda: len(here.sent("session/prompt")) == 2)
        await session.close()
        await until(lambda: not is_alive(pid))
