"""One program in a terminal: bounded reading, pasted text, questions to the terminal."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from tests.hubs import soon, until

from trunkline.agents.pty.program import PtyProgram, Timing
from trunkline.transports.process.child import Exit

TIMING = Timing(settle=0.05, quiet=1.0, start=10.0)


@asynccontextmanager
async def running(code: str, timing: Timing = TIMING) -> AsyncGenerator[PtyProgram]:
    program = PtyProgram(timing, 24, 80)
    await program.start([sys.executable, "-u", "-c", code], None, dict(os.environ))
    try:
        yield program
    finally:
        await program.close()


async def answer(program: PtyProgram, text: str) -> str:
    await program.type(text)
    return "".join([piece async for piece in program.until_quiet()])


async def greeting(program: PtyProgram) -> str:
    return "".join([piece async for piece in program.greeting()])


async def test_a_hundred_thousand_lines_come_whole_though_nobody_reads_for_a_while() -> None:
    async with running("input('> ')\nfor n in range(100_000): print(n)") as program:
        assert await greeting(program) == ">"
        await program.type("go")
        await until(lambda: program.is_waiting, 30)
        pieces = [piece async for piece in program.until_quiet()]
        assert "".join(pieces).split() == [str(number) for number in range(100_000)]
        assert program.exit == Exit(0, None)


async def test_lines_are_pasted_as_one_where_the_program_asks_for_it() -> None:
    code = (
        "import os, sys, termios, tty\n"
        "tty.setraw(0); os.write(1, b'\\x1b[?2004hready\\r\\n')\n"
        "data = b''\n"
        "while not data.endswith(b'\\r'): data += os.read(0, 100)\n"
        "os.write(1, repr(data).encode() + b'\\r\\n')"
    )
    async with running(code) as program:
        assert await greeting(program) == "ready\n"
        assert await answer(program, "a\nb") == repr(b"\x1b[200~a\rb\x1b[201~\r") + "\n"


async def test_a_program_that_asks_the_terminal_where_the_cursor_is_gets_an_answer() -> None:
    code = (
        "import os, tty\n"
        "tty.setraw(0); os.write(1, b'ab\\x1b[6n')\n"
        "data = b''\n"
        "while not data.endswith(b'R'): data += os.read(0, 100)\n"
        "os.write(1, b'\\r\\n' + repr(data).encode() + b'\\r\\n')"
    )
    async with running(code) as program:
        assert repr(b"\x1b[1;3R") in await soon(greeting(program), 20)


async def test_what_is_typed_without_being_shown_is_not_taken_for_an_answer_that_says_the_same() -> None:
    code = "import getpass; w = getpass.getpass('Password: '); print(w)"
    async with running(code) as program:
        assert await greeting(program) == "Password:"
        assert "secret" in await answer(program, "secret")


async def test_text_is_read_as_utf_8_however_it_is_cut() -> None:
    code = (
        "import os, time; input()\n"
        "for byte in 'grün 日本\\n'.encode(): os.write(1, bytes([byte])); time.sleep(0.005)"
    )
    async with running(code, Timing(settle=0.05, quiet=1.0, start=0.5)) as program:
        await greeting(program)
        assert await answer(program, "go") == "grün 日本\n"
