"""A session a client has open: a prompt behind its cancel, and requests behind their updates."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.frontends.acp.memory_editor import ABLE, Editor, editing
from tests.hubs import forever, hub_for, soon, until

from trunkline.commands import Prompt
from trunkline.content import TerminalBlock
from trunkline.journal import SessionKey
from trunkline.journal.memory import MemoryJournal
from trunkline.protocols.jsonrpc.messages import RpcError
from trunkline.session.context import TurnContext


def words(session_id: str, text: str) -> dict[str, Any]:
    return {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]}


# -- a prompt behind its cancel --------------------------------------------------------------------


async def waits(prompt: Prompt) -> AsyncIterator[str]:
    yield f"{prompt.text} "
    if prompt.text == "wait":
        try:
            await forever()
        finally:
            await asyncio.sleep(0.01)


def ask(editor: Editor, session_id: str, text: str) -> asyncio.Future[Any]:
    return editor.connection.ask("session/prompt", words(session_id, text))[1]


async def ask_and_cancel(editor: Editor, session_id: str) -> asyncio.Future[Any]:
    """Send a prompt, and its cancel once the agent works on it."""
    old = ask(editor, session_id, "wait")
    await until(lambda: editor.text.endswith("wait "))
    editor.connection.notify("session/cancel", {"sessionId": session_id})
    return old


async def test_a_prompt_right_behind_its_cancel_waits_for_the_answer_to_the_old_one() -> None:
    async with hub_for(waits) as hub, editing(hub) as editor:
        session_id = await editor.open()
        for _ in range(3):
            old = await ask_and_cancel(editor, session_id)
            new = ask(editor, session_id, "next")
            assert (await soon(old))["stopReason"] == "cancelled"
            assert (await soon(new))["stopReason"] == "end_turn"
            assert editor.heard()[-4:] == [
                "agent_message_chunk", "= session/prompt", "agent_message_chunk", "= session/prompt",
            ]  # fmt: skip
            assert editor.text.endswith("wait next ")


async def test_only_the_first_of_several_prompts_behind_a_cancel_waits() -> None:
    async with hub_for(waits) as hub, editing(hub) as editor:
        session_id = await editor.open()
        old = await ask_and_cancel(editor, session_id)
        first, second = ask(editor, session_id, "first"), ask(editor, session_id, "second")
        with pytest.raises(RpcError, match="a prompt is running") as refused:
            await soon(second)
        assert refused.value.rpc_code == -32600
        assert (await soon(old))["stopReason"] == "cancelled"
        assert (await soon(first))["stopReason"] == "end_turn"
        assert editor.text == "wait first "


async def test_a_prompt_that_waits_behind_a_cancel_can_be_cancelled_itself() -> None:
    async with hub_for(waits) as hub, editing(hub) as editor:
        session_id = await editor.open()
        old = await ask_and_cancel(editor, session_id)
        new = ask(editor, session_id, "wait")
        editor.connection.notify("session/cancel", {"sessionId": session_id})
        assert (await soon(old))["stopReason"] == (await soon(new))["stopReason"] == "cancelled"
        assert (await editor.prompt(session_id, "third"))["stopReason"] == "end_turn"


async def test_a_prompt_that_has_not_begun_is_cancelled_when_its_session_is_closed() -> None:
    # "The agent MUST cancel any ongoing work related to the session (treat it as if session/cancel was
    # called)" (https://agentclientprotocol.com/protocol/v1/session-setup)
    async with hub_for(waits) as hub, editing(hub) as editor:
        session_id = await editor.open()
        old = await ask_and_cancel(editor, session_id)
        new = ask(editor, session_id, "wait")
        await editor.call("session/close", sessionId=session_id)
        assert (await soon(old))["stopReason"] == (await soon(new))["stopReason"] == "cancelled"


async def test_a_cancel_without_a_turn_does_nothing_to_the_next_one() -> None:
    async with hub_for(waits) as hub, editing(hub) as editor:
        session_id = await editor.open()
        for named in (session_id, "nobody"):
            editor.connection.notify("session/cancel", {"sessionId": named})
        assert (await editor.prompt(session_id, "next"))["stopReason"] == "end_turn"


async def test_a_prompt_behind_the_cancel_of_an_agent_that_does_not_stop_waits_no_longer_than_it_may() -> (
    None
):
    let_go = asyncio.Event()

    async def stubborn(prompt: Prompt) -> AsyncIterator[str]:
        yield f"{prompt.text} "
        while prompt.text == "wait" and not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue

    async with hub_for(stubborn, detach_after=0.05) as hub, editing(hub) as editor:
        session_id = await editor.open()
        old = await ask_and_cancel(editor, session_id)
        new = ask(editor, session_id, "next")
        assert (await soon(old))["stopReason"] == "cancelled"
        assert (await soon(new))["stopReason"] == "end_turn"
        let_go.set()


# -- requests behind their updates -----------------------------------------------------------------


def lends_all(editor: Editor) -> None:
    editor.answers.update({
        "fs/read_text_file": lambda params: {"content": "text"},
        "fs/write_text_file": lambda params: {},
        "terminal/create": lambda params: {"terminalId": "term-1"},
        "terminal/wait_for_exit": lambda params: {"exitCode": 0},
        "terminal/output": lambda params: {"output": "", "truncated": False},
        "terminal/release": lambda params: {},
    })  # fmt: skip


async def test_a_file_is_written_after_the_updates_before_it(tmp_path: Path) -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "Before. "
        async with ctx.tool("write_file", input={"path": "a.txt"}) as call:
            call.output("one")
            call.output("two")
            await ctx.files.write("a.txt", "text")

    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
        lends_all(editor)
        await editor.prompt(await editor.open(tmp_path), "go")
        written = editor.heard().index("fs/write_text_file")
        outputs = editor.heard()[1:written]
        assert outputs[:3] == ["session_info_update", "agent_message_chunk", "tool_call"]
        output = [item for item in editor.log[: written - 1] if "content" in item][-1]["content"]
        assert "onetwo" in str(output), "what waits to be told with more is told first"


async def test_a_terminal_is_made_after_its_call_and_released_after_it_was_shown(tmp_path: Path) -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        async with ctx.tool("run", kind="execute") as call:
            terminal = await ctx.terminals.create(["true"])
            call.show(TerminalBlock(terminal_id=terminal.terminal_id))
            await terminal.release()
        yield "done"

    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
        lends_all(editor)
        session_id = await editor.open(tmp_path)
        for _ in range(5):
            editor.log.clear()
            await editor.prompt(session_id, "go")
            names = [
                item.get("method")
                or ("shown" if "'terminal'" in str(item.get("content")) else item["sessionUpdate"])
                for item in editor.log
            ]
            assert names.index("tool_call") < names.index("terminal/create")
            assert names.index("shown") < names.index("terminal/release")


async def test_an_agent_that_uses_files_while_it_is_cancelled_does_not_wait_for_itself(
    tmp_path: Path,
) -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "begun"
        try:
            await forever()
        finally:
            await ctx.files.write("a.txt", "the last words")

    async with hub_for(agent, detach_after=5.0) as hub, editing(hub, ABLE) as editor:
        lends_all(editor)
        session_id = await editor.open(tmp_path)
        for early in (False, True):
            prompting = ask(editor, session_id, "go")
            if not early:
                await until(lambda: editor.text == "begun")
            editor.connection.notify("session/cancel", {"sessionId": session_id})
            assert (await soon(prompting, 2.0))["stopReason"] == "cancelled"


class Hesitant(MemoryJournal):
    """Takes its time to keep a title, so that a prompt is acknowledged late."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()

    async def describe(self, key: SessionKey, *, title: str | None) -> None:
        await self.go_on.wait()
        await super().describe(key, title=title)


async def test_a_request_of_an_agent_that_is_faster_than_its_prompts_receipt_waits_to_be_shown(
    tmp_path: Path,
) -> None:
    asks = asyncio.Event()

    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "Before. "
        asks.set()
        await ctx.files.write("a.txt", "text")

    journal = Hesitant()
    await journal.open()
    async with hub_for(agent, journal=journal) as hub, editing(hub, ABLE) as editor:
        lends_all(editor)
        session_id = await editor.open(tmp_path)
        playing = ask(editor, session_id, "go")
        await soon(asks.wait())
        files = (await hub.session(session_id)).view.files
        with pytest.raises(TimeoutError):
            await soon(files.write("b.txt", "text"), 0.05)
        assert "fs/write_text_file" not in editor.heard()
        journal.go_on.set()
        await soon(playing)
        heard = editor.heard()
        assert heard.index("agent_message_chunk") < heard.index("fs/write_text_file")
