"""PtyAgent with real programs: shells, interpreters, full screens, stubborn ones and short ones."""

import asyncio
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.hubs import WAIT, collect, events_of, hub_for, only, soon, text_of
from tests.process_state import wait_until_gone

from trunkline import events as ev
from trunkline.agents.interface import PromptCapabilities
from trunkline.agents.pty import PtyAgent
from trunkline.agents.pty.agent import Timing
from trunkline.agents.targets import resolve_target
from trunkline.commands import Prompt
from trunkline.content import LinkBlock, TextBlock
from trunkline.errors import InvalidCommand, TargetError
from trunkline.session.session import Session
from trunkline.session.settings import Settings

BRISK = Timing(settle=0.05, quiet=0.5, redraw=2.0, start=5.0, interrupt=1.0)
PATIENT = Settings(detach_after=15.0, close_agent_after=15.0, question_ttl=60.0)


def python(code: str) -> list[str]:
    return [sys.executable, "-u", "-c", code]


@asynccontextmanager
async def session_of(command: Any, timing: Timing = BRISK, **fields: Any) -> AsyncGenerator[Session]:
    async with hub_for(PtyAgent(command, timing=timing, **fields), settings=PATIENT) as hub:
        yield await hub.create()


async def answer(session: Session, text: str) -> str:
    return text_of(await collect(session, text, within=30))


async def shown(session: Session, pattern: str) -> "re.Match[str]":
    """Wait until the program has shown this."""
    async with asyncio.timeout(WAIT):
        while (found := re.search(pattern, text_of(await events_of(session)))) is None:
            await asyncio.sleep(0.01)
    return found


def notices(events: list[Any]) -> list[str]:
    return [notice.title for notice in only(events, ev.Notice)]


async def test_a_shell_answers_what_is_typed_and_keeps_its_state() -> None:
    async with session_of(["bash", "--norc", "--noprofile"], env={"PS1": "$ "}) as session:
        assert await answer(session, "X=42; echo hello") == "$\nhello\n"
        assert await answer(session, "echo $X") == "42\n"
        assert await answer(session, "stty size; tty | cut -c 1-8") == "40 120\n/dev/pts\n"


async def test_an_interpreter_answers_without_its_prompts() -> None:
    async with session_of([sys.executable, "-i", "-q"], env={"PYTHON_BASIC_REPL": "1"}) as session:
        assert (await answer(session, "1 + 1")).splitlines()[-1] == "2"
        assert await answer(session, "'ä' * 3 + '日本'") == "'äää日本'\n"


async def test_a_program_that_repeats_its_input_shows_it_once() -> None:
    async with session_of("cat", Timing(settle=0.05, quiet=0.5, start=0.2)) as session:
        assert await answer(session, "one\ntwo") == "one\ntwo\n"
        link = (TextBlock(text="see"), LinkBlock(uri="file:///a", name="a"))
        assert text_of(await collect(session, Prompt(content=link), within=30)) == "see\nfile:///a\n"


async def test_colours_titles_and_control_characters_never_reach_the_front_end() -> None:
    code = r"print('\x1b]0;t\x07\x1b[1;31mred\x1b[0m\x07\x1b[?25l done')"
    async with session_of(python(f"input(); {code}")) as session:
        assert await answer(session, "go\x1b[A\x03") == "red done\n", "nor is one typed"


async def test_a_full_screen_program_is_shown_as_its_screen() -> None:
    code = (
        "import curses\n"
        "def main(s):\n"
        "    curses.curs_set(0); n = 0\n"
        "    while True:\n"
        "        s.erase(); s.addstr(2, 4, f'keys: {n}', curses.A_BOLD); s.refresh()\n"
        "        s.getch(); n += 1\n"
        "curses.wrapper(main)\n"
    )
    async with session_of(python(code)) as session:
        first = await answer(session, "a")
        assert first.splitlines()[-1].strip() == "keys: 2", "the letter, and Enter"
        assert (await answer(session, "bb")).strip() == "keys: 5"


async def test_a_progress_bar_is_shown_as_it_ends() -> None:
    code = (
        "import time; input()\n"
        "for n in range(0, 101, 5):\n"
        "    print(f'\\r{n}%', end='', flush=True); time.sleep(0.01)\n"
        "print('\\ndone'); input()"
    )
    async with session_of(python(code)) as session:
        assert await answer(session, "go") == "100%\ndone\n"


async def test_a_spinner_does_not_keep_a_turn_open_for_ever() -> None:
    code = (
        "import itertools, time; input()\n"
        "for c in itertools.cycle('|/-'): print(f'\\r{c} busy', end='', flush=True); time.sleep(0.02)"
    )
    async with session_of(python(code), Timing(settle=0.05, quiet=0.5, redraw=1.0)) as session:
        assert "busy" in await answer(session, "go")


async def test_what_a_program_says_between_turns_is_a_turn_of_its_own() -> None:
    code = "import time; input(); print('soon', flush=True); time.sleep(1.5); print('later'); input()"
    async with session_of(python(code)) as session:
        assert await answer(session, "go") == "soon\n"
        await shown(session, "later")
        await soon(session.wait_until_idle())
        started = only(await events_of(session), ev.TurnStarted)
        assert [turn.by for turn in started][1:] == ["agent"]


# -- Ctrl-C ------------------------------------------------------------------------------------------


async def cancelled(session: Session, prompt: str, pattern: str) -> list[ev.AnyEvent]:
    """Cancel a turn once the program has shown something."""
    await session.prompt(prompt)
    await shown(session, pattern)
    assert await soon(session.cancel(), 20)
    return await events_of(session)


async def test_pty_ctrl_c_stops_what_a_shell_runs_and_the_shell_goes_on() -> None:
    async with session_of(["bash", "--norc", "--noprofile"], env={"PS1": "$ "}) as session:
        events = await cancelled(session, "echo pid $BASHPID; sleep 600", r"pid (\d+)")
        assert only(events, ev.TurnFinished)[-1].stop_reason == "cancelled"
        assert notices(events) == []
        assert "still here" in await answer(session, "echo still here")


async def test_pty_ctrl_c_ends_a_program_which_the_next_prompt_starts_again() -> None:
    async with session_of("cat", Timing(settle=0.05, quiet=0.5, start=0.2)) as session:
        await answer(session, "one")
        await session.prompt("two")
        assert await soon(session.cancel(), 20)
        events = await events_of(session)
        assert notices(events) == ["cat was ended by SIGINT"]
        again = await collect(session, "three", within=30)
        assert (text_of(again), notices(again)) == ("three\n", ["cat was started again"])


async def test_a_program_that_ignores_ctrl_c_is_killed_with_all_it_started() -> None:
    code = (
        "import os, signal, subprocess, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "child = subprocess.Popen(['setsid', 'sleep', '600'])\n"
        "input(); print('pids', os.getpid(), child.pid, flush=True)\n"
        "while True: time.sleep(1)"
    )
    async with session_of(python(code)) as session:
        events = await cancelled(session, "go", r"pids (\d+) (\d+)")
        assert notices(events) == [f"{Path(sys.executable).name} did not react to Ctrl-C and was killed"]
        found = await shown(session, r"pids (\d+) (\d+)")
        wait_until_gone(int(found[1]), int(found[2]))


# -- the end of a program ----------------------------------------------------------------------------


async def test_pty_exit_is_noticed_at_once_with_its_code_and_the_next_prompt_starts_it_again() -> None:
    async with session_of(["bash", "--norc", "--noprofile"], Timing(quiet=20.0, start=0.5)) as session:
        events = await collect(session, "echo bye; exit 3", within=10)
        assert "bye" in text_of(events)
        assert notices(events) == ["bash ended with the exit code 3"]
        assert only(events, ev.TurnFinished)[0].stop_reason == "end_turn"


async def test_a_program_that_ends_at_once_says_so_and_shows_what_it_wrote() -> None:
    async with session_of(python("print('no terminal here'); raise SystemExit(2)")) as session:
        events = await collect(session, "hello", within=30)
        assert text_of(events) == "no terminal here\n"
        assert notices(events) == [f"{Path(sys.executable).name} ended with the exit code 2"]


async def test_a_program_that_ends_between_turns_is_noticed_without_a_turn() -> None:
    async with session_of(
        python("import time; input(); print('ok', flush=True); time.sleep(1.5)")
    ) as session:
        assert await answer(session, "go") == "ok\n"
        async with asyncio.timeout(WAIT):
            while not notices(await events_of(session)):
                await asyncio.sleep(0.01)
        assert notices(await events_of(session)) == [f"{Path(sys.executable).name} ended"]


async def test_no_process_is_left_when_the_session_is_closed() -> None:
    async with session_of(["bash", "--norc", "--noprofile"]) as session:
        text = await answer(session, "(setsid sleep 600 & echo pids $! $BASHPID)")
        found = re.search(r"pids (\d+) (\d+)", text)
        assert found is not None
    wait_until_gone(int(found[1]), int(found[2]))


# -- what cannot be done -----------------------------------------------------------------------------


async def test_a_command_that_is_not_there_is_named_with_the_path() -> None:
    missing = r"^Agent command not found: no-such-program-here; looked in PATH="
    with pytest.raises(TargetError, match=missing):
        async with session_of("no-such-program-here"):
            pass


async def test_a_program_that_is_not_in_the_folder_of_the_session_is_named() -> None:
    async with session_of("./no-such-program") as session:
        failed = only(await collect(session, "hello"), ev.TurnFailed)[0]
        assert failed.message.startswith("Agent command not found: ./no-such-program")


async def test_a_program_that_may_not_run_is_named(tmp_path: Path) -> None:
    async with session_of([str(tmp_path)]) as session:
        failed = only(await collect(session, "hello"), ev.TurnFailed)[0]
        assert "cannot be started: Permission denied" in failed.message


async def test_a_line_that_the_terminal_would_cut_is_refused() -> None:
    async with session_of("cat", Timing(settle=0.05, quiet=0.3, start=0.2)) as session:
        failed = only(await collect(session, "x" * 5000, within=30), ev.TurnFailed)[0]
        assert "5000 bytes" in failed.message
        assert await answer(session, "short") == "short\n"


async def test_going_back_and_copying_are_refused() -> None:
    async with hub_for(PtyAgent("cat", timing=Timing(quiet=0.2, start=0.1)), settings=PATIENT) as hub:
        session = await hub.create()
        await collect(session, "one", within=30)
        with pytest.raises(InvalidCommand, match="cannot go back"):
            await session.rewind(None)
        with pytest.raises(InvalidCommand, match="cannot be copied"):
            await hub.fork(session)


def test_its_card_says_what_it_cannot_do() -> None:
    card = resolve_target("pty:python3 -i").card
    assert (card.name, card.title) == ("python3", "python3 -i")
    for word in ("no tool calls", "no permissions", "no images", "forgets", "cannot go back"):
        assert word in (card.description or "")
    assert card.prompt == PromptCapabilities(embedded_context=False)


@pytest.mark.parametrize(("target", "why"), [("pty:", "needs a command"), ("pty:'x", "No closing quotation")])
def test_a_command_that_cannot_be_read_is_refused(target: str, why: str) -> None:
    with pytest.raises(TargetError, match=why):
        resolve_target(target)
