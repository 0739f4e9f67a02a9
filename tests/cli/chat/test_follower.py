"""Two chats in one session: two real terminals on one SQLite journal."""

import asyncio
import io
import re
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.cli.terminal_window import CTRL_C, Window
from tests.hubs import session_for, soon, until

from trunkline.cli.chat.follower import Follower
from trunkline.cli.terminal.line_input import PlainInput
from trunkline.cli.terminal.plain_screen import PlainScreen
from trunkline.cli.terminal.questions import KeyboardQuestions
from trunkline.cli.terminal.stdin_lines import StdinLines
from trunkline.commands import Answer, Prompt
from trunkline.conversation import Conversation
from trunkline.questions import Link
from trunkline.session.context import TurnContext

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to chat in, with a journal beside it."""
    monkeypatch.setenv("TRUNKLINE_JOURNAL", f"sqlite:{tmp_path / 'journal.db'}")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "folder"
    folder.mkdir()
    return folder


def session_of(window: Window) -> str:
    found = re.search(r"session (sess_\w+)", window.see_end("\n\n>"))
    assert found is not None
    return found[1]


def test_a_second_terminal_follows_answers_and_cancels(home: Path) -> None:
    with Window("chat", "demo", cwd=home) as first:
        session_id = session_of(first)
        with Window("chat", "demo", "--session", session_id, cwd=home) as second:
            second.see_end("\n\n>")
            first.enter("/permission")
            first.see("Write hello.txt?", "a/A/r/R >")
            second.see("> /permission", "Write hello.txt?", "a/A/r/R >")
            second.enter("a")
            first.see("answered in another terminal", "hello.txt is written.")
            second.see("hello.txt is written.")
            second.see_end("\n\n>")

            first.see_end("\n\n>")
            first.enter("/wait-for-cancel")
            second.see("> /wait-for-cancel")
            second.see(" Wait for cancel ")
            second.press(CTRL_C)
            first.see("stopped: cancelled")
            second.see("stopped: cancelled")

            second.see_end("\n\n>")
            second.enter("said in the second")
            first.see("> said in the second", "said in the second")
            second.see_end("\n\n>")
            second.enter("/quit")
            assert second.wait() == 0
        first.see_end("\n\n>")
        first.enter("/quit")
        assert first.wait() == 0
    assert (home / "hello.txt").exists()


def test_a_question_that_is_open_is_asked_in_a_terminal_that_comes_later(home: Path) -> None:
    with Window("chat", "demo", cwd=home) as first:
        session_id = session_of(first)
        first.enter("/permission")
        first.see("a/A/r/R >")
        with Window("chat", "demo", "--session", session_id, cwd=home) as second:
            second.see("> /permission", "Write hello.txt?", "a/A/r/R >")
            second.enter("r")
            second.see("Nothing was written.")
            first.see("Nothing was written.")


def test_a_turn_whose_process_was_killed_is_settled_in_the_terminal_that_follows_it(home: Path) -> None:
    with Window("chat", "demo", cwd=home) as first:
        session_id = session_of(first)
        first.enter("/wait-for-cancel")
        first.see(" Wait for cancel ")
        with Window("chat", "demo", "--session", session_id, cwd=home) as second:
            second.see(" Wait for cancel ")
            first.process.kill()
            second.see("error: ", "send the prompt again")
            second.see_end("\n\n>")
            second.enter("hello")
            second.see("> hello", "hello")


async def asks_twice(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    links = (Link(message=f"{name}?", url="https://example.org") for name in ("First", "Second"))
    first, second = await asyncio.gather(*(ctx.ask(link) for link in links))
    yield f"{first.by} and {second.by}"


async def test_what_is_typed_stays_when_another_question_is_answered_elsewhere() -> None:
    shown = io.StringIO()
    reader, typing = socket.socketpair()
    with reader, typing:
        async with session_for(asks_twice) as session:
            screen = PlainScreen(shown)
            questions = KeyboardQuestions(PlainInput(StdinLines(reader.fileno()), screen), screen)
            follower = Follower(session, screen, questions, Conversation())
            async with session.follow() as events:
                following = asyncio.create_task(follower.run(events))
                await session.prompt("go")
                await until(lambda: len(follower.questions) == 2 and "done" in shown.getvalue())
                typing.sendall(b"do")
                other = list(follower.questions)[1]
                await session.answer(Answer(question_id=other, outcome="accepted", by="page"))
                await until(lambda: "answered by page" in shown.getvalue())
                typing.sendall(b"ne\n")
                await soon(follower.idle())
                following.cancel()
                await asyncio.wait({following})
    assert "chat and page" in shown.getvalue()
    assert shown.getvalue().count("? First?") == 1
