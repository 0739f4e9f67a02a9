"""What a new user met in the terminal, and must not meet again."""

import re
import time
from pathlib import Path

import pytest
from tests.cli.child_programs import run
from tests.cli.terminal_window import CTRL_C, Window
from tests.process_state import eventually

pytestmark = pytest.mark.slow
# ruff: noqa: RUF001

AGENTS = """
import asyncio
import time
import trunkline
from trunkline.content import DiffBlock

@trunkline.agent(name="editor")
async def edit(prompt, ctx):
    async with ctx.tool("edit_file", kind="edit", title="Edit a.txt", input={"path": "a.txt"}) as call:
        call.show(DiffBlock(path="a.txt", old="old\\n", new="new\\n"))
        ok = await ctx.permission("Edit a.txt?", tool="edit_file", kind="edit", call_id=call.call_id)
    yield "done"

@trunkline.agent(name="joiner")
async def joiner(prompt, ctx):
    yield "👨\\u200d💻 \\u200fשלום\\u200e \\x1b[31mred"

@trunkline.agent(name="raising")
async def raising(prompt, ctx):
    yield "Said before."
    raise ValueError("it broke")

@trunkline.agent(name="blocking")
async def blocking(prompt, ctx):
    open("began", "w").close()
    time.sleep(1000)

@trunkline.agent(name="typing")
def typing(prompt):
    return input("Name? ")

@trunkline.agent(name="silent")
async def silent(prompt, ctx):
    yield prompt.text.removeprefix("nothing")

@trunkline.agent(name="stubborn")
async def stubborn(prompt, ctx):
    yield "I never stop."
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with agents to chat in, with a journal beside it."""
    monkeypatch.setenv("TRUNKLINE_JOURNAL", f"sqlite:{tmp_path / 'journal.db'}")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "agents.py").write_text(AGENTS)
    return folder


def test_a_change_is_shown_in_red_and_green_before_the_question(home: Path) -> None:
    with Window("chat", "agents.py:edit", cwd=home) as window:
        window.see_end("\n\n>")
        window.enter("please")
        window.see("Edit a.txt?", "-old", "+new", "a/A/r/R >")
        assert (window.colour_of("-old"), window.colour_of("+new")) == ("red", "green")


def test_failures_are_red_warnings_yellow_and_logs_stand_below_what_was_said_before(home: Path) -> None:
    with Window("chat", "agents.py:raising", cwd=home) as window:
        window.see_end("\n\n>")
        window.enter("hello")
        window.see("Said before.", "agents.py, line")
        window.see("Said before.", "error: ValueError: it broke")
        assert window.colour_of("error: ValueError") == "red"
        window.enter("/nonsense")
        window.see("There is no command /nonsense")
        assert window.colour_of("There is no") == "brown"  # What pyte calls yellow.


def test_joiners_and_marks_are_letters_in_a_pipe_and_on_a_terminal(home: Path) -> None:
    said = "👨\u200d💻 \u200fשלום\u200e \x1b[31mred"
    assert f"\n{said}\n" in run("chat", "agents.py:joiner", stdin="hello\n", cwd=home).out
    assert run("exec", "agents.py:joiner", "hello", cwd=home).out == f"{said}\n"
    with Window("chat", "agents.py:joiner", cwd=home) as window:
        window.see_end("\n\n>")
        window.enter("hello")
        window.see("> hello", "👨")  # This emulator draws nothing behind a joiner.
        window.see_end("\n\n>")
        assert said.replace("\x1b", "\\x1b") in window.shown


def test_a_second_ctrl_c_leaves_a_turn_that_does_not_stop(home: Path) -> None:
    with Window("chat", "agents.py:stubborn", cwd=home) as window:
        window.see_end("\n\n>")
        window.enter("hello")
        window.see("I never stop.")
        window.press(CTRL_C)
        window.press(CTRL_C)
        assert window.wait() == 130
        assert "resume: trunkline chat agents.py:stubborn --session sess_" in window.text.replace("\n", "")


def test_a_line_sent_while_a_turn_runs_waits_for_its_end(home: Path) -> None:
    with Window("chat", "demo", cwd=home) as window:
        window.see_end("\n\n>")
        window.enter("/wait-for-cancel")
        window.see(" Wait for cancel ")
        window.enter("after that")
        window.see("queued: it is sent when this turn has ended")
        window.press(CTRL_C)
        window.see("stopped: cancelled", "> after that", "after that")
        window.see_end("\n\n>")


def test_a_session_is_continued_with_its_last_turns(home: Path) -> None:
    run("chat", "demo", stdin="".join(f"prompt {number}\n" for number in range(5)), cwd=home)
    with Window("chat", "demo", "--continue", cwd=home) as window:
        shown = window.see_end("\n\n>")
        assert "… 2 earlier turns; /history shows all" in shown
        assert re.findall(r"> (prompt \d)", shown) == ["prompt 2", "prompt 3", "prompt 4"]
    shown = run("chat", "demo", "--continue", "--all", cwd=home).out
    assert re.findall(r"> (prompt \d)", shown) == [f"prompt {number}" for number in range(5)]


def test_a_terminal_without_abilities_is_enough(home: Path) -> None:
    with Window("chat", "demo", cwd=home, columns=40, TERM="dumb") as window:
        window.see_end("\n>")
        window.enter("/permission")
        window.see("Write hello.txt?", "a/A/r/R >")
        assert {len(line) for line in window.lines if line.startswith(("╭", "│", "╰"))} == {40}
        window.enter("a")
        window.see("hello.txt is written.")
        window.see_end("\n>")
        window.press(b"\x04")
        assert window.wait() == 0
        assert "\n> \r\nresume: trunkline chat demo --continue" in window.shown
        assert "\x1b" not in window.shown


def test_colours_can_be_turned_off(home: Path) -> None:
    with Window("chat", "agents.py:edit", cwd=home, NO_COLOR="1") as window:
        window.see_end("\n\n>")
        window.enter("please")
        window.see("-old", "a/A/r/R >")
        assert window.colour_of("-old") == "default"


def test_the_arguments_are_there_to_be_edited(home: Path) -> None:
    with Window("chat", "demo", cwd=home) as window:
        window.see_end("\n\n>")
        window.enter("/edit")
        window.see("a/A/r/R/e >")
        window.enter("e")
        window.see('arguments > {"path": "hello.txt"')
        window.press(b"\x7f\r")  # Without its last brace.
        window.see("that is not JSON")
        window.press(b"}\x01" + b"\x1b[C" * 10 + b"other-\r")
        window.see('│ {"path": "other-hello.txt"', "a/A/r/R/e >")
        window.enter("a")
        window.see_end("\n\n>")
    assert (home / "other-hello.txt").exists()


def test_an_agent_that_calls_input_does_not_take_the_keyboard_away(home: Path) -> None:
    with Window("chat", "agents.py:typing", cwd=home) as window:
        window.see_end("\n\n>")
        window.enter("hello")
        window.see("a chat reads the keyboard itself")
        window.see_end("\n>")
        window.enter("again")
        window.see("> again", "a chat reads the keyboard itself")


def test_ctrl_c_interrupts_an_agent_that_blocks_everything(home: Path) -> None:
    with Window("chat", "agents.py:blocking", cwd=home, controlling=True) as window:
        window.see_end("\n\n>")
        window.enter("hello")
        eventually((home / "began").exists)
        eventually(window.makes_signals)
        window.press(CTRL_C)
        pressed = time.monotonic()
        eventually(lambda: time.monotonic() > pressed + 0.7)
        window.press(CTRL_C)
        window.see("error: KeyboardInterrupt: Ctrl-C was pressed twice")
        window.see_end("\n>")
        window.enter("/help")
        window.see("> /help", "This list")
        assert not window.makes_signals()


def test_a_turn_in_which_nothing_came_says_so(home: Path) -> None:
    shown = run("chat", "agents.py:silent", stdin="nothing\nnothing  \nhello\n", cwd=home).out
    words = "the agent ended its turn without an answer\n"
    assert shown.count(words) == 2
    assert shown.rindex(words) < shown.index("> hello\nhello\n")
