"""The editor's files and terminals behind the methods an agent knows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.frontends.acp.editors import ABLE, editing
from tests.worlds import world

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.content import TerminalBlock
from trunkline.context import TurnContext
from trunkline.errors import WorkspaceError

TEXT = [{"type": "text", "text": "hi"}]


async def test_files_are_the_editors_and_stay_inside_the_session(tmp_path: Path) -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield await ctx.files.read("a.txt", line=2, limit=1)
        await ctx.files.write("b.txt", "written")
        for path in ("/etc/hosts", "../up.txt"):
            try:
                await ctx.files.read(path)
            except WorkspaceError as error:
                yield type(error).__name__

    async with world(agent) as hub, editing(hub, ABLE) as editor:
        editor.answers["fs/read_text_file"] = lambda params: {"content": "unsaved "}
        editor.answers["fs/write_text_file"] = lambda params: None
        session_id = await editor.open(tmp_path)
        await editor.prompt(session_id, "go")
        assert editor.text == "unsaved OutsideRootsOutsideRoots"
        assert editor.asked("fs/read_text_file") == [
            {
                "method": "fs/read_text_file",
                "sessionId": session_id,
                "path": str(tmp_path / "a.txt"),
                "line": 2,
                "limit": 1,
            }
        ]
        (written,) = editor.asked("fs/write_text_file")
        assert (written["path"], written["content"]) == (str(tmp_path / "b.txt"), "written")
        assert not (tmp_path / "b.txt").exists()


@pytest.mark.parametrize("offer", ["readTextFile", "writeTextFile"])
async def test_what_an_editor_does_not_offer_goes_to_the_disk(offer: str, tmp_path: Path) -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        await ctx.files.write("a.txt", "disk")
        yield await ctx.files.read("a.txt")

    async with world(agent) as hub, editing(hub, {"fs": {offer: True}}) as editor:
        editor.answers["fs/read_text_file"] = lambda params: {"content": "editor"}
        editor.answers["fs/write_text_file"] = lambda params: (tmp_path / "a.txt").write_text("editor") and {}
        await editor.prompt(await editor.open(tmp_path), "go")
        assert editor.text == "editor"
        asked = {item["method"] for item in editor.log if item.get("method", "").startswith("fs/")}
        assert asked == {"fs/read_text_file" if offer == "readTextFile" else "fs/write_text_file"}


async def test_a_session_without_a_usable_folder_still_opens() -> None:
    async with world() as hub, editing(hub, ABLE) as editor:
        session_id = await editor.open("/nowhere/at/all")
        assert (await editor.prompt(session_id, "hi"))["stopReason"] == "end_turn"


async def test_terminals_are_the_editors_and_are_released() -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
        terminal = await ctx.terminals.create(
            ["make", "test"], cwd="/src", env={"A": "b"}, output_byte_limit=9
        )
        async with ctx.tool("make") as call:
            call.show(TerminalBlock(terminal_id=terminal.terminal_id))
            async for piece in terminal.stream():
                yield ev.TerminalOutput(terminal_id=terminal.terminal_id, data=piece)
        code, _ = await terminal.wait()
        await terminal.kill()
        yield f"{terminal.output().text} {code}"

    async with world(agent) as hub, editing(hub, ABLE) as editor:
        editor.answers |= {
            "terminal/create": lambda params: {"terminalId": "t1"},
            "terminal/wait_for_exit": lambda params: {"exitCode": 3},
            "terminal/output": lambda params: {
                "output": "made", "truncated": False, "exitStatus": {"exitCode": 3},
            },
            "terminal/kill": lambda params: {},
            "terminal/release": lambda params: {},
        }  # fmt: skip
        session_id = await editor.open()
        await editor.prompt(session_id, "go")
        (created,) = editor.asked("terminal/create")
        assert created == {
            "method": "terminal/create",
            "sessionId": session_id,
            "command": "make",
            "args": ["test"],
            "env": [{"name": "A", "value": "b"}],
            "cwd": "/src",
            "outputByteLimit": 9,
        }
        assert editor.text == "made 3"
        assert [u["content"] for u in editor.updates("tool_call_update") if "content" in u] == [
            [{"type": "terminal", "terminalId": "t1"}]
        ]
        assert editor.asked("terminal/release") == []
        await editor.call("session/close", sessionId=session_id)
        assert len(editor.asked("terminal/release")) == 1


async def test_an_editor_that_refuses_fails_the_turn_with_its_own_words() -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        await ctx.terminals.create(["ls"])
        yield "unreachable"

    async with world(agent) as hub, editing(hub, ABLE) as editor:
        session_id = await editor.open()
        error = await editor.refused("session/prompt", sessionId=session_id, prompt=TEXT)
        assert "this editor does not do that" in error.message


async def test_a_command_must_be_a_list_of_words() -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        commands: list[Any] = ["ls -l", []]
        for command in commands:
            try:
                await ctx.terminals.create(command)
            except WorkspaceError as error:
                yield str(error)

    async with world(agent) as hub, editing(hub, ABLE) as editor:
        await editor.prompt(await editor.open(), "go")
        assert editor.text.count("give the command as a list of words") == 2


@pytest.mark.parametrize(
    ("answer", "why"),
    [(None, "its answer is not ACP"), ({"content": 5}, "its answer is not ACP"), (..., "does not do that")],
)
async def test_an_editors_failure_is_the_workspaces_error_and_names_the_path(
    answer: Any, why: str, tmp_path: Path
) -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        try:
            await ctx.files.read("a.txt")
        except WorkspaceError as error:
            yield str(error)

    async with world(agent) as hub, editing(hub, ABLE) as editor:
        if answer is not ...:
            editor.answers["fs/read_text_file"] = lambda params: answer
        await editor.prompt(await editor.open(tmp_path), "go")
        assert "read 'a.txt'" in editor.text
        assert why in editor.text
