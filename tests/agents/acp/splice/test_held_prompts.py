"""Two editors on one session, each with an agent of its own: no agent answers to what it does not know."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.agents.acp.splice.pairs import Pair, paired
from tests.agents.acp.splice.test_relay import said, say_and_end
from tests.hubs import only, until
from trunkline import events as ev
from trunkline.agents.acp.splice import held_prompts as module
from trunkline.agents.acp.splice import journal as journal_module
from trunkline.agents.acp.splice.held_prompts import BUSY, STUCK, WENT_ON
from trunkline.folding import fold


@asynccontextmanager
async def first_editor(folder: Path) -> AsyncGenerator[Pair]:
    """An editor with a new session."""
    (folder / "a").mkdir()
    async with paired(folder / "a") as pair:
        await pair.handshake()
        await pair.new()
        yield pair


@asynccontextmanager
async def second_editor(folder: Path, first: Pair) -> AsyncGenerator[Pair]:
    """Another editor, with an agent of its own, that resumes the session of the first one."""
    (folder / "b").mkdir()
    async with paired(folder / "b", journal=first.journal) as pair:
        await pair.handshake()
        await pair.call("session/resume", {"sessionId": "native-1", "cwd": "/"}, {})
        yield pair


async def refused(pair: Pair, text: str, *, closes: bool = False) -> str:
    """Let the editor send a prompt that never reaches the agent; gives why."""
    params = {"sessionId": "native-1", "prompt": [{"type": "text", "text": text}]}
    pair.editor.send(id=text, method="session/prompt", params=params)
    if closes:
        closing = await pair.agent.until(method="session/close")
        pair.agent.send(id=closing["id"], result={})
    answer = await pair.editor.until(id=text)
    assert answer["error"]["code"] == -32600
    return answer["error"]["message"]


async def test_what_an_agent_says_after_its_turn_is_nothing_that_another_agent_lacks(tmp_path: Path) -> None:
    async with first_editor(tmp_path) as first:
        await say_and_end(first, "Hi", "Hello.")
        (tmp_path / "b").mkdir()
        async with paired(tmp_path / "b", journal=first.journal) as second:
            await second.handshake()
            second.editor.send(id="load", method="session/load", params={"sessionId": "native-1", "cwd": "/"})
            heard = await second.agent.until(method="session/load")
            first.agent.update("native-1", "available_commands_update", availableCommands=[])
            first.agent.update("native-1", "session_info_update", title="After the turn")
            while not any(isinstance(event, ev.InfoChanged) for event in await first.events()):
                pass
            second.agent.send(id=heard["id"], result={})
            await second.editor.until(id="load")
            await say_and_end(second, "There", "Here.")


async def test_two_editors_have_one_session_in_turn_and_all_of_it_is_journalled(tmp_path: Path) -> None:
    async with first_editor(tmp_path) as first:
        await say_and_end(first, "Hi", "Hello.")
        async with second_editor(tmp_path, first) as second:
            await say_and_end(second, "There", "Here.")
            await second.events()
            # The first agent does not know what the second one was told: it must load that.
            assert await refused(first, "Again", closes=True) == WENT_ON
            await first.call("session/load", {"sessionId": "native-1", "cwd": "/"}, {})
            await say_and_end(first, "Again", "Yes.")  # It is handed back.
            assert said(fold(await first.events())) == ["Hi", "Hello.", "There", "Here.", "Again", "Yes."]


async def test_an_editor_that_opens_the_session_again_by_itself_goes_on(tmp_path: Path) -> None:
    async with first_editor(tmp_path) as first, second_editor(tmp_path, first) as second:
        await say_and_end(second, "There", "Here.")
        await second.events()
        first.editor.send(id="load", method="session/load", params={"sessionId": "native-1", "cwd": "/"})
        closing = await first.agent.next()  # Else it would go on with what it has in memory.
        assert (closing["method"], closing["params"]) == ("session/close", {"sessionId": "native-1"})
        first.agent.send(id=closing["id"], result={})
        loading = await first.agent.next()
        first.agent.send(id=loading["id"], result={})
        assert (await first.editor.until(id="load"))["result"] == {}
        await say_and_end(first, "Again", "Yes.")
        assert said(fold(await first.events())) == ["There", "Here.", "Again", "Yes."]


async def test_an_agent_that_cannot_close_a_session_has_to_be_restarted(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    async with paired(tmp_path / "a") as first:
        await first.handshake(agentCapabilities={"loadSession": True})
        await first.new()
        async with paired(tmp_path / "b", journal=first.journal) as second:
            await second.call("session/resume", {"sessionId": "native-1", "cwd": "/"}, {})
            await say_and_end(second, "There", "Here.")
            await second.events()
            assert await refused(first, "Again") == STUCK
            await first.call("session/load", {"sessionId": "native-1", "cwd": "/"}, {})
            assert await refused(first, "Once more") == STUCK


async def test_a_session_that_another_editor_only_looked_at_goes_on(tmp_path: Path) -> None:
    async with first_editor(tmp_path) as first:
        await say_and_end(first, "Hi", "Hello.")
        async with second_editor(tmp_path, first) as second:
            await second.session()
            await say_and_end(first, "Again", "Yes.")
            assert said(fold(await first.events())) == ["Hi", "Hello.", "Again", "Yes."]


async def test_while_another_process_is_busy_with_the_session_a_prompt_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "TAKE_OVER_WITHIN", 0.2)
    async with first_editor(tmp_path) as first:
        editor_id, heard = await first.prompt("Work")
        await first.session()
        async with second_editor(tmp_path, first) as second:
            for text in ("One", "Two"):
                assert await refused(second, text, closes=text == "One") == WENT_ON
            assert second.agent.is_quiet
            first.agent.say("native-1", "Done.")
            first.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
            await first.editor.until(id=editor_id)
            await first.session()
            # The agent was asked for the session while the turn still ran.
            assert await refused(second, "Three") == WENT_ON
            await second.call("session/load", {"sessionId": "native-1", "cwd": "/"}, {})
            await say_and_end(second, "Four", "Here.")
            events = await second.events()
        assert said(fold(events)) == ["Work", "Done.", "Four", "Here."]
        assert not only(events, ev.Notice)


async def test_a_prompt_is_refused_while_the_session_is_at_work_in_another_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with first_editor(tmp_path) as first, second_editor(tmp_path, first) as second:
        await second.session()
        editor_id, heard = await second.prompt("Work")
        await second.session()
        monkeypatch.setattr(journal_module, "TAKE_OVER_WITHIN", 0.2)
        assert await refused(first, "Meanwhile") == BUSY
        second.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        await second.editor.until(id=editor_id)
        await second.session()
        assert await refused(first, "Now", closes=True) == WENT_ON


async def test_a_prompt_waits_for_the_session_and_so_does_what_follows_it(tmp_path: Path) -> None:
    async with first_editor(tmp_path) as first:
        await say_and_end(first, "Hi", "Hello.")
        async with second_editor(tmp_path, first) as second:
            await second.session()
            params = {"sessionId": "native-1", "prompt": [{"type": "text", "text": "Again"}]}
            first.editor.send(id=1, method="session/prompt", params=params)
            first.editor.send(
                id=2, method="session/set_mode", params={"sessionId": "native-1", "modeId": "x"}
            )
            first.editor.send(method="_x/other", params={"n": 1})
            assert [(await first.agent.next())["method"] for _ in range(3)] == [
                "_x/other",
                "session/prompt",
                "session/set_mode",
            ]


async def test_a_prompt_that_waits_can_be_cancelled_and_withdrawn(tmp_path: Path) -> None:
    async with first_editor(tmp_path) as first:
        _, heard = await first.prompt("Work")
        await first.session()
        async with second_editor(tmp_path, first) as second:
            params = {"sessionId": "native-1", "prompt": [{"type": "text", "text": "Meanwhile"}]}
            second.editor.send(id="p", method="session/prompt", params=params)
            second.editor.send(id="q", method="session/prompt", params=params)
            second.editor.send(method="$/cancel_request", params={"requestId": "q"})
            assert (await second.editor.until(id="q"))["error"]["code"] == -32800
            second.editor.send(method="session/cancel", params={"sessionId": "native-1"})
            assert (await second.editor.until(id="p"))["result"] == {"stopReason": "cancelled"}
            second.editor.send(method="$/cancel_request", params={"requestId": "gone"})
            assert (await second.agent.next())["method"] == "$/cancel_request"
            assert second.agent.is_quiet
        first.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        assert said(fold(await first.events())) == ["Work"]


async def test_an_editor_that_leaves_while_its_prompt_waits_says_nothing_of_the_journal(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with first_editor(tmp_path) as first:
        _, heard = await first.prompt("Work")
        await first.session()
        async with second_editor(tmp_path, first) as second:
            params = {"sessionId": "native-1", "prompt": [{"type": "text", "text": "Meanwhile"}]}
            second.editor.send(id="p", method="session/prompt", params=params)
        assert "not journalled" not in caplog.text
        assert second.agent.is_quiet
        first.agent.send(id=heard["id"], result={"stopReason": "end_turn"})


async def test_an_editor_that_sends_much_while_its_prompt_waits_has_to_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HELD_LIMIT", 3)
    async with first_editor(tmp_path) as first:
        await say_and_end(first, "Hi", "Hello.")
        async with second_editor(tmp_path, first) as second:
            await second.session()
            params = {"sessionId": "native-1", "prompt": [{"type": "text", "text": "Again"}]}
            for number in range(3):
                first.editor.send(id=number, method="session/prompt", params=params)
            assert first.editor.paused
            for _ in range(3):
                await first.agent.until(method="session/prompt")
            await until(lambda: not first.editor.paused)
