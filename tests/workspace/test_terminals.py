"""Terminals: what a command gets, how many there may be, and that closing ends all."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from tests.process_state import is_alive
from tests.workspace.commands import finished, script, wait_for_output

from trunkline.errors import NotAFile, OutsideRoots, WorkspaceError
from trunkline.workspace.guard import FileAccess, TextChange
from trunkline.workspace.terminal import Exit
from trunkline.workspace.terminals import Terminals

# -- what a command gets --------------------------------------------------------------------------


async def test_a_command_runs_in_the_first_root_and_its_output_is_joined(
    terminals: Terminals, root: Path
) -> None:
    terminal = await terminals.create(["sh", "-c", "pwd; echo oops >&2; exit 3"])
    assert await terminal.wait() == Exit(3, None)
    assert terminal.output() == (f"{root}\noops\n", False, 3, None)


async def test_a_command_runs_in_a_folder_inside_the_roots(terminals: Terminals, root: Path) -> None:
    for cwd in ("src", "src/", root / "src"):
        terminal = await terminals.create(["sh", "-c", 'pwd -P; echo "$PWD"'], cwd=cwd)
        assert await finished(terminal) == f"{root}/src\n{root}/src\n"


async def test_a_folder_outside_a_link_or_a_file_is_no_place_to_run(terminals: Terminals, root: Path) -> None:
    (root / "link").symlink_to(root.parent / "proj-evil")
    (root / "file").touch()
    for cwd, error in (
        ("../proj-evil", OutsideRoots),
        (f"{root}-evil", OutsideRoots),
        ("link", NotAFile),
        ("file", NotAFile),
        ("missing", WorkspaceError),
    ):
        with pytest.raises(error):
            await terminals.create(["true"], cwd=cwd)


async def test_without_procfs_the_folder_is_entered_by_its_path(
    terminals: Terminals, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "isdir", lambda path: not str(path).startswith("/proc/"))  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    terminal = await terminals.create(["pwd"], cwd="src")
    assert await finished(terminal) == f"{root}/src\n"


async def test_the_environment_is_scrubbed(root: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "LANG": "C", "AWS_SECRET_ACCESS_KEY": "x", "TRUNKLINE_TOKEN": "x"}
    async with Terminals([root], environ=environ) as terminals:
        terminal = await terminals.create(
            script("import json, os; print(json.dumps(dict(os.environ)))"),
            env={"MINE": "1", "LANG": "C.UTF-8", "TRUNKLINE_URL": "x"},
        )
        seen = json.loads(await finished(terminal))
    seen.pop("LC_CTYPE", None)  # the interpreter's own
    assert seen == {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "MINE": "1", "PWD": str(root)}


async def test_the_process_environment_is_what_the_list_chooses_from(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GH_TOKEN", "ghp_secret")
    monkeypatch.setenv("TZ", "UTC")
    async with Terminals([root]) as terminals:
        lines = (await finished(await terminals.create(["env"]))).splitlines()
    assert "TZ=UTC" in lines
    assert not any("ghp_secret" in line for line in lines)


async def test_a_command_line_in_one_piece_is_refused(terminals: Terminals) -> None:
    with pytest.raises(WorkspaceError, match="there is no shell"):
        await terminals.create("git status")
    for nothing in ([], [""]):
        with pytest.raises(WorkspaceError, match="begins with a program's name"):
            await terminals.create(nothing)


# -- output ---------------------------------------------------------------------------------------


async def test_nobody_gets_a_bigger_limit_than_the_session_has(root: Path) -> None:
    async with Terminals([root], output_byte_limit=10) as terminals:
        for wanted, kept in ((None, 10), (1000, 10), (4, 4), (0, 0), (-1, 0)):
            terminal = await terminals.create(["printf", "x" * 100], output_byte_limit=wanted)
            assert await finished(terminal) == "x" * kept
            await terminal.release()


# -- the end --------------------------------------------------------------------------------------


async def test_a_start_that_is_cancelled_leaves_nothing_running(root: Path) -> None:
    async with asyncio.timeout(20), Terminals([root], max_terminals=1) as terminals:
        for pauses in range(6):
            mark = root / f"pid{pauses}"
            starting = asyncio.create_task(
                terminals.create(["sh", "-c", 'echo $$ > "$1"; sleep 60', "sh", str(mark)])
            )
            for _ in range(pauses):
                await asyncio.sleep(0)
            starting.cancel()
            with suppress(asyncio.CancelledError):
                await (await starting).release()
            if mark.exists() and mark.read_text():
                assert not is_alive(int(mark.read_text()))
        await terminals.create(["true"])  # the one place is free


async def test_a_start_that_fails_while_it_is_cancelled_takes_no_place(root: Path) -> None:
    async with Terminals([root], max_terminals=1) as terminals:
        starting = asyncio.create_task(terminals.create(["no-such-program"]))
        await asyncio.sleep(0)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        await terminals.create(["true"])


async def test_closing_waits_for_a_command_that_is_starting(root: Path) -> None:
    terminals = Terminals([root])
    starting = asyncio.create_task(terminals.create(["sleep", "60"]))
    await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await terminals.close()
        terminal = await starting
        assert await terminal.wait() == Exit(None, "SIGTERM")


async def test_there_is_a_limit_and_a_release_makes_room(root: Path) -> None:
    async with Terminals([root]) as terminals:
        opened = await asyncio.gather(*(terminals.create(["true"]) for _ in range(16)))
        assert len({terminal.terminal_id for terminal in opened}) == 16
        with pytest.raises(WorkspaceError, match="16 terminals are open, which is the limit: release one"):
            await terminals.create(["true"])
        await opened[3].release()
        await terminals.create(["true"])


async def test_the_ids_can_be_chosen(root: Path) -> None:
    async with Terminals([root], ids=iter(["t1", "t2"]).__next__) as terminals:
        assert (await terminals.create(["true"])).terminal_id == "t1"
        assert (await terminals.create(["true"])).terminal_id == "t2"


async def test_closing_releases_all_and_lets_nothing_new_start(root: Path) -> None:
    terminals = Terminals([root])
    opened = [await terminals.create(["sh", "-c", "echo $$; sleep 60"]) for _ in range(3)]
    pids = [int(await wait_for_output(terminal, "\n")) for terminal in opened]
    await terminals.close()
    await terminals.close()
    assert not any(is_alive(pid) for pid in pids)
    with pytest.raises(WorkspaceError, match="closing"):
        await terminals.create(["true"])


async def test_without_roots_nothing_runs() -> None:
    with pytest.raises(OutsideRoots, match="has no folder"):
        await Terminals([]).create(["true"])


# -- lines for a shell --


async def test_a_line_is_run_by_a_shell_in_the_folder(terminals: Terminals, root: Path) -> None:
    terminal = await terminals.create_line("pwd; echo $A > f && cat f", env={"A": "b"}, cwd="src")
    assert await terminal.wait() == (0, None)
    assert terminal.output().text == f"{root}/src\nb\n"
    await terminal.release()


async def test_the_guard_judges_the_line_and_not_the_shell(terminals: Terminals) -> None:
    judged: list[object] = []

    class Guard:
        async def check_file(
            self, access: FileAccess, path: str, resolved: str, change: TextChange | None = None
        ) -> None: ...

        async def check_command(
            self, command: Sequence[str] | str, env: Mapping[str, str], folder: str
        ) -> None:
            judged.append(command)

    terminals.guard = Guard()
    for terminal in (await terminals.create_line("true && true"), await terminals.create(["true"])):
        await terminal.release()
    assert judged == ["true && true", ("true",)]
