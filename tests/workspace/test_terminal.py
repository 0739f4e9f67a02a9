"""One terminal: its output, and that nothing of it is left."""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from tests.process_state import is_alive
from tests.workspace.commands import finished, gone, script, wait_for_output

from trunkline.errors import WorkspaceError
from trunkline.workspace import terminal as terminal_module
from trunkline.workspace.terminal import Exit
from trunkline.workspace.terminals import Terminals


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


async def test_the_last_bytes_are_kept_and_cut_between_characters(terminals: Terminals) -> None:
    terminal = await terminals.create(["printf", "%s", "abc世界"], output_byte_limit=5)
    await terminal.wait()
    assert terminal.output() == ("界", True, 0, None)


async def test_bytes_that_are_no_text_are_replaced(terminals: Terminals) -> None:
    terminal = await terminals.create(["printf", r"a\377b\344\270"])
    assert await finished(terminal) == "a\ufffdb\ufffd"


async def test_a_flood_is_kept_within_the_limit(terminals: Terminals) -> None:
    terminal = await terminals.create(["sh", "-c", "yes | head -c 20000000"], output_byte_limit=1000)
    await terminal.wait()
    assert terminal.output() == ("y\n" * 500, True, 0, None)


async def test_output_is_seen_while_the_command_runs(terminals: Terminals) -> None:
    terminal = await terminals.create(["sh", "-c", "echo ready; sleep 60"])
    await wait_for_output(terminal, "ready\n")
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


async def test_killing_is_polite_first(terminals: Terminals) -> None:
    terminal = await terminals.create(
        ["sh", "-c", "trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done"]
    )
    await wait_for_output(terminal, "ready")
    await terminal.kill()
    assert await terminal.wait() == Exit(7, None)
    assert terminal.output().text.endswith("bye\n")


async def test_a_command_that_ignores_the_polite_signal_is_killed(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal_module, "GRACE", 0.2)
    terminal = await terminals.create(["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"])
    await wait_for_output(terminal, "ready")
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
        other_pid = int(await wait_for_output(other, "\n"))
        terminal = await terminals.create([word.replace("NOTE", str(note)) for word in LEAVERS[how]])
        pid = await noted(note)
        assert is_alive(pid)
        await (terminal.kill() if end == "kill" else terminal.release())
        assert not is_alive(pid)
        assert is_alive(other_pid), "another terminal's is let alone"
        assert is_alive(bystander.pid), "and so is a child of ours that no terminal started"
        bystander.kill()
        await bystander.wait()


async def test_a_supervisor_that_somebody_kills_is_told_as_a_killed_command(terminals: Terminals) -> None:
    terminal = await terminals.create(["sh", "-c", "echo $$ $PPID; exec sleep 600"])
    pid, supervisor = map(int, (await wait_for_output(terminal, "\n")).split())
    os.kill(supervisor, signal.SIGKILL)
    try:
        assert await terminal.wait() == Exit(None, "SIGKILL")
        await terminal.release()
    finally:
        os.kill(pid, signal.SIGKILL)


async def test_a_command_whose_supervisor_cannot_be_started_says_which_file_is_missing(
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
    pid = int(await wait_for_output(terminal, "\n"))
    releasing = asyncio.create_task(terminal.release())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    releasing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await releasing
    assert not is_alive(pid)
    with pytest.raises(WorkspaceError):
        terminals.get(terminal.terminal_id)


async def test_releasing_twice_is_releasing_once(terminals: Terminals) -> None:
    terminal = await terminals.create(["sleep", "60"])
    assert terminals.get(terminal.terminal_id) is terminal
    await asyncio.gather(terminal.release(), terminal.release())
    await terminal.release()
    assert await terminal.wait() == Exit(None, "SIGTERM")
    with pytest.raises(WorkspaceError, match="released or never made"):
        terminals.get(terminal.terminal_id)
