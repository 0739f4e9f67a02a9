"""``trunkline exec``: real children, all formats, all exit codes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.child_programs import Pty, events_of, kept, run, start
from tests.process_state import is_alive, wait_until_gone
from trunkline import events as ev
from trunkline.events import decode_event
from trunkline.folding import fold
from trunkline.grammar import Grammar

AGENTS = """
import asyncio, sys, trunkline

@trunkline.agent
async def prints(prompt, ctx):
    print("debugging", file=sys.stdout)
    yield "an answer"

@trunkline.agent
async def truncated(prompt, ctx):
    yield "cut"
    yield trunkline.events.TurnFinished(stop_reason="max_tokens")

@trunkline.agent
async def oddly(prompt, ctx):
    from trunkline.questions import Option
    go = Option(option_id="17", name="Go", kind="allow_always")
    options = (go, Option(option_id="18", name="No", kind="reject_always"))
    yield "yes" if await ctx.permission("Go?", tool="go", options=options) else "no"

@trunkline.agent
async def helpless(prompt, ctx):
    yield "yes" if await ctx.permission("Go?", tool="go", options=()) else "no"

@trunkline.agent
async def relabels(prompt, ctx):
    call = ctx.start_call("look")
    ctx.emit(trunkline.events.ToolUpdate(call_id=call, kind="read"))
    yield "yes" if await ctx.permission("Look?", tool="look", call_id=call) else "no"

@trunkline.agent
async def works(prompt, ctx):
    import subprocess
    line = "setsid -f sh -c 'echo $$; exec sleep 600'; echo $$; exec sleep 600"
    terminal = await ctx.terminals.create(["sh", "-c", line])
    pids = ""
    async for piece in terminal.stream():
        pids += piece
        if pids.count("\\n") == 2:
            break
    own = subprocess.Popen(["sleep", "600"], start_new_session=True)
    print("pids", *pids.split(), own.pid, file=sys.stderr, flush=True)
    await asyncio.Event().wait()
    yield "never"

@trunkline.agent
async def stubborn(prompt, ctx):
    while prompt.text == "stay":
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            print("I stay", file=sys.stderr, flush=True)
        yield "."
    yield "gone"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a journal and an agent file."""
    (tmp_path / "agents.py").write_text("import trunkline.events\n" + AGENTS, encoding="utf-8")
    monkeypatch.setenv("TRUNKLINE_JOURNAL", f"sqlite:{tmp_path / 'journal.db'}")
    return tmp_path


def newest(home: Path) -> str:
    """Give the id of the newest session."""
    return kept(home / "journal.db")[0].session_id


# -- formats ---------------------------------------------------------------------------------------


def test_text_is_the_answer_and_nothing_else_on_stdout(home: Path) -> None:
    result = run("exec", "demo", "hello", cwd=home)

    assert (result.code, result.out) == (0, "hello\n")
    session_id = newest(home)
    assert f"session {session_id}" in result.err


def test_text_tells_of_tools_plans_and_subagents_on_stderr(home: Path) -> None:
    tools = run("exec", "demo", "/parallel-tools", cwd=home)
    assert tools.out == "Oslo has -3 °C. The station of Paris does not answer.\n"
    assert "✓ Weather in Oslo\n" in tools.err
    assert "✗ Weather in Paris: the station does not answer\n" in tools.err

    plan = run("exec", "demo", "/plan", cwd=home)
    assert "plan: ✓ Read the question  → Write the answer  · Check it" in plan.err

    media = run("exec", "demo", "/media", cwd=home)
    assert "[link https://example.com/guide]" in media.err

    lanes = run("exec", "demo", "/subagents", cwd=home)
    assert lanes.out == "The tower is 330 metres high.\n"
    assert "[researcher] ✓ Search" in lanes.err


def test_events_are_legal_lines_of_json(home: Path) -> None:
    result = run("exec", "demo", "/tools", "--format", "events", cwd=home)

    events = [decode_event(line) for line in result.out.splitlines()]
    grammar = Grammar("demo")
    assert [out for event in events for out in grammar.feed(event)] == events
    assert result.lines[0]["type"] == "turn_started"
    assert result.lines[-1]["type"] == "turn_finished"
    shown = run("sessions", "show", newest(home), "--format", "events", cwd=home)
    assert fold([decode_event(line) for line in shown.out.splitlines()]) == fold(events)


def test_events_come_as_they_happen(home: Path) -> None:
    with start("exec", "demo", "/wait-for-cancel", "--format", "events", cwd=home) as program:
        assert program.stdout is not None
        kinds: list[str] = []
        while "tool_update" not in kinds:
            kinds.append(json.loads(program.stdout.readline())["type"])
        assert program.poll() is None
        program.send_signal(signal.SIGINT)
        rest = program.communicate(timeout=30)[0].decode().splitlines()
        assert program.returncode == 130
    assert json.loads(rest[-1]) == json.loads(rest[-1]) | {
        "type": "turn_finished",
        "stop_reason": "cancelled",
    }


def test_json_of_a_subagents_call_reads_its_arguments(home: Path) -> None:
    calls = run("exec", "demo", "/subagents", "--format", "json", cwd=home).json["calls"]
    assert [call["input"] for call in calls] == [
        {"question": "How high is the tower?"},
        {"query": "tower"},
        None,
    ]


def test_json_of_a_failure_says_whose_fault_it_was(home: Path) -> None:
    result = run("exec", "demo", "/fails", "--format", "json", cwd=home)

    assert result.code == 1
    error = result.json["error"]
    assert (error["code"], error["fault"]) == ("agent_failed", "agent")
    assert result.json["stop_reason"] is None


# -- prompts and sessions --------------------------------------------------------------------------


def test_a_prompt_may_come_from_stdin(home: Path) -> None:
    assert run("exec", "demo", "-", stdin="two\nlines\n", cwd=home).out == "two\nlines\n"


def test_a_session_is_gone_on_with_by_id_or_prefix(home: Path) -> None:
    run("exec", "demo", "/modes", cwd=home)
    session_id = newest(home)

    assert "The mode is code." in run("exec", "demo", "/modes", "--session", session_id, cwd=home).out
    assert "The mode is plan." in run("exec", "demo", "/modes", "--session", session_id[:12], cwd=home).out
    (session,) = kept(home / "journal.db")
    assert session.title == "Demo: modes"


def test_a_session_of_another_agent_is_refused(home: Path) -> None:
    run("exec", "demo", "hello", cwd=home)
    session_id = newest(home)
    result = run("exec", "agents.py:prints", "x", "--session", session_id, cwd=home)

    assert result.code == 2
    assert "belongs to the agent 'demo'" in result.err


def test_a_new_session_works_in_the_folder_it_was_started_in(home: Path) -> None:
    (home / "other").mkdir()
    run("exec", "demo", "/permission", "--approve", "all", cwd=home)
    run("exec", "demo", "/permission", "--approve", "all", "--cwd", "other", cwd=home)

    assert (home / "hello.txt").read_text() == "hello\n"
    assert (home / "other" / "hello.txt").read_text() == "hello\n"
    assert [session.cwd for session in kept(home / "journal.db")] == [str(home / "other"), str(home)]


def test_a_session_that_is_busy_elsewhere_is_not_disturbed(home: Path) -> None:
    with start("exec", "demo", "/wait-for-cancel", "--format", "events", cwd=home) as program:
        assert program.stdout is not None
        while b"tool_update" not in program.stdout.readline():
            pass
        session_id = newest(home)
        result = run("exec", "demo", "me too", "--session", session_id, cwd=home)
        assert result.code == 1
        assert "a turn is running" in result.err
        assert "`trunkline chat demo --session sess_" in result.err
        program.send_signal(signal.SIGINT)
        program.communicate(timeout=30)


def test_what_an_agent_prints_does_not_mix_with_its_answer(home: Path) -> None:
    result = run("exec", "agents.py:prints", "x", "--format", "json", cwd=home)

    assert result.json["text"] == "an answer"
    assert result.err == "debugging\n"


# -- approving -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        ((), 5, "read_notes: refused, send_report: refused"),
        (("--approve", "reads"), 5, "read_notes: allowed, send_report: refused"),
        (("--approve", "all"), 0, "read_notes: allowed, send_report: allowed"),
    ],
)
def test_permissions_are_answered_as_approved(
    arguments: tuple[str, ...], code: int, expected: str, home: Path
) -> None:
    result = run("exec", "demo", "/permission-twice", *arguments, cwd=home)
    assert (result.code, result.out) == (code, f"{expected}\n")


def test_what_is_approved_is_shown_whole_before_the_answer(home: Path) -> None:
    result = run("exec", "demo", "/permission", "--approve", "all", cwd=home)
    shown = result.err.splitlines()
    answered = shown.index("  allow once (answered by --approve all)")
    assert '  {"path": "hello.txt", "content": "hello\\n"}' in shown[:answered]
    assert "  +hello" in shown[:answered]


@pytest.mark.parametrize(
    ("agent", "approve", "code", "expected"),
    [
        ("oddly", "all", 0, "yes"),
        ("oddly", "none", 5, "no"),
        ("helpless", "all", 5, "no"),
        ("relabels", "reads", 0, "yes"),
    ],
)
def test_permissions_are_answered_by_kind_whatever_their_ids(
    agent: str, approve: str, code: int, expected: str, home: Path
) -> None:
    result = run("exec", f"agents.py:{agent}", "x", "--approve", approve, cwd=home)
    assert (result.code, result.out) == (code, f"{expected}\n")


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [("form", "No order, then."), ("link", "not confirmed"), ("client-tool", "gave nothing")],
)
def test_other_questions_are_declined_and_that_is_no_denial(scenario: str, expected: str, home: Path) -> None:
    result = run("exec", "demo", f"/{scenario}", "--approve", "all", cwd=home)

    assert result.code == 0
    assert expected in result.out
    assert "declined (no person is there to answer)" in result.err


# -- ends ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", ["fails", "raises"])
def test_a_failed_turn_ends_with_1_and_no_stack_trace(scenario: str, home: Path) -> None:
    result = run("exec", "demo", f"/{scenario}", cwd=home)

    assert result.code == 1
    errors = [line for line in result.err.splitlines() if line.startswith("error: ")]
    assert sum("on purpose" in line for line in errors) == 1
    assert "Traceback" not in result.err


def test_the_traceback_of_an_agent_is_there_for_whoever_asks(home: Path) -> None:
    result = run("exec", "demo", "/raises", cwd=home, TRUNKLINE_TRACEBACK="1")
    assert "Traceback (most recent call last)" in result.err


def test_an_agent_that_wants_a_login_says_so(home: Path) -> None:
    result = run("exec", "demo-auth", "hello", cwd=home, XDG_STATE_HOME=str(home))

    assert result.code == 1
    assert "log in with: trunkline login demo-auth\n" in result.err


def test_a_turn_that_takes_too_long_is_cancelled_and_settled(home: Path) -> None:
    result = run("exec", "demo", "/wait-for-cancel", "--timeout", "2", "--format", "events", cwd=home)

    assert result.code == 3
    assert (result.lines[-1]["type"], result.lines[-1]["stop_reason"]) == ("turn_finished", "cancelled")
    session_id = newest(home)
    assert run("exec", "demo", "still here", "--session", session_id, cwd=home).out == "still here\n"


SLOW = """
import asyncio
from trunkline import agent, events as ev

@agent(name="slow")
async def slow(prompt, ctx):
    if prompt.text == "call":
        yield ev.ToolCall(call_id="c0", name="glance")
        yield ev.ToolUpdate(call_id="c0", status="completed")
        yield ev.ToolCall(call_id="c1", name="dig", title="Dig a hole")
    elif prompt.text == "talk":
        yield "well"
    await asyncio.sleep(600)
"""


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("silence", "the agent, which has said nothing yet; it may not reach its model"),
        ("call", "the tool call 'Dig a hole'"),
        ("talk", "the agent, which had last said something "),
    ],
)
def test_a_time_that_is_over_says_what_was_waited_for(home: Path, prompt: str, told: str) -> None:
    (home / "slow.py").write_text(SLOW)
    result = run("exec", "slow.py:slow", prompt, "--timeout", "2", cwd=home)
    assert result.code == 3, result.err
    assert f"error: --timeout 2 was over while we waited for {told}" in result.err


def test_a_turn_that_stops_early_says_why(home: Path) -> None:
    result = run("exec", "agents.py:truncated", "x", cwd=home)

    assert (result.code, result.out) == (0, "cut\n")
    assert "stopped: max tokens" in result.err


def test_a_second_ctrl_c_leaves_at_once_and_the_turn_is_settled_later(home: Path) -> None:
    with start("exec", "agents.py:stubborn", "stay", "--format", "events", cwd=home) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert b"turn_started" in program.stdout.readline()
        program.send_signal(signal.SIGINT)
        while b"I stay" not in program.stderr.readline():
            assert program.poll() is None
        session_id = newest(home)
        # What is left at once may lose the last moments; the beginning of the turn must not be among them.
        while not any(isinstance(one, ev.TurnStarted) for one in events_of(home / "journal.db", session_id)):
            assert program.poll() is None
        program.send_signal(signal.SIGINT)
        assert program.wait(30) == 130
        assert b"turn_finished" not in program.stdout.read()
    assert run("exec", "agents.py:stubborn", "go", "--session", session_id, cwd=home).out == "gone\n"
    events = events_of(home / "journal.db", session_id)
    assert [event.code for event in events if isinstance(event, ev.TurnFailed)] == ["interrupted"]


def pids_in(line: str) -> list[int]:
    return [int(word) for word in line.split("pids ")[1].split()]


def assert_settled(home: Path, pids: list[int]) -> None:
    assert len(pids) == 3
    wait_until_gone(*pids)
    last = events_of(home / "journal.db", newest(home))[-1]
    assert isinstance(last, ev.TurnFinished)
    assert last.stop_reason == "cancelled"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_whoever_ends_it_finds_the_turn_settled_and_nothing_running(
    number: signal.Signals, home: Path
) -> None:
    with start("exec", "agents.py:works", "x", cwd=home) as program:
        assert program.stderr is not None
        while not (line := program.stderr.readline().decode()).startswith("pids "):
            assert program.poll() is None
        assert all(map(is_alive, pids_in(line)))
        program.send_signal(number)
        if number is not signal.SIGINT:  # a window that closes is told of more than once
            program.send_signal(number)
        assert program.wait(30) == 128 + number
    assert_settled(home, pids_in(line))


def test_even_when_it_is_killed_no_command_of_its_goes_on(home: Path) -> None:
    with start("exec", "agents.py:works", "x", cwd=home) as program:
        assert program.stderr is not None
        while not (line := program.stderr.readline().decode()).startswith("pids "):
            assert program.poll() is None
        *commands, own = pids_in(line)
        program.kill()
    os.kill(own, signal.SIGKILL)  # what an agent starts by itself is its own business
    wait_until_gone(*commands)  # Its supervisor ends them.


def test_a_window_that_closes_leaves_the_turn_settled_and_nothing_running(home: Path) -> None:
    with Pty("exec", "agents.py:works", "x", cwd=home, controlling=True) as terminal:
        terminal.expect("pids ")
        pids = pids_in("pids " + terminal.expect("\r\n"))
        terminal.hang_up()
        assert terminal.process.wait(30) in (129, 141)
    assert_settled(home, pids)


def test_a_reader_that_hangs_up_ends_the_turn_quietly(home: Path) -> None:
    with start("exec", "demo", "/slow 1000 0.01", "--format", "events", cwd=home) as program:
        assert program.stdout is not None
        program.stdout.readline()
        program.stdout.close()
        assert program.stderr is not None
        assert b"Traceback" not in program.stderr.read()
        assert program.wait(30) == 141
    last = events_of(home / "journal.db", newest(home))[-1]
    assert isinstance(last, ev.TurnFinished)
    assert last.stop_reason == "cancelled"


def test_a_closed_stdout_is_no_error(home: Path) -> None:
    command = f"exec {sys.executable} -m trunkline exec demo hello >&-"
    done = subprocess.run(["sh", "-c", command], cwd=home, capture_output=True, timeout=30)
    assert done.returncode == 0


# -- terminals -------------------------------------------------------------------------------------


def test_on_a_terminal_notes_are_dim_and_have_their_own_lines(home: Path) -> None:
    with Pty("exec", "demo", "/tools", cwd=home) as terminal:
        assert terminal.wait() == 0
        assert "Let me look that up. \r\n\x1b[2m→ Search the notes" in terminal.shown
        assert terminal.shown.endswith("There are two notes about trunkline.\r\n")


def test_on_a_terminal_something_moves_until_the_agent_says_something(home: Path) -> None:
    (home / "late.py").write_text(
        "import asyncio, pathlib\n"
        "async def late(prompt, ctx):\n"
        "    while not pathlib.Path('go').exists():\n"
        "        await asyncio.sleep(0.01)\n"
        "    yield 'at last'\n"
    )
    with Pty("exec", "late.py:late", "hi", cwd=home) as terminal:
        assert "loading the agent" in terminal.expect("session sess_")
        terminal.expect("working · Ctrl-C stops")
        (home / "go").touch()
        # The cursor is shown again, and the line is empty.
        assert terminal.expect("at last").endswith("\x1b[?25h\r\x1b[1A\x1b[2Kat last")
        assert terminal.wait() == 0
        assert "working" not in terminal.shown


def test_a_second_ctrl_c_gives_the_cursor_back(home: Path) -> None:
    (home / "deaf.py").write_text(
        "import asyncio\n"
        "async def deaf(prompt, ctx):\n"
        "    while True:\n"
        "        try:\n"
        "            await asyncio.sleep(30)\n"
        "        except asyncio.CancelledError:\n"
        "            print('not yet')\n"
    )
    with Pty("exec", "deaf.py:deaf", "hi", cwd=home) as terminal:
        terminal.expect("working · Ctrl-C stops")
        terminal.interrupt()
        terminal.expect("not yet")
        terminal.interrupt()
        assert terminal.wait() == 130
        assert terminal.shown.rindex("\x1b[?25h") > terminal.shown.rfind("\x1b[?25l")


# -- typical mistakes ------------------------------------------------------------------------------


@pytest.mark.usefixtures("home")
def test_words_of_a_prompt_that_was_not_quoted_are_shown_quoted() -> None:
    result = run("exec", "demo", "hi", "there,", "it's", "me")
    assert result.code == 2
    assert """the prompt has spaces: quote it, as in 'hi there, it'"'"'s me'""" in result.err


@pytest.mark.usefixtures("home")
def test_a_missing_prompt_is_named() -> None:
    result = run("exec", "demo")
    assert result.code == 2
    assert "Missing argument 'PROMPT'" in result.err


def shell(line: str) -> subprocess.CompletedProcess[bytes]:
    """Run trunkline by a shell that closes a stream or gives odd bytes."""
    words = line.replace("trunkline", f"{sys.executable} -m trunkline")
    return subprocess.run(["bash", "-c", words], capture_output=True, timeout=60, check=False)


@pytest.mark.usefixtures("home")
def test_a_closed_stderr_does_not_cost_the_answer() -> None:
    done = shell("trunkline exec demo hi 2>&-")
    assert done.returncode == 0
    assert done.stdout


@pytest.mark.usefixtures("home")
def test_a_closed_stdin_is_told_when_it_was_to_be_read() -> None:
    done = shell("trunkline exec demo - <&-")
    assert done.returncode == 2
    assert b"stdin, which is empty or closed" in done.stderr
    assert shell("trunkline exec demo hi <&-").returncode == 0


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("words", ['"$NOT_SET"', "' \n'", "- <<< ' '"])
def test_an_empty_prompt_is_refused(words: str) -> None:
    done = shell(f"trunkline exec demo {words}")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"empty" in done.stderr


def test_a_prompt_that_is_not_utf8_is_refused_before_anything_is_stored(home: Path) -> None:
    done = shell("trunkline exec demo $'\\xff\\xfe'")
    assert done.returncode == 2
    assert b"PROMPT is not text in UTF-8" in done.stderr
    assert not (home / "journal.db").exists()


# -- going on ----------------------------------------------------------------------------------------


def test_continue_takes_the_last_session_of_this_folder_and_target(home: Path, tmp_path: Path) -> None:
    journal = home / "journal.db"
    missing = run("exec", "demo", "hi", "--continue")
    assert missing.code == 2
    assert "no session of this agent" in missing.err
    first = run("exec", "demo", "one", "--format", "json").json["session_id"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert run("exec", "demo", "two", cwd=elsewhere).code == 0
    assert run("exec", f"{home}/agents.py:prints", "three").code == 0

    assert run("exec", "demo", "four", "--continue", "--format", "json").json["session_id"] == first
    assert len(kept(journal)) == 3
    both = run("exec", "demo", "five", "--continue", "--session", first)
    assert both.code == 2
    assert "leave --session out" in both.err


def test_a_name_begins_a_session_and_finds_it_again(home: Path) -> None:
    journal = home / "journal.db"
    first = run("exec", "demo", "one", "--session", "work", "--format", "json").json["session_id"]
    assert run("exec", "demo", "two", "--session", "work", "--format", "json").json["session_id"] == first
    assert "(resume with --session work)" in run("exec", "demo", "three", "--session", "work").err
    target = f"{home}/agents.py:prints"
    other = run("exec", target, "one", "--session", "work", "--format", "json").json["session_id"]
    assert other != first
    assert len(kept(journal)) == 2
    # Both are meant where no TARGET chooses.
    several = run("sessions", "show", "work")
    assert several.code == 2
    assert "'work' is the name of 2 sessions" in several.err
    assert first in several.err
    late = run("exec", "demo", "three", "--session", "work", "--cwd", str(home))
    assert late.code == 2
    assert "--cwd is for a new session" in late.err


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("wanted", ["sess_unknown", "0123abcd", "two words", "-x/../y"])
def test_what_cannot_be_a_name_is_a_session_that_is_not_there(wanted: str) -> None:
    result = run("exec", "demo", "hi", f"--session={wanted}")
    assert result.code == 2
    assert "there is no session" in result.err


@pytest.mark.usefixtures("home")
def test_the_beginning_of_an_id_is_enough_with_and_without_its_prefix() -> None:
    result = run("exec", "demo", "one")
    whole = result.err.split()[1]
    short = result.err.split("--session ")[1].split(")")[0]
    assert whole.startswith(short)
    for wanted in (short, short.removeprefix("sess_")):
        again = run("exec", "demo", "two", "--session", wanted, "--format", "json")
        assert again.json["session_id"] == whole


def test_a_journal_in_memory_promises_no_resuming() -> None:
    assert "resume" not in run("exec", "demo", "one", "--journal", "memory:").err


def test_a_file_of_variables_is_for_the_agent_and_never_printed(home: Path) -> None:
    (home / "keys.env").write_text("EXEC_TEST_KEY=a-secret\nOTHER: a-secret\n")
    (home / "asks.py").write_text(
        "import os\nKEY = os.environ['EXEC_TEST_KEY']\nasync def says(prompt):\n    yield KEY[:3]\n"
    )
    result = run("exec", "asks.py", "hi", "--env-file", "keys.env", cwd=home)
    assert (result.code, result.out) == (0, "a-s\n")
    assert "warning: keys.env, line 2 is not NAME=value, and is left out" in result.err
    assert "a-secret" not in result.err
