"""The editor's files and terminals behind the methods an agent knows."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest
from tests.frontends.acp.memory_editor import ABLE, Editor, editing
from tests.hubs import hub_for

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.content import TerminalBlock
from trunkline.errors import Denied, WorkspaceError
from trunkline.session.context import TurnContext
from trunkline.workspace import Policy


async def test_files_are_the_editors_and_stay_inside_the_session(tmp_path: Path) -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield await ctx.files.read("a.txt", line=2, limit=1)
        await ctx.files.write("b.txt", "written")
        for path in ("/etc/hosts", "../up.txt"):
            try:
                await ctx.files.read(path)
            except WorkspaceError as error:
                yield type(error).__name__

    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
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


async def test_an_editor_is_not_asked_for_what_the_policy_denies(tmp_path: Path) -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        for attempt in (ctx.files.read("a.txt"), ctx.files.write("a.txt", "x"), ctx.terminals.create(["ls"])):
            try:
                await attempt
            except Denied:
                yield "denied "

    async with hub_for(agent, policy=Policy.deny()) as hub, editing(hub, ABLE) as editor:
        session_id = await editor.open(tmp_path)
        await editor.prompt(session_id, "go")
        assert editor.text == "denied denied denied "
        assert [editor.asked(name) for name in ("fs/read_text_file", "terminal/create")] == [[], []]


@pytest.mark.parametrize("offer", ["readTextFile", "writeTextFile"])
async def test_what_an_editor_does_not_offer_goes_to_the_disk(offer: str, tmp_path: Path) -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        await ctx.files.write("a.txt", "disk")
        yield await ctx.files.read("a.txt")

    async with hub_for(agent) as hub, editing(hub, {"fs": {offer: True}}) as editor:
        editor.answers["fs/read_text_file"] = lambda params: {"content": "editor"}
        editor.answers["fs/write_text_file"] = lambda params: (tmp_path / "a.txt").write_text("editor") and {}
        await editor.prompt(await editor.open(tmp_path), "go")
        assert editor.text == "editor"
        asked = {item["method"] for item in editor.log if item.get("method", "").startswith("fs/")}
        assert asked == {"fs/read_text_file" if offer == "readTextFile" else "fs/write_text_file"}


async def test_a_session_without_a_usable_folder_still_opens() -> None:
    async with hub_for() as hub, editing(hub, ABLE) as editor:
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

    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
        editor.answers |= {
            "terminal/create": lambda params: {"terminalId": "t1"},
            "terminal/wait_for_exit": lambda params: {"exitCode": 3},
            "terminal/output": lambda params: {
                "output": "made", "truncated": False, "exitStatus": {"exitCode": 3},
            },
            "terminal/kill": lambda params: {},
            "terminal/release": lambda params: {},
        }  # fmt: skip
        await editor.say("go")
        (created,) = editor.asked("terminal/create")
        assert created == {
            "method": "terminal/create",
            "sessionId": editor.session_id,
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
        await editor.call("session/close", sessionId=editor.session_id)
        assert len(editor.asked("terminal/release")) == 1


# -- an editor is no way around the rules ---------------------------------------------------------


def as_editors_do(editor: Editor) -> None:
    """Let an editor open the paths that it is given: real ones follow links and write in place."""

    def write(params: dict[str, Any]) -> None:
        Path(params["path"]).write_text(params["content"])

    editor.answers["fs/read_text_file"] = lambda params: {"content": Path(params["path"]).read_text()}
    editor.answers["fs/write_text_file"] = write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "proj"
    (folder / ".git" / "hooks").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "up").symlink_to(tmp_path)
    (folder / "g").symlink_to(".git")
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to(tmp_path / "made")
    os.mkfifo(folder / "pipe")
    return folder


async def attempts(root: Path, *work: Callable[[TurnContext], Awaitable[Any]]) -> tuple[list[str], Editor]:
    """Let an agent try things in a session of an able editor; gives what came of each."""

    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        for one in work:
            try:
                await one(ctx)
                results.append("done")
            except WorkspaceError as error:
                results.append(type(error).__name__)
        yield "tried"

    results: list[str] = []
    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
        as_editors_do(editor)
        editor.answers["terminal/create"] = lambda params: {"terminalId": "t1"}
        editor.answers["terminal/release"] = lambda params: {}
        await editor.prompt(await editor.open(root), "go")
        return results, editor


@pytest.mark.parametrize(
    "path",
    ["link", "up/secret", "g/config", "loop", "dangling", "pipe", ".", "src/../../secret", "../secret"],
)
async def test_no_link_leads_an_editor_out_of_the_session(path: str, root: Path) -> None:
    (root / ".git" / "config").write_text("old")
    results, editor = await attempts(
        root, lambda ctx: ctx.files.read(path), lambda ctx: ctx.files.write(path, "evil")
    )
    assert "done" not in results
    assert not editor.asked("fs/read_text_file")
    assert not editor.asked("fs/write_text_file")
    assert (root.parent / "secret").read_text() == "secret"
    assert (root / ".git" / "config").read_text() == "old"
    assert not (root.parent / "made").exists()


@pytest.mark.parametrize(
    "path",
    ["g/hooks/pre-commit", ".git/hooks/pre-commit", ".GIT/config", ".mcp.json", "sub/.vscode/tasks.json"],
)
async def test_an_editor_writes_no_protected_file(path: str, root: Path) -> None:
    results, editor = await attempts(root, lambda ctx: ctx.files.write(path, "evil"))
    assert results in (["Denied"], ["NotAFile"])
    assert not editor.asked("fs/write_text_file")
    assert not (root / ".git" / "hooks" / "pre-commit").exists()


async def test_a_file_that_is_only_in_the_editor_is_judged_by_its_letters(root: Path) -> None:
    async with hub_for() as hub, editing(hub, ABLE) as editor:
        session = await hub.session(await editor.open(root))
        editor.answers["fs/read_text_file"] = lambda params: {"content": "unsaved"}
        editor.answers["fs/write_text_file"] = lambda params: None
        assert await session.view.files.read("new/folder/a.txt") == "unsaved"
        await session.view.files.write("new/folder/../a.txt", "text")
        assert [asked["path"] for asked in editor.log if asked.get("method", "").startswith("fs/")] == [
            f"{root}/new/folder/a.txt",
            f"{root}/new/a.txt",
        ]
        for path in ("new/../../secret", "new/.git/config"):
            with pytest.raises(WorkspaceError):
                await session.view.files.write(path, "evil")


async def test_an_editor_does_not_write_through_a_second_name_of_a_file(root: Path) -> None:
    (root / ".git" / "config").write_text("old")
    os.link(root / ".git" / "config", root / "notes.txt")
    results, editor = await attempts(root, lambda ctx: ctx.files.write("notes.txt", "new"))
    assert results == ["done"]
    assert not editor.asked("fs/write_text_file")
    assert ((root / ".git" / "config").read_text(), (root / "notes.txt").read_text()) == ("old", "new")


async def test_sizes_and_lines_are_limited_in_an_editor_too(root: Path) -> None:
    big = "x" * (10 * 1024 * 1024 + 1)
    (root / "big.txt").write_text(big)
    results, editor = await attempts(
        root,
        lambda ctx: ctx.files.write("a.txt", big),
        lambda ctx: ctx.files.read("a.txt", line=-1),
        lambda ctx: ctx.files.read("big.txt"),
        lambda ctx: ctx.files.write("a.txt", "\ud800"),
    )
    assert results == ["TooLarge", "WorkspaceError", "TooLarge", "WorkspaceError"]
    assert not editor.asked("fs/write_text_file")


@pytest.mark.parametrize("cwd", ["/", "/etc", "..", "up", "g", "../proj-evil", "pipe", "link"])
async def test_an_editor_runs_commands_in_the_sessions_folders_only(cwd: str, root: Path) -> None:
    results, editor = await attempts(root, lambda ctx: ctx.terminals.create(["true"], cwd=cwd))
    assert results in (["OutsideRoots"], ["NotAFile"])
    assert not editor.asked("terminal/create")


async def test_an_editors_command_gets_a_folder_a_limit_and_none_of_our_variables(root: Path) -> None:
    env = {"A": "b", "TRUNKLINE_TOKEN": "secret", "Trunkline_Url": "x"}
    results, editor = await attempts(
        root,
        lambda ctx: ctx.terminals.create(["true"], env=env, output_byte_limit=10**12),
        lambda ctx: ctx.terminals.create(["true"], cwd="not/yet"),
        lambda ctx: ctx.terminals.create(["true"], env={"A=B": "c"}),
        lambda ctx: ctx.terminals.create(["a\0b"]),
        lambda ctx: ctx.terminals.create(cast("Any", "ls -l")),
        lambda ctx: ctx.terminals.create([]),
    )
    assert results == ["done", "done", *["WorkspaceError"] * 4]
    first, second = editor.asked("terminal/create")
    assert first["env"] == [{"name": "A", "value": "b"}]
    assert (first["cwd"], first["outputByteLimit"]) == (str(root), 1024 * 1024)
    assert second["cwd"] == f"{root}/not/yet"


async def test_an_editors_terminals_are_as_few_as_ours(root: Path) -> None:
    names = iter(range(100))

    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        opened = [await ctx.terminals.create(["true"]) for _ in range(16)]
        try:
            await ctx.terminals.create(["true"])
        except WorkspaceError as error:
            yield str(error)
        await opened[3].release()
        await ctx.terminals.create(["true"])

    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
        editor.answers["terminal/create"] = lambda params: {"terminalId": f"t{next(names)}"}
        editor.answers["terminal/release"] = lambda params: {}
        await editor.prompt(await editor.open(root), "go")
        assert "16 terminals are open" in editor.text
        assert len(editor.asked("terminal/create")) == 17


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

    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
        if answer is not ...:
            editor.answers["fs/read_text_file"] = lambda params: answer
        await editor.prompt(await editor.open(tmp_path), "go")
        assert "read 'a.txt'" in editor.text
        assert why in editor.text
