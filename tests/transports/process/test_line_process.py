"""A server behind pipes: lines both ways, its last words, and its end."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.agents.langchain.mcp_example import patiently
from tests.hubs import until
from tests.process_state import is_alive

from trunkline.transports.process import line_process as module
from trunkline.transports.process.line_process import LineProcess


@asynccontextmanager
async def running(
    code: str, pipes: LineProcess | None = None, env: dict[str, str] | None = None, cwd: str | None = None
) -> AsyncGenerator[LineProcess]:
    """A process that runs this code."""
    pipes = pipes or LineProcess()
    await pipes.start(sys.executable, ("-Ic", code), env=env or {}, cwd=cwd)
    try:
        yield pipes
    finally:
        await patiently(pipes.close())


async def rest_of(pipes: LineProcess) -> list[bytes]:
    """Everything that is still said."""
    lines: list[bytes] = []
    while (line := await patiently(pipes.receive())) is not None:
        lines.append(line)
    return lines


async def test_lines_go_both_ways_and_end_with_the_process() -> None:
    async with running("for line in iter(input, 'end'): print(line[::-1], flush=True)") as pipes:
        for word in (b"abc", "öä".encode()):
            await pipes.send(word)
            assert await patiently(pipes.receive()) == word.decode()[::-1].encode()
        assert pipes.exit_description is None
        await pipes.send(b"end")
        assert await rest_of(pipes) == []
        await until(lambda: pipes.exit_description is not None)
        assert pipes.exit_description == "it ended with code 0"


async def test_the_last_message_of_a_process_may_lack_its_newline() -> None:
    async with running("""print('{"a":1}'); print('{"b":2}', end='')""") as pipes:
        assert await rest_of(pipes) == [b'{"a":1}', b'{"b":2}']
    async with running("""print('{"a":1}'); print('{"b":', end='')""") as pipes:
        assert await rest_of(pipes) == [b'{"a":1}'], "half a message is none"


async def test_a_server_that_says_more_than_is_read_has_to_wait_and_loses_nothing() -> None:
    many = 20 * module.WAITING
    async with running(f"for n in range({many}): print(n, 'x' * 200)") as pipes:
        await until(lambda: len(pipes._lines) > module.WAITING)  # pyright: ignore[reportPrivateUsage]
        assert [line.split()[0] for line in await rest_of(pipes)] == [b"%d" % n for n in range(many)]


async def test_a_server_that_does_not_read_holds_the_writer_until_it_ends() -> None:
    async with running("import time; time.sleep(600)") as pipes:
        sending = asyncio.create_task(pipes.send(b"x" * 4_000_000))
        done, _ = await asyncio.wait({sending}, timeout=0.05)
        assert not done
        await patiently(pipes.close(0.0))
        await patiently(sending)


async def test_a_server_that_reads_late_gets_all_of_it(tmp_path: Path) -> None:
    word = tmp_path / "word"
    os.mkfifo(word)
    code = f"import sys; open({str(word)!r}).read(); print(len(sys.stdin.readline()), flush=True)"
    async with running(code) as pipes:
        sending = asyncio.create_task(pipes.send(b"x" * 4_000_000))
        await patiently(asyncio.to_thread(word.write_text, "read now"))
        assert await rest_of(pipes) == [b"4000001"]
        await patiently(sending)


async def test_a_line_that_is_too_long_ends_the_conversation() -> None:
    async with running("print('y'); print('x' * 5000); input()", LineProcess(max_line=1000)) as pipes:
        assert await rest_of(pipes) == [b"y"]
        assert pipes.oversize is not None
        assert pipes.oversize.limit == 1000


async def test_the_end_of_stderr_is_kept_and_a_signal_has_a_name() -> None:
    async with running("import sys; sys.exit('no\\n  luck ' + '!' * 5000)") as pipes:
        assert await rest_of(pipes) == []
        await until(lambda: pipes.exit_description is not None)
        assert (pipes.exit_description or "").startswith("it ended with code 1: ")
        assert len(pipes.exit_description or "") < 400
    async with running("import os; os.kill(os.getpid(), 9)") as pipes:
        await until(lambda: pipes.exit_description is not None)
        assert pipes.exit_description == "it was ended by SIGKILL"


async def test_the_environment_is_the_users_without_what_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUNKLINE_TOKEN", "s3cret")
    monkeypatch.setenv("MINE", "yes")
    code = "import os; print(os.environ.get('TRUNKLINE_TOKEN'), os.environ['MINE'], os.environ['K'])"
    async with running(code, env={"K": "v"}) as pipes:
        assert await rest_of(pipes) == [b"None yes v"]


async def test_a_server_works_in_the_folder_it_is_given(tmp_path: Path) -> None:
    async with running("import os; print(os.getcwd())", cwd=str(tmp_path)) as pipes:
        assert await rest_of(pipes) == [str(tmp_path).encode()]


async def test_the_stubborn_and_their_children_end_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE", 0.3)
    code = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-Ic", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""
    async with running(code) as pipes:
        child = int(await patiently(pipes.receive()) or b"0")
        before = time.monotonic()
        await patiently(pipes.close(0.1))
        assert time.monotonic() - before < 5
        await until(lambda: not is_alive(child))
        assert pipes.exit_description == "it was ended by SIGKILL"


async def test_who_is_cancelled_while_a_server_ends_still_buries_it() -> None:
    async with running("import time; print('up', flush=True); time.sleep(600)") as pipes:
        assert await patiently(pipes.receive()) == b"up"
        ending = asyncio.create_task(pipes.close(60.0))
        await asyncio.sleep(0)
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await patiently(ending)
        assert pipes.exit_description == "it was ended by SIGKILL"


async def test_who_stays_behind_holds_nobody_up_and_ends_too() -> None:
    code = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-Ic", "import time; time.sleep(600)"])
print(child.pid, flush=True)
"""
    async with running(code) as pipes:
        (line,) = await rest_of(pipes)
        child = int(line)
        assert is_alive(child)
        await patiently(pipes.close())
        await until(lambda: not is_alive(child))


async def test_nothing_that_never_started_can_be_ended() -> None:
    pipes = LineProcess()
    with pytest.raises(FileNotFoundError):
        await pipes.start("/no/such/thing", env={}, cwd=None)
    await pipes.close()
    assert pipes.exit_description is None


async def test_lines_can_be_given_to_a_function_and_reading_can_pause() -> None:
    given: list[bytes] = []
    ends: list[bool] = []
    pipes = LineProcess(on_lines=given.extend, on_end=lambda: ends.append(pipes.output_ended))
    async with running("for line in iter(input, 'end'): print(line, flush=True)", pipes):
        pipes.write(b"a\nb\n")
        await until(lambda: given == [b"a", b"b"])
        pipes.pause_reading()
        pipes.pause_reading()
        pipes.write(b"c\n")
        assert not pipes.congested
        await patiently(pipes.drained())
        assert pipes.unread == 0
        pipes.resume_reading()
        await until(lambda: given == [b"a", b"b", b"c"])
        assert not pipes.output_ended
        pipes.write(b"end\n")
        await patiently(pipes.finished.wait())
        assert ends
        assert all(ends)


async def test_a_line_without_end_is_given_up_before_it_ends() -> None:
    code = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    async with running(code, LineProcess(max_line=1000)) as pipes:
        assert await rest_of(pipes) == []
        assert pipes.oversize is not None
        assert pipes.oversize.size > 1000
        pipes.resume_reading()
        assert pipes.output_ended


async def test_stderr_can_be_read_while_the_process_runs_and_as_much_is_kept_as_was_wished() -> None:
    code = "import sys; sys.stderr.write('e' * 5000 + 'end'); sys.stderr.flush(); input()"
    async with running(code, LineProcess(stderr_kept=4000)) as pipes:
        await until(lambda: pipes.stderr.endswith("end"))
        assert len(pipes.stderr) == 4000
        assert pipes.describe_exit() is None
        await pipes.send(b"")
        await patiently(pipes.finished.wait())
        assert pipes.describe_exit(3) == "it ended with code 0: end"


async def test_variables_can_be_kept_from_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "yes")
    pipes = LineProcess()
    code = "import os; print(os.environ.get('MINE'), os.environ['K'], 'PATH' in os.environ)"
    await pipes.start(sys.executable, ("-Ic", code), env={"K": "v"}, cwd=None, env_allow=("PA*",))
    assert await rest_of(pipes) == [b"None v True"]
    await patiently(pipes.close())


async def test_an_interrupt_comes_before_the_end_of_stdin() -> None:
    code = """
import os, signal, sys
signal.signal(signal.SIGINT, lambda *_: os.write(1, b"interrupted\\n"))
print("up", flush=True)
sys.stdin.read()
print("eof", flush=True)
"""
    async with running(code) as pipes:
        assert await patiently(pipes.receive()) == b"up"
        assert not await pipes.interrupt(0.05)
        assert await patiently(pipes.receive()) == b"interrupted"
        closing = asyncio.create_task(pipes.close(5.0, interrupt=0.05))
        assert await rest_of(pipes) == [b"interrupted", b"eof"]
        await patiently(closing)
        assert pipes.exit_description == "it ended with code 0"


async def test_a_signal_to_what_is_gone_does_nothing() -> None:
    async with running("print('up', flush=True)") as pipes:
        await patiently(pipes.finished.wait())
        await pipes.close()
        assert await pipes.interrupt(0.0)
