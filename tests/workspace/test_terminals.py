"""Terminals: what a command gets, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from trunkline.errors import NotAFile, OutsideRoots, WorkspaceError
from trunkline.workspace import terminal as terminal_module
from trunkline.workspace.terminal import Exit, Terminal
from trunkline.workspace.terminals import Terminals


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "proj"
    (folder / "src").mkdir(parents=True)
    (tmp_path / "proj-evil").mkdir()
    return folder


@pytest.fixture
async def terminals(root: Path) -> AsyncIterator[Terminals]:
    async with asyncio.timeout(30), Terminals([root]) as opened:
        yield opened


def script(source: str) -> list[str]:
    return [sys.executable, "-c", source]


async def finished(terminal: Terminal) -> str:
    await terminal.wait()
    return terminal.output().text


async def said(terminal: Terminal, words: str) -> str:
    """Wait until the output has these words in it."""
    text = ""
    async for piece in terminal.stream():
        text += piece
        if words in text:
            return text
    raise AssertionError(f"{words!r} was never said: {text!r}")


def is_alive(pid: int) -> bool:
    """Whether a process exists; one that only waits to be buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def gone(pid: int) -> None:
    async with asyncio.timeout(5):
        while is_alive(pid):
            await asyncio.sleep(0.01)


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


async def test_nothing_is_on_stdin_and_no_descriptor_is_inherited(terminals: Terminals) -> None:
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)
    try:
        terminal = await terminals.create(
            script("import os, sys; print(repr(sys.stdin.read()), len(os.listdir('/proc/self/fd')))")
        )
        # Its three, and the one that lists them.
        assert await finished(terminal) == "'' 4\n"
    finally:
        os.close(reading)
        os.close(writing)


async def test_a_command_leads_a_session_of_its_own(terminals: Terminals) -> None:
    terminal = await terminals.create(
        script("import os; print(os.getpid() == os.getsid(0) == os.getpgid(0))")
    )
    assert await finished(terminal) == "True\n"


async def test_words_are_not_read_by_any_shell(terminals: Terminals) -> None:
    terminal = await terminals.create(["echo", "$HOME;", "`id`", "*", "> x"])
    assert await finished(terminal) == "$HOME; `id` * > x\n"


async def test_a_command_line_in_one_piece_is_refused(terminals: Terminals) -> None:
    with pytest.raises(WorkspaceError, match="there is no shell"):
        await terminals.create("git status")
    for nothing in ([], [""]):
        with pytest.raises(WorkspaceError, match="begins with a program's name"):
            await terminals.create(nothing)


async def test_a_program_that_cannot_start_is_named_with_what_to_do(terminals: Terminals, root: Path) -> None:
    (root / "plain.txt").write_text("echo hello")
    (root / "empty").write_text("echo hello")
    (root / "empty").chmod(0o755)
    (root / "lost").write_text("#!/no/such/interpreter\n")
    (root / "lost").chmod(0o755)
    for argv, message in (
        (["no-such-program"], "'no-such-program' cannot be started: .* not found; install it"),
        (["./lost"], "or the interpreter it names"),
        (["./plain.txt"], "not executable; check its mode"),
        (["./empty"], "add a #! line"),
        (["echo", "x" * 5_000_000], "too long"),
        (["echo", "a\0b"], "null byte"),
    ):
        with pytest.raises(WorkspaceError, match=message):
            await terminals.create(argv)
    with pytest.raises(WorkspaceError, match="environment variable name"):
        await terminals.create(["true"], env={"A=B": "x"})
    with pytest.raises(WorkspaceError, match=r"not int"):
        await terminals.create(["echo", 1])  # pyright: ignore[reportArgumentType]
    await terminals.create(["true"])  # none of them took a place


def test_every_cause_can_be_said() -> None:
    assert terminal_module._cause(5) == "input/output error"  # pyright: ignore[reportPrivateUsage]


# -- output ---------------------------------------------------------------------------------------


async def test_the_last_bytes_are_kept_and_cut_between_characters(terminals: Terminals) -> None:
    terminal = await terminals.create(["printf", "%s", "abc世界"], output_byte_limit=5)
    await terminal.wait()
    assert terminal.output() == ("界", True, 0, None)


async def test_bytes_that_are_no_text_are_replaced(terminals: Terminals) -> None:
    terminal = await terminals.create(["printf", r"a\377b\344\270"])
    assert await finished(terminal) == "a\ufffdb\ufffd"


async def test_nobody_gets_a_bigger_limit_than_the_session_has(root: Path) -> None:
    async with Terminals([root], output_byte_limit=10) as terminals:
        for wanted, kept in ((None, 10), (1000, 10), (4, 4), (0, 0), (-1, 0)):
            terminal = await terminals.create(["printf", "x" * 100], output_byte_limit=wanted)
            assert await finished(terminal) == "x" * kept
            await terminal.release()


async def test_a_flood_is_kept_within_the_limit(terminals: Terminals) -> None:
    terminal = await terminals.create(["sh", "-c", "yes | head -c 20000000"], output_byte_limit=1000)
    await terminal.wait()
    assert terminal.output() == ("y\n" * 500, True, 0, None)


async def test_output_is_seen_while_the_command_runs(terminals: Terminals) -> None:
    terminal = await terminals.create(["sh", "-c", "echo ready; sleep 60"])
    await said(terminal, "ready\n")
    assert terminal.output() == await terminal.look() == ("ready\n", False, None, None)


async def test_a_stream_gives_all_of_the_output_and_then_ends(terminals: Terminals) -> None:
    terminal = await terminals.create(["sh", "-c", "echo one; echo two"])
    assert "".join([piece async for piece in terminal.stream()]) == "one\ntwo\n"
    assert "".join([piece async for piece in terminal.stream()]) == "one\ntwo\n"


async def test_a_slow_reader_learns_how_much_it_missed(terminals: Terminals, root: Path) -> None:
    source = "echo start; while [ ! -e go ]; do sleep 0.01; done; yes | head -c 1000"
    terminal = await terminals.create(["sh", "-c", source], output_byte_limit=100)
    stream = terminal.stream()
    assert await anext(stream) == "start\n"
    (root / "go").touch()
    await terminal.wait()
    assert [piece async for piece in stream] == ["[... 900 bytes skipped ...]\n", "y\n" * 50]


# -- the end --------------------------------------------------------------------------------------


async def test_killing_is_polite_first(terminals: Terminals) -> None:
    terminal = await terminals.create(
        ["sh", "-c", "trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done"]
    )
    await said(terminal, "ready")
    await terminal.kill()
    assert await terminal.wait() == Exit(7, None)
    assert terminal.output().text.endswith("bye\n")


async def test_a_command_that_ignores_the_polite_signal_is_killed(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal_module, "GRACE", 0.2)
    terminal = await terminals.create(["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"])
    await said(terminal, "ready")
    await terminal.kill()
    assert await terminal.wait() == Exit(None, "SIGKILL")
    assert terminal.output()[2:] == (None, "SIGKILL")


async def test_grandchildren_die_with_their_terminal(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal_module, "GRACE", 0.3)
    # One obeys the polite signal and one does not; the main process is gone before either.
    source = (
        "(trap '' TERM; echo $$; exec sh -c 'echo $$; while :; do sleep 1; done') & sleep 60 & echo $!; wait"
    )
    terminal = await terminals.create(["sh", "-c", source + "; echo never"])
    pids: list[int] = []
    async for _ in terminal.stream():
        pids = [int(line) for line in terminal.output().text.split()]
        if len(pids) == 3:
            break
    assert all(is_alive(pid) for pid in pids)
    await terminal.release()
    for pid in pids:
        await gone(pid)


async def test_a_grandchild_that_holds_the_pipe_does_not_hold_up_the_end(terminals: Terminals) -> None:
    terminal = await terminals.create(["sh", "-c", "sleep 60 & echo $!; exit 4"])
    started = time.monotonic()
    assert await terminal.wait() == Exit(4, None)
    assert time.monotonic() - started < 20
    pid = int(terminal.output().text)
    assert is_alive(pid), "what runs in the background may go on until the release"
    await terminal.release()
    await gone(pid)


DAEMON = """
import os, sys, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.chdir("/")
null = os.open("/dev/null", os.O_RDWR)
for fd in (0, 1, 2):
    os.dup2(null, fd)
with open(sys.argv[1] + ".new", "w") as note:
    note.write(str(os.getpid()))
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(600)
"""
LEAVERS = {
    "setsid": ["setsid", "sh", "-c", 'echo $$ > n; mv n "$0"; exec sleep 600', "NOTE"],
    "setsid in the background": ["sh", "-c", "setsid sh -c 'echo $$ > n; mv n NOTE; exec sleep 600' & wait"],
    "a shell that is gone": ["sh", "-c", "setsid -f sh -c 'echo $$ > n; mv n NOTE; exec sleep 600'"],
    "a daemon": [sys.executable, "-c", DAEMON, "NOTE"],
    "a daemon without a variable": ["env", "-i", sys.executable, "-c", DAEMON, "NOTE"],
    "one that is deaf": [
        "setsid",
        "-f",
        "sh",
        "-c",
        "trap '' TERM HUP; echo $$ > n; mv n NOTE; while :; do sleep 1; done",
    ],
}


def read_if_there(note: Path) -> str:
    return note.read_text() if note.exists() else ""


async def noted(note: Path) -> int:
    async with asyncio.timeout(20):
        while not (text := read_if_there(note)):
            await asyncio.sleep(0.01)
    return int(text)


@pytest.mark.parametrize("how", LEAVERS)
@pytest.mark.parametrize("end", ["kill", "release"])
async def test_whoever_leaves_the_group_ends_with_the_terminal_too(
    how: str, end: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal_module, "GRACE", 0.3)
    note = root / "note"
    os.mkfifo(root / "pipe")
    async with asyncio.timeout(30), Terminals([root]) as terminals:
        bystander = await asyncio.create_subprocess_exec("sleep", "600", start_new_session=True)
        other = await terminals.create(["sh", "-c", "echo $$; exec sleep 600"])
        other_pid = int(await said(other, "\n"))
        terminal = await terminals.create([word.replace("NOTE", str(note)) for word in LEAVERS[how]])
        pid = await noted(note)
        assert is_alive(pid)
        await (terminal.kill() if end == "kill" else terminal.release())
        assert not is_alive(pid)
        assert is_alive(other_pid), "another terminal's is let alone"
        assert is_alive(bystander.pid), "and so is a child of ours that no terminal started"
        bystander.kill()
        await bystander.wait()


async def test_a_keeper_that_somebody_kills_is_told_as_a_killed_command(terminals: Terminals) -> None:
    terminal = await terminals.create(["sh", "-c", "echo $$ $PPID; exec sleep 600"])
    pid, keeper = map(int, (await said(terminal, "\n")).split())
    os.kill(keeper, signal.SIGKILL)
    try:
        assert await terminal.wait() == Exit(None, "SIGKILL")
        await terminal.release()
    finally:
        os.kill(pid, signal.SIGKILL)


async def test_a_command_whose_keeper_cannot_be_started_says_which_file_is_missing(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(WorkspaceError, match=r"'true' cannot be started: .*/no/such/python"):
        await terminals.create(["true"])
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(WorkspaceError, match="the process that watches over it was ended"):
        await terminals.create(["true"])


async def test_a_signal_is_told_by_its_name(terminals: Terminals) -> None:
    for number, name in ((signal.SIGUSR1, "SIGUSR1"), (40, "SIG40")):
        terminal = await terminals.create(script(f"import os; os.kill(os.getpid(), {int(number)})"))
        assert await terminal.wait() == Exit(None, name)


async def test_a_caller_that_is_cancelled_still_leaves_nothing_running(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal_module, "GRACE", 0.2)
    terminal = await terminals.create(["sh", "-c", "trap '' TERM; echo $$; while :; do sleep 1; done"])
    pid = int(await said(terminal, "\n"))
    releasing = asyncio.create_task(terminal.release())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    releasing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await releasing
    assert not is_alive(pid)
    with pytest.raises(WorkspaceError):
        terminals.get(terminal.terminal_id)


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


async def test_releasing_twice_is_releasing_once(terminals: Terminals) -> None:
    terminal = await terminals.create(["sleep", "60"])
    assert terminals.get(terminal.terminal_id) is terminal
    await asyncio.gather(terminal.release(), terminal.release())
    await terminal.release()
    assert await terminal.wait() == Exit(None, "SIGTERM")
    with pytest.raises(WorkspaceError, match="released or never made"):
        terminals.get(terminal.terminal_id)


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
    pids = [int(await said(terminal, "\n")) for terminal in opened]
    await terminals.close()
    await terminals.close()
    assert not any(is_alive(pid) for pid in pids)
    with pytest.raises(WorkspaceError, match="closing"):
        await terminals.create(["true"])


async def test_without_roots_nothing_runs() -> None:
    with pytest.raises(OutsideRoots, match="has no folder"):
        await Terminals([]).create(["true"])
