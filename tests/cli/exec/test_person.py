"""exec in a terminal asks its person, and in a session that waits for an answer it goes on with that."""

import re
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.cli.child_programs import Pty, command, events_of, kept, run
from tests.process_state import eventually
from trunkline import events as ev

CAREFUL = """
import sqlite3
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from trunkline.testing.chat import ScriptedChatModel, call

@tool
def send_letter(to: str) -> str:
    "Send a letter."
    return f"sent to {to}"

def answer(messages):
    return "It is on its way." if messages[-1].type == "tool" else call("send_letter", {"to": "Ada"})

agent = create_agent(
    ScriptedChatModel(answer),
    [send_letter],
    middleware=[HumanInTheLoopMiddleware(interrupt_on={"send_letter": True})],
    checkpointer=SqliteSaver(sqlite3.connect("memory.db", check_same_thread=False)),
)
"""


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A journal, and a LangChain agent whose questions outlive their process."""
    (tmp_path / "careful.py").write_text(CAREFUL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRUNKLINE_JOURNAL", f"sqlite:{tmp_path / 'journal.db'}")
    return tmp_path / "journal.db"


def test_a_person_at_a_terminal_is_asked(journal: Path) -> None:
    with Pty("exec", "demo", "/permission") as terminal:
        assert terminal.expect("Question").rpartition("\r\n")[0].endswith("I would like to write a file. ")
        terminal.expect("hello.txt")
        terminal.expect("> ")
        terminal.type("a")
        assert terminal.wait() == 0
    answered = [e for e in events_of(journal, kept(journal)[0].session_id) if isinstance(e, ev.Answered)]
    assert [(one.option_kind, one.by) for one in answered] == [("allow_once", "exec")]


@pytest.mark.usefixtures("journal")
def test_a_person_who_refuses_is_an_exit_code() -> None:
    with Pty("exec", "demo", "/permission") as terminal:
        terminal.expect("> ")
        terminal.type("r")
        assert terminal.wait() == 5


@pytest.mark.usefixtures("journal")
def test_a_person_who_said_approve_is_not_asked() -> None:
    with Pty("exec", "demo", "/permission", "--approve", "none") as terminal:
        terminal.expect("answered by --approve none")
        assert terminal.wait() == 5


@pytest.mark.usefixtures("journal")
def test_ctrl_c_at_the_question_cancels_the_turn() -> None:
    with Pty("exec", "demo", "/permission", controlling=True) as terminal:
        terminal.expect("> ")
        terminal.press(b"\x03")
        shown = terminal.expect("cancelled (the turn was cancelled)")
        assert re.search(r"\^C\r\n(\x1b\[\d*m)*  cancelled", shown), shown
        assert terminal.wait() == 130


def test_a_window_that_closes_at_the_question_does_not_answer_it(journal: Path) -> None:
    with Pty("exec", "demo", "/permission", controlling=True) as terminal:
        terminal.expect("a/A/r/R >")
        terminal.hang_up()
        assert terminal.process.wait(30) == 129
    (answered,) = [
        event for event in events_of(journal, kept(journal)[0].session_id) if isinstance(event, ev.Answered)
    ]
    assert answered.outcome == "cancelled"


def has_asked(journal: Path) -> bool:
    """Whether a question stands in the newest session."""
    found = kept(journal) if journal.exists() else []
    return bool(found) and any(isinstance(e, ev.Asked) for e in events_of(journal, found[0].session_id))


def leave_open(journal: Path) -> str:
    """Let a process die while its question is open; give the session."""
    words = command("chat", "careful.py:agent")
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(words, stdin=pipe, stdout=nowhere, stderr=nowhere) as chat:
        assert chat.stdin is not None
        chat.stdin.write(b"write to Ada\n")
        chat.stdin.flush()
        eventually(lambda: has_asked(journal))
        chat.kill()
        chat.wait(30)
    return kept(journal)[0].session_id


@pytest.mark.slow
def test_a_question_that_a_dead_process_left_open_is_answered_by_the_next_exec(journal: Path) -> None:
    session = leave_open(journal)

    refused = run("exec", "careful.py:agent", "hello", "--session", session)
    assert refused.code == 1
    assert "this session waits for an answer" in refused.err
    assert "--approve all" in refused.err
    assert not any(isinstance(one, ev.Answered) for one in events_of(journal, session))

    done = run("exec", "careful.py:agent", "--session", session[:12], "--approve", "all", "--format", "json")
    assert done.code == 0
    assert done.json["text"] == "It is on its way."
    assert done.json["session_id"] == session
    again = run("exec", "careful.py:agent", "--session", session)
    assert again.code == 2
    assert "no turn waits in session" in again.err


@pytest.mark.slow
def test_a_turn_that_a_dead_process_left_open_can_be_cancelled(journal: Path) -> None:
    session = leave_open(journal)
    done = run("sessions", "cancel", session[:12])
    assert (done.code, done.err) == (0, f"cancelled the turn of {session}\n")
    assert isinstance(events_of(journal, session)[-1], ev.TurnFinished | ev.TurnFailed)
    assert run("sessions", "cancel", session).err == f"nothing runs in {session}\n"
    with sqlite3.connect(journal) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
