"""The line editor in a real terminal, in the chat that uses it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.terminal_window import CTRL_C, Window

pytestmark = pytest.mark.slow

UP, DOWN, LEFT, TAB, ENTER, ALT_ENTER, CTRL_D = (
    b"\x1b[A",
    b"\x1b[B",
    b"\x1b[D",
    b"\t",
    b"\r",
    b"\x1b\r",
    b"\x04",
)
ECHO = """
import trunkline

@trunkline.agent(name="echo")
async def echo(prompt, ctx):
    print("printed by the agent")
    yield repr(prompt.text)
"""


@pytest.fixture
def window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Window]:
    """A chat with an agent that says what it got."""
    with chat(tmp_path, monkeypatch) as window:
        yield window


def chat(folder: Path, monkeypatch: pytest.MonkeyPatch, **size: int) -> Window:
    monkeypatch.setenv("TRUNKLINE_JOURNAL", f"sqlite:{folder / 'journal.db'}")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    project = folder / "project"
    (project / "notes").mkdir(parents=True, exist_ok=True)
    (project / "notes" / "shopping-list.md").touch()
    (project / "echo.py").write_text(ECHO)
    return Window(
        "chat", "echo.py:echo", cwd=project, columns=size.get("columns", 80), rows=size.get("rows", 24)
    )


def leave(window: Window) -> None:
    window.see_end("\n\n>")
    window.press(CTRL_D)
    assert window.wait() == 0


def test_a_line_is_edited_with_arrow_keys_and_wide_characters(window: Window) -> None:
    window.see_end("\n\n>")
    window.press("hxllo 你🚀".encode() + LEFT * 6 + b"\x7f" + b"e")
    window.enter("")
    window.see("> hello 你🚀", "'hello 你🚀'")
    window.see("printed by the agent")
    leave(window)


def test_prompts_of_earlier_chats_come_back_with_the_up_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for typed in (b"the first one", b"the second one"):
        with chat(tmp_path, monkeypatch) as window:
            window.see_end("\n\n>")
            window.enter(typed.decode())
            window.see(f"'{typed.decode()}'")
            leave(window)
    with chat(tmp_path, monkeypatch) as window:
        window.see_end("\n\n>")
        window.press(UP)
        window.see_end("> the second one")
        window.press(UP)
        window.see_end("> the first one")
        window.press(DOWN)
        window.see_end("> the second one")
        window.press(b"\x12first")  # Ctrl-R searches.
        window.see("> the first one", "backward")
        window.press(ENTER + CTRL_C)
        leave(window)


def test_several_lines_are_one_prompt_typed_or_pasted(window: Window) -> None:
    window.see_end("\n\n>")
    window.press(b"one" + ALT_ENTER + b"two\\" + ENTER + b"three" + ENTER)
    window.see(r"'one\ntwo\nthree'")
    window.see_end("\n\n>")
    window.press(b"\x1b[200~four\nfive\n\tsix\x1b[201~" + ENTER)
    window.see(r"'four\nfive\n\tsix'")
    leave(window)


def test_commands_and_files_are_completed(window: Window) -> None:
    window.see_end("\n\n>")
    window.press(b"/sess")
    window.see("/sessions  List the sessions")
    window.press(TAB)
    window.see("> /sessions")
    window.press(ENTER + CTRL_C + b"read @shopp")
    window.see("@notes/shopping-list.md")
    window.press(TAB + ENTER + ENTER)
    window.see("'read @notes/shopping-list.md'")
    leave(window)


def test_what_is_not_utf_8_does_not_end_the_chat(window: Window) -> None:
    window.see_end("\n\n>")
    window.press(b"a\xff\xfeb" + ENTER)
    window.see("'a\ufffd\ufffdb'")
    leave(window)


def test_a_terminal_without_our_characters_shows_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    with chat(tmp_path, monkeypatch) as window:
        window.see("echo", "/help, /quit")
        window.press("你".encode() + ENTER)
        window.see("'?'")
        leave(window)


def test_keys_that_come_with_the_end_of_the_input_do_nothing(window: Window) -> None:
    window.see_end("\n\n>")
    window.press(CTRL_D + b"too late" + ENTER)
    assert window.wait() == 0
    assert "Traceback" not in window.text


def test_the_text_is_edited_in_the_persons_own_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "written elsewhere" > "$1"\n')
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    with chat(tmp_path, monkeypatch) as window:
        window.see_end("\n\n>")
        window.press(b"draft\x18\x05")
        window.see_end("> written elsewhere")
        window.press(ENTER)
        window.see("'written elsewhere'")
        leave(window)


def test_a_low_window_shows_what_fits_of_the_menu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with chat(tmp_path, monkeypatch, rows=7) as window:
        window.see_end("\n\n>")
        window.press(b"/")
        window.see("> /", "/help", "/mode")
        assert "too small" not in window.text
        window.press(CTRL_C)
        leave(window)


def test_a_narrow_window_shows_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with chat(tmp_path, monkeypatch, columns=40, rows=12) as window:
        window.see_end("\n\n>")
        words = " ".join(f"word{number}" for number in range(20))
        window.enter(words)
        window.see("word19'")
        shown = "".join(window.text.split("'", 1)[1].split())
        assert shown.startswith(words.replace(" ", ""))
        leave(window)
