"""``trunkline chat``: a real terminal, a pipe, and nothing at all on stdin."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.cli.child_programs import SECONDS, Pty, command, events_of, kept, run, start
from tests.cli.terminal_window import CTRL_C, Window

from trunkline import events as ev

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to chat in, with a journal beside it."""
    monkeypatch.setenv("TRUNKLINE_JOURNAL", f"sqlite:{tmp_path / 'journal.db'}")
    folder = tmp_path / "folder"
    folder.mkdir()
    return folder


def chat(stdin: str, *arguments: str, home: Path) -> str:
    result = run("chat", *(arguments or ("demo",)), stdin=stdin, cwd=home)
    assert (result.code, result.err) == (0, "")
    return result.out


# -- a terminal ------------------------------------------------------------------------------------


def test_a_permission_is_answered_at_the_keyboard(home: Path) -> None:
    with Window("chat", "demo", cwd=home) as window:
        window.see_end("\n\n>")
        window.enter("/permission")
        window.see("Write hello.txt?", "a  Allow once", "a/A/r/R >")
        window.enter("x")
        window.see("type one of a, A, r, R, then Enter")
        window.enter("a")
        window.see("✓ Write hello.txt", "hello.txt is written.")
        window.see_end("\n\n>")
        window.enter("/quit")
        assert window.wait() == 0
        assert window.text.splitlines()[-1].startswith("resume: trunkline chat demo --")
    assert (home / "hello.txt").read_text() == "hello\n"


def test_ctrl_c_cancels_what_runs_and_twice_at_the_prompt_leaves(home: Path) -> None:
    hint = "Press Ctrl-C again or type /quit to leave"
    with Window("chat", "demo", cwd=home) as window:
        window.see_end("\n\n>")
        window.enter("/wait-for-cancel")
        window.see(" Wait for cancel ")
        window.press(CTRL_C)
        window.see("stopped: cancelled")
        window.see_end("\n\n>")
        window.press(CTRL_C)
        window.see(hint)
        window.enter("/text")
        window.see("A short answer")
        window.see_end("\n\n>")
        window.press(CTRL_C)
        window.see(hint, hint)
        window.press(CTRL_C)
        assert window.wait() == 130
        assert window.text.splitlines()[-1].startswith("resume: trunkline chat demo --")


def test_a_signal_is_the_same_as_the_key(home: Path) -> None:
    with Window("chat", "demo", cwd=home) as window:
        window.see_end("\n\n>")
        window.enter("/wait-for-cancel")
        window.see(" Wait for cancel ")
        window.interrupt()
        window.see("stopped: cancelled")
        window.see_end("\n\n>")
        window.interrupt()
        window.see("Press Ctrl-C again")
        window.interrupt()
        assert window.wait() == 130


def test_an_agent_that_takes_its_time_to_start_is_waited_for_with_a_word_and_can_be_given_up(
    home: Path,
) -> None:
    with Pty("chat", "acp:sleep 300", cwd=home) as terminal:
        terminal.expect("waiting for the agent to start; Ctrl-C gives up")
        terminal.interrupt()
        assert terminal.wait() == 130


@pytest.mark.parametrize("scenario", ["/wait-for-cancel", "/permission", ""])
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, "the window closes"])
def test_whoever_ends_a_chat_finds_its_turn_settled(
    scenario: str, how: signal.Signals | str, home: Path
) -> None:
    with Window("chat", "demo", cwd=home, controlling=True) as window:
        window.see_end("\n\n>")
        if scenario:
            window.enter(scenario)
            window.see("a/A/r/R >" if scenario == "/permission" else " Wait for cancel ")
        if isinstance(how, str):
            window.hang_up()
            assert window.process.wait(30) == 129
        else:
            window.process.send_signal(how)
            window.process.send_signal(how)
            assert window.wait() == 128 + how
    journal = home.parent / "journal.db"
    events = events_of(journal, kept(journal)[0].session_id)
    if scenario:
        assert isinstance(events[-1], ev.TurnFinished)
        assert events[-1].stop_reason == "cancelled"
        assert all(event.outcome == "cancelled" for event in events if isinstance(event, ev.Answered))


def test_ctrl_c_while_a_question_is_open_cancels_the_turn(home: Path) -> None:
    with Window("chat", "demo", cwd=home) as window:
        window.see_end("\n\n>")
        window.enter("/permission-twice")
        window.see("a/A/r/R >")
        window.press(CTRL_C)
        window.see("stopped: cancelled")
        window.see_end("\n\n>")
        assert "answered by" not in window.text
        window.enter("hello again")
        window.see("> hello again", "hello again")
        window.enter("/quit")
        assert window.wait() == 0


def test_an_answer_given_elsewhere_ends_the_question(home: Path) -> None:
    with Window("chat", "demo", cwd=home) as window:
        session_id = window.see_end("\n\n>").partition("session ")[2].split()[0]
        window.enter("/permission-twice")
        window.see("a/A/r/R >")
        answer = (
            "import asyncio, sys, trunkline\n"
            "from trunkline.testing import ScriptedAgent\n"
            "async def main():\n"
            "    journal = await trunkline.open_journal()\n"
            "    async with trunkline.Hub(ScriptedAgent(), journal, target='demo') as hub:\n"
            "        session = await hub.session(sys.argv[1])\n"
            "        history = await session.history()\n"
            "        first = next(iter(history.questions))\n"
            "        answer = trunkline.Answer(question_id=first, option_id='allow_once', by='page')\n"
            "        await session.answer(answer)\n"
            "    await journal.close()\n"
            "asyncio.run(main())\n"
        )
        subprocess.run([command()[0], "-c", answer, session_id], check=True, timeout=30)
        window.see("answered by page", "send_report?")
        window.enter("r")
        window.see("read_notes: allowed, send_report: refused")
        window.see_end("\n\n>")
        window.enter("/quit")
        assert window.wait() == 0


# -- a pipe ----------------------------------------------------------------------------------------


def test_each_line_of_a_pipe_is_a_prompt_or_an_answer(home: Path) -> None:
    form = "/form\nAda\npink\nblue\nmany\n2\nperhaps\nyes\n"
    shown = chat(f"hello\n\n{form}/link\n\n/link\nn\n/client-tool\n/quit\nnever said\n", home=home)

    assert "\n> hello\nhello" in shown
    assert "choose one of red, green, blue" in shown
    assert "'many' is not a whole number: type a whole number, or - to decline" in shown
    assert "'perhaps' is not yes or no: type yes or no, or - to decline" in shown
    assert '{"colour": "blue", "copies": 2, "gift": true, "name": "Ada"}' in " ".join(shown.split())
    assert "the device is confirmed" in shown
    assert "The device was not confirmed." in shown
    assert "this terminal cannot run " in shown
    assert "never said" not in shown


def test_input_that_ends_inside_a_question_is_a_refusal(home: Path) -> None:
    assert "Nothing was written." in chat("/permission\n", home=home)
    assert chat("/form\nAda\n-\n/form\n", home=home).count("No order, then.") == 2
    assert not (home / "hello.txt").exists()


def test_help_lists_the_commands_of_the_agent(home: Path) -> None:
    shown = chat("/help\n", home=home)

    assert "/parallel-tools" in shown
    assert "Call a tool: arguments, output and result" in shown
    assert "/quit" in shown


def test_tools_diffs_terminals_and_failures_are_drawn(home: Path) -> None:
    shown = chat("/parallel-tools\n/diff\n/terminal\n/fails\n/notice\n/plan\n", home=home)

    assert "✓ Weather in Oslo\n" in shown
    assert "✗ Weather in Paris (failed)" in shown
    assert '+    return "hello, world"' in shown
    assert "\n  line 3\n" in shown
    assert "error: the demo failed on purpose" in shown
    assert "warning: Slow network" in shown
    assert "Plan\n  ✓ Read the question\n  ✓ Write the answer\n  ✓ Check it" in shown


def test_a_session_is_gone_on_with_and_shown(home: Path) -> None:
    session_id = chat("hello\n", home=home).partition("session ")[2].split()[0]
    shown = chat("and more\n", "demo", "--session", session_id[:14], home=home)

    assert "\n> hello\nhello\n" in shown
    assert "> and more\nand more" in shown


def test_an_agent_behind_a_login_offers_it(home: Path) -> None:
    assert "\nhello" in chat("hello\n2\n1\n", "demo-auth", home=home).partition("\n1 > 1")[2]
    refused = chat("hello\n", "demo-auth", home=home)
    assert "the demo wants a login first" in refused


def test_an_error_of_a_turn_does_not_end_the_chat(home: Path) -> None:
    (home / "odd.py").write_text("import trunkline\n@trunkline.agent\ndef odd(): return 7\n")
    shown = chat("one\ntwo\n", "odd.py:odd", home=home)
    assert shown.count("error: ") == 2


# -- nothing on stdin ------------------------------------------------------------------------------


def test_the_demo_plays_a_tour_for_whoever_says_nothing(home: Path) -> None:
    with open(os.devnull, "rb") as nothing:
        done = subprocess.run(
            command("chat", "demo"), stdin=nothing, cwd=home, capture_output=True, timeout=60
        )

    shown = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    for line in ("> hello", "> /tools", "> /permission", "a/A/r/R > a", "> /plan", "> /subagents"):
        assert f"\n{line}\n" in shown
    assert "hello.txt is written." in shown
    assert list(home.iterdir()) == []


def test_another_agent_has_no_tour(home: Path) -> None:
    (home / "mine.py").write_text("import trunkline\n@trunkline.agent\ndef mine(): return 'hi'\n")
    assert "> " in chat("", "mine.py:mine", home=home)


def test_a_new_session_is_in_the_folder_that_was_chosen(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "from trunkline import agent\n@agent(name='where')\nasync def where(prompt, ctx):\n"
        "    yield f'in {ctx.session.cwd}'\n"
    )
    project = tmp_path / "project"
    project.mkdir()
    result = run("chat", "agent.py:where", "--cwd", "project", cwd=tmp_path, stdin="hello\n")
    assert f"in {project}" in " ".join(result.out.split())  # A long folder begins a line of its own.
    result = run("chat", "demo", "--cwd", "project", "--session", "sess_1a2b3c", cwd=tmp_path)
    assert (result.code, "--cwd is for a new session" in result.err) == (2, True)


def test_a_reader_that_is_gone_ends_the_chat(home: Path) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(command("chat", "demo"), stdin=pipe, stdout=pipe, cwd=home) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"hello\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"Demo")
        process.stdout.close()
        process.stdin.write(b"hello\n" * 20)
        process.stdin.close()
        assert process.wait(30) == 141


def test_ctrl_c_that_also_ends_the_reader_leaves_without_a_traceback(home: Path) -> None:
    with start("chat", "demo", cwd=home) as chatting:
        assert chatting.stdin is not None
        assert chatting.stdout is not None
        assert chatting.stderr is not None
        chatting.stdin.write(b"hello\n")
        chatting.stdin.flush()
        while (line := chatting.stdout.readline()) != b"hello\n":
            assert line, "it ended"
        assert chatting.stdout.read(2) == b"> "
        chatting.stdout.close()
        chatting.send_signal(signal.SIGINT)
        assert chatting.wait(SECONDS) == 141
        assert chatting.stderr.read() == b""
