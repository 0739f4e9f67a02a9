"""``trunkline acp`` in the hands of clients, agents and machines that do everything wrong."""

import asyncio
import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from trunkline import events as ev
from trunkline.conformance.acp.stdio_client import Message, StdioClient, text
from trunkline.journal import open_journal

Start = Callable[..., StdioClient]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start ``trunkline acp TARGET``; all processes of a test share a journal, and each line is checked."""
    env = {"TRUNKLINE_JOURNAL": f"sqlite:{tmp_path}/journal.db", "XDG_CACHE_HOME": f"{tmp_path}/cache"}
    talks: list[StdioClient] = []
    with contextlib.ExitStack() as stack:

        def begin(target: str = "demo", **options: Any) -> StdioClient:
            command = [sys.executable, "-m", "trunkline", "acp", target]
            talk = stack.enter_context(StdioClient(command, cwd=tmp_path, env=env, **options))
            talks.append(talk)
            return talk

        yield begin
        faults = [fault for talk in talks for fault in talk.faults()]
    assert faults == []


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    """One process for the tests that only knock at it; it has been greeted."""
    folder = tmp_path_factory.mktemp("demo")
    env = {"TRUNKLINE_JOURNAL": f"sqlite:{folder}/journal.db", "XDG_CACHE_HOME": f"{folder}/cache"}
    with StdioClient([sys.executable, "-m", "trunkline", "acp", "demo"], cwd=folder, env=env) as talk:
        talk.initialize()
        yield talk
        assert talk.faults() == []


@pytest.fixture
def write_agent(tmp_path: Path) -> Callable[[str], str]:
    """Write an agent's file and give its TARGET."""

    def write(source: str) -> str:
        (tmp_path / "agent.py").write_text(source, encoding="utf-8")
        return "agent.py:agent"

    return write


def eventually(condition: Callable[[], Any], within: float = 20.0) -> Any:
    """Wait until something holds and give it."""
    end = time.monotonic() + within
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
    return found


def is_running(pid: int) -> bool:
    """Whether a process runs; one that only waits to be buried does not."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    return False


def resident(pid: int) -> int:
    """How many bytes of memory a process uses."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def opened(talk: StdioClient, *folder: Path) -> tuple[StdioClient, str]:
    """Greet a process and open a session in it."""
    talk.initialize()
    return talk, talk.open(*folder)


def prompting(session_id: str, words: str) -> Message:
    return {"sessionId": session_id, "prompt": text(words)}


# -- what is sent ----------------------------------------------------------------------------------


def test_one_connection_survives_everything_that_is_no_message(start: Start) -> None:
    talk, session_id = opened(start())
    for line in (b"\xff\xfe\x00", b"[1]", b"3", b"{", b"\r\n\r\n  \t", b"null", b"\xe2\x80\xa8"):
        talk.write(line + b"\n")
    assert talk.prompt(session_id, "still there?")["stopReason"] == "end_turn"
    assert talk.message_text(session_id) == "still there?"
    codes = [(line.message or {}).get("error", {}).get("code") for line in talk.log if not line.answers]
    assert [code for code in codes if code] == [-32700, -32600, -32600, -32700, -32600, -32700]


def test_a_prompt_of_eight_megabytes_arrives_whole_and_is_kept(start: Start, write_agent: Any) -> None:
    target = write_agent(
        "import hashlib\n"
        "async def agent(prompt, ctx):\n"
        "    yield hashlib.sha256(prompt.text.encode()).hexdigest()\n"
    )
    words = "".join(map(str, range(1_300_000)))[: 8 << 20].ljust(8 << 20, "é")
    talk, session_id = opened(start(target))
    talk.prompt(session_id, words)
    assert talk.message_text(session_id) == hashlib.sha256(words.encode()).hexdigest()
    place = len(talk.log)
    talk.result("session/load", {"sessionId": session_id, "cwd": "/", "mcpServers": []})
    assert talk.message_text(session_id, place, "user_message_chunk") == words


def test_a_line_of_a_hundred_megabytes_is_refused_and_the_connection_lives(start: Start) -> None:
    talk, session_id = opened(start())
    before = resident(talk.process.pid)
    talk.write(b'{"jsonrpc":"2.0","id":99,"method":"session/prompt","params":{"x":"')
    for _ in range(100):
        talk.write(b"x" * (1 << 20))
    assert resident(talk.process.pid) - before < 96 << 20
    talk.write(b'"}}\n')
    refused = talk.until(lambda line: (line.message or {}).get("error"))
    assert refused is not None
    assert refused.message is not None
    assert refused.message["error"]["code"] == -32600
    assert refused.message["id"] == 99, "whoever asked learns it"
    assert "above the limit of 67108864" in refused.message["error"]["message"]
    talk.prompt(session_id, "hello")
    assert talk.message_text(session_id) == "hello"
    assert resident(talk.process.pid) - before < 96 << 20


# -- requests that cannot be carried out -----------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "params", "code", "cause"),
    [
        ("session/new", {"mcpServers": []}, -32602, "cwd"),
        ("session/new", {"cwd": "here", "mcpServers": []}, -32602, "'here' is not an absolute path"),
        ("session/new", {"cwd": 7, "mcpServers": []}, -32602, "cwd"),
        (
            "session/new",
            {"cwd": "/", "mcpServers": [], "additionalDirectories": ["../up"]},
            -32602,
            "'../up' is not an absolute path",
        ),
        ("session/load", {"sessionId": "nobody", "cwd": "/", "mcpServers": []}, -32002, "'nobody'"),
        ("session/load", {"sessionId": "nobody", "cwd": "rel", "mcpServers": []}, -32602, "'rel'"),
        ("session/resume", {"sessionId": "nobody", "cwd": "/"}, -32002, "'nobody'"),
        ("session/fork", {"sessionId": "nobody", "cwd": "/", "mcpServers": []}, -32002, "'nobody'"),
        ("session/close", {"sessionId": "nobody"}, -32002, "'nobody'"),
        ("session/prompt", {"sessionId": "nobody", "prompt": text("hi")}, -32002, "'nobody'"),
        ("session/prompt", {"prompt": text("hi")}, -32602, "sessionId"),
        ("session/set_mode", {"sessionId": "nobody", "modeId": "ask"}, -32002, "'nobody'"),
        ("session/list", {"cwd": "rel"}, -32602, "'rel'"),
        ("session/list", {"cursor": "?"}, -32602, "not a cursor"),
        ("authenticate", {"methodId": "magic"}, -32602, "'magic'"),
    ],
)
def test_a_wrong_request_is_refused_with_its_cause(
    method: str, params: Any, code: int, cause: str, demo: StdioClient
) -> None:
    error = demo.error(method, params)
    assert error["code"] == code
    assert cause in error["data"]["details"]


def test_a_failed_turn_is_an_error_that_says_why_and_the_session_goes_on(start: Start) -> None:
    talk, session_id = opened(start())
    error = talk.error("session/prompt", prompting(session_id, "/fails"))
    assert error["code"] == -32603
    assert error["data"] == {"details": error["message"]}
    assert "failed on purpose" in error["message"]
    error = talk.error("session/prompt", prompting(session_id, "/raises"))
    assert "something broke inside the agent" in error["message"]
    assert "Traceback" not in json.dumps(error)
    assert talk.prompt(session_id, "/breaks-grammar")["stopReason"] == "end_turn"


# -- cancelling ------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["never", "allow"])
def test_a_cancel_while_a_permission_is_open_ends_the_turn(answer: str, start: Start, tmp_path: Path) -> None:
    """The client should answer ``cancelled``; one that never answers, or allows too late, changes nothing."""
    talk, session_id = opened(start(), tmp_path)
    talk.answer["session/request_permission"] = lambda params: None
    prompt_id = talk.start("session/prompt", prompting(session_id, "/permission"))
    asked = talk.until(lambda line: (line.message or {}).get("method") == "session/request_permission")
    assert asked is not None
    assert asked.message is not None
    request_id = asked.message["id"]
    allowed = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
    late = [{"jsonrpc": "2.0", "id": request_id, "result": allowed}] if answer == "allow" else []
    talk.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session_id}}, *late)
    reply = talk.wait(prompt_id)
    assert reply is not None
    assert reply["result"]["stopReason"] == "cancelled"
    assert not (tmp_path / "hello.txt").exists()
    statuses = [update.get("status") for update in talk.updates(session_id) if "toolCallId" in update]
    assert statuses[-1] == "failed"
    if answer == "never":
        withdrawn = [line.message for line in talk.log if "$/cancel_request" in str(line.message)]
        assert [message["params"] for message in withdrawn if message] == [{"requestId": request_id}]
    assert talk.prompt(session_id, "again")["stopReason"] == "end_turn"


# -- stdout belongs to the protocol ----------------------------------------------------------------

LOUD = """
import ctypes, os, subprocess, sys
print("a banner by print")
sys.stdout.write("a banner by sys.stdout\\n")
sys.__stdout__.write("a banner by the first stdout\\n")
os.write(1, b"a banner by os.write\\n")
ctypes.CDLL(None).puts(b"a banner by C")
ctypes.CDLL(None).fflush(None)
subprocess.run(["echo", "a banner by a child"], check=True)

async def agent(prompt, ctx):
    async with ctx.tool("loud"):
        print("a print in a tool")
        os.write(1, b"a write in a tool\\n")
        subprocess.run(["echo", "a child of a tool"], check=True)
        yield f"stdin has {len(sys.stdin.read())} characters"
"""


def test_whatever_user_code_prints_goes_to_stderr(start: Start, write_agent: Any) -> None:
    talk, session_id = opened(start(write_agent(LOUD)))
    talk.prompt(session_id, "hello")
    assert talk.message_text(session_id) == "stdin has 0 characters"
    assert talk.finish() == 0
    assert all(line.message is not None for line in talk.log)
    for who in ("print", "sys.stdout", "the first stdout", "os.write", "C", "a child"):
        assert f"a banner by {who}\n" in talk.stderr
    for what in ("a print in a tool", "a write in a tool", "a child of a tool"):
        assert f"{what}\n" in talk.stderr


def test_two_megabytes_on_stderr_disturb_nothing(start: Start, write_agent: Any) -> None:
    target = write_agent(
        "import sys\n"
        "async def agent(prompt, ctx):\n"
        "    for number in range(2048):\n"
        "        sys.stderr.write('x' * 1023 + '\\n')\n"
        "        yield f'{number} '\n"
    )
    talk, session_id = opened(start(target))
    talk.prompt(session_id, "go")
    assert talk.message_text(session_id) == "".join(f"{number} " for number in range(2048))
    assert talk.stderr_size >= 2 << 20


# -- agents that cannot be loaded ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("import a_module_that_is_not_there\n", "a_module_that_is_not_there"),
        ("raise ValueError('no key in the environment')\n", "no key in the environment"),
        ("def agent(:\n", "agent.py"),
        ("import sys; sys.exit('I leave')\n", "I leave"),
        ("agent = 7\n", "int"),
        ("", "agent"),
    ],
)
def test_an_agent_that_cannot_be_loaded_is_reported_when_a_session_is_asked_for(
    source: str, cause: str, start: Start, write_agent: Any
) -> None:
    talk = start(write_agent(source))
    assert talk.initialize()["protocolVersion"] == 1
    for _ in range(2):
        error = talk.error("session/new", {"cwd": "/", "mcpServers": []})
        assert cause in error["data"]["details"]
        assert list(error["data"]) == ["details"]
        assert "Traceback" not in json.dumps(error)
    assert talk.finish() == 0


def test_an_agent_that_broke_since_its_card_was_kept_is_reported_too(
    start: Start, write_agent: Any, tmp_path: Path
) -> None:
    target = write_agent(
        "import os\nassert not os.path.exists('broken'), 'it broke'\nasync def agent(): yield 'hi'\n"
    )
    talk = start(target)
    greeting = talk.initialize()
    talk.open()
    (tmp_path / "broken").touch()
    talk = start(target)
    assert talk.initialize() == greeting
    assert "it broke" in talk.error("session/new", {"cwd": "/", "mcpServers": []})["data"]["details"]


# -- clients that are slow, or gone ----------------------------------------------------------------


def is_over(folder: Path) -> bool:
    """Whether the newest turn in the journal of a test has ended, seen from outside."""

    async def look() -> bool:
        journal = await open_journal(f"sqlite:{folder}/journal.db")
        try:
            (info,) = await journal.list(None)
            records = await journal.read(info.key, after=max(0, info.last_seq - 5))
        finally:
            await journal.close()
        return any(isinstance(record.event, ev.TurnFinished) for record in records)

    return asyncio.run(look())


def test_a_client_that_does_not_read_costs_no_memory_and_misses_nothing(start: Start, tmp_path: Path) -> None:
    talk, session_id = opened(start(patience=50.0))
    count = 200_000
    talk.prompt(session_id, "/long 20000")
    place, before = len(talk.log), resident(talk.process.pid)
    talk.listen(False)
    prompt_id = talk.start("session/prompt", prompting(session_id, f"/long {count}"))
    most = before
    while not is_over(tmp_path):
        most = max(most, resident(talk.process.pid))
        time.sleep(0.05)
    grown = most - before
    talk.listen()
    reply = talk.wait(prompt_id)
    assert reply is not None
    assert reply["result"]["stopReason"] == "end_turn"
    assert talk.message_text(session_id, place) == "".join(f"{number} " for number in range(1, count + 1))
    assert grown < 32 << 20


CHILD = """
import asyncio, os, sys

async def agent(prompt, ctx):
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    terminal = await ctx.terminals.create([sys.executable, "-c", code])
    async for piece in terminal.stream():
        yield piece
    yield "the child ended"
"""


def start_child(start: Start, write_agent: Any, tmp_path: Path) -> tuple[StdioClient, Any, int]:
    """Begin a turn that runs a command for ever, and give its process id."""
    talk, session_id = opened(start(write_agent(CHILD)), tmp_path)
    prompt_id = talk.start("session/prompt", prompting(session_id, "go"))
    line = talk.until(lambda line: (line.update or {}).get("sessionUpdate") == "agent_message_chunk")
    assert line is not None
    pid = int(talk.message_text(session_id))
    assert is_running(pid)
    return talk, prompt_id, pid


def test_a_client_that_closes_our_stdin_ends_the_turn_the_process_and_its_children(
    start: Start, write_agent: Any, tmp_path: Path
) -> None:
    talk, prompt_id, pid = start_child(start, write_agent, tmp_path)
    talk.stdin.close()
    reply = talk.wait(prompt_id)
    assert reply is not None, "the last words come before the end"
    assert reply["result"]["stopReason"] == "cancelled"
    assert talk.finish(10.0) == 0
    assert not is_running(pid)


@pytest.mark.parametrize("how", ["it is gone", "it stopped reading"])
def test_a_client_that_hangs_up_takes_the_process_and_its_children_along(
    how: str, write_agent: Any, tmp_path: Path
) -> None:
    env = {"TRUNKLINE_JOURNAL": f"sqlite:{tmp_path}/journal.db", "XDG_CACHE_HOME": f"{tmp_path}/cache"}
    command = [sys.executable, "-m", "trunkline", "acp", write_agent(CHILD)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, env={**os.environ, **env}, stdin=pipe, stdout=pipe) as agent:
        stdin, stdout = agent.stdin, agent.stdout
        assert stdin is not None
        assert stdout is not None

        def ask(request_id: int, method: str, params: Message) -> None:
            request = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
            stdin.write(json.dumps(request).encode() + b"\n")
            stdin.flush()

        ask(1, "initialize", {"protocolVersion": 1})
        ask(2, "session/new", {"cwd": str(tmp_path), "mcpServers": []})
        child = 0
        while not child:
            message = json.loads(stdout.readline())
            if message.get("id") == 2:
                ask(3, "session/prompt", prompting(message["result"]["sessionId"], "go"))
            elif "agent_message_chunk" in str(message):
                child = int(message["params"]["update"]["content"]["text"])
        stdout.close()
        if how == "it is gone":
            stdin.close()
        assert agent.wait(10.0) == 0
        assert not is_running(child)
        stdin.close()


@pytest.mark.slow
def test_a_client_that_neither_reads_nor_stays_is_not_waited_for(start: Start, tmp_path: Path) -> None:
    """Its pipe is full, so the last words cannot be said; the process ends all the same."""
    talk, session_id = opened(start())
    talk.listen(False)
    talk.start("session/prompt", prompting(session_id, "/long 60000"))
    eventually(lambda: is_over(tmp_path))
    talk.stdin.close()
    assert talk.process.wait(15.0) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_and_its_children(
    number: signal.Signals, start: Start, write_agent: Any, tmp_path: Path
) -> None:
    talk, prompt_id, pid = start_child(start, write_agent, tmp_path)
    os.kill(talk.process.pid, number)
    reply = talk.wait(prompt_id)
    assert reply is not None
    assert reply["result"]["stopReason"] == "cancelled"
    assert talk.process.wait(10.0) == 0
    assert not is_running(pid)


# -- processes that are killed ---------------------------------------------------------------------


def kill_mid_turn(start: Start, folder: Path) -> tuple[str, dict[str, Any]]:
    """Kill a process in its third turn; give the session and what was seen of it."""
    talk, session_id = opened(start(), folder)
    talk.prompt(session_id, "the first prompt")
    talk.prompt(session_id, "/tools")
    talk.start("session/prompt", prompting(session_id, "/wait-for-cancel"))
    talk.until(lambda line: (line.update or {}).get("status") == "in_progress")
    # What is younger than the coalescing window may be lost: let a later session be written first.
    later = talk.open(folder)
    talk.prompt(later, "later")
    talk.kill()
    return session_id, folded(talk.updates(session_id))


@pytest.mark.slow
def test_a_session_whose_process_was_killed_mid_turn_is_loaded_whole_and_settles(
    start: Start, tmp_path: Path
) -> None:
    session_id, seen = kill_mid_turn(start, tmp_path)
    talk = start()
    talk.initialize()

    def load() -> dict[str, Any]:
        place = len(talk.log)
        talk.result("session/load", {"sessionId": session_id, "cwd": str(tmp_path), "mcpServers": []})
        return folded(talk.updates(session_id, place))

    loaded = load()
    assert loaded["user"] == ["the first prompt", "/tools", "/wait-for-cancel"]
    assert loaded["text"] == seen["text"]
    assert loaded["calls"].keys() == seen["calls"].keys()
    # Until its lease runs out nobody can know that the owner is dead.
    waiting = next(call_id for call_id, call in loaded["calls"].items() if call["title"] == "Wait for cancel")
    eventually(lambda: load()["calls"][waiting]["status"] == "failed")
    place = len(talk.log)
    assert talk.prompt(session_id, "and on")["stopReason"] == "end_turn"
    assert talk.message_text(session_id, place) == "and on"


@pytest.mark.slow
def test_a_session_whose_process_was_killed_mid_turn_goes_on_at_the_next_prompt(
    start: Start, tmp_path: Path
) -> None:
    session_id, _ = kill_mid_turn(start, tmp_path)
    talk = start()
    talk.initialize()
    talk.result("session/resume", {"sessionId": session_id, "cwd": str(tmp_path)})
    assert talk.prompt(session_id, "and on")["stopReason"] == "end_turn"
    assert talk.message_text(session_id) == "and on"


def folded(updates: Iterator[Message]) -> dict[str, Any]:
    """What updates come down to."""
    output: dict[str, Any] = {"user": [], "text": "", "calls": {}}
    for update in updates:
        kind = update["sessionUpdate"]
        if kind == "user_message_chunk":
            output["user"].append(update["content"]["text"])
        elif kind == "agent_message_chunk":
            output["text"] += update["content"]["text"]
        elif kind in ("tool_call", "tool_call_update"):
            output["calls"].setdefault(update["toolCallId"], {}).update(update)
    return output


# -- descriptors that are not what they should be --------------------------------------------------


@pytest.mark.parametrize("redirection", ["</dev/null", "<&-", ">&-", "2>&-", ">/dev/full", "<&- >&- 2>&-"])
def test_whatever_the_standard_descriptors_are_the_process_ends_by_itself(
    redirection: str, tmp_path: Path
) -> None:
    env = {"TRUNKLINE_JOURNAL": f"sqlite:{tmp_path}/journal.db", "XDG_CACHE_HOME": f"{tmp_path}/cache"}
    greeting = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n'
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m trunkline acp demo {redirection}', sys.executable],
        input=greeting, capture_output=True, timeout=30, cwd=tmp_path, env={**os.environ, **env},
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == b""
    assert bool(done.stdout) is (redirection == "2>&-")


# -- starts and ends that overlap ------------------------------------------------------------------


def test_a_client_that_says_everything_at_once_and_leaves_gets_every_answer(
    start: Start, tmp_path: Path
) -> None:
    """The card is not known yet, so the greeting itself waits for the agent's import."""
    talk = start()
    talk.send(
        talk.form("initialize", {"protocolVersion": 1}, "a"),
        talk.form("session/new", {"cwd": str(tmp_path), "mcpServers": []}, "b"),
        talk.form("session/list", {}, "c"),
        talk.form("_unknown", {}, "d"),
    )
    assert talk.finish() == 0
    answers = {line.message["id"]: line.message for line in talk.log if line.message and line.answers}
    assert answers.keys() == {"a", "b", "c", "d"}
    assert "sessionId" in answers["b"]["result"]
    assert talk.stderr == ""


def test_a_client_that_prompts_and_leaves_is_told_that_the_turn_was_cancelled(start: Start) -> None:
    talk, session_id = opened(start())
    prompt_id = talk.start("session/prompt", prompting(session_id, "/wait-for-cancel"))
    talk.stdin.close()
    reply = talk.wait(prompt_id)
    assert reply is not None
    assert reply["result"]["stopReason"] == "cancelled"
    assert talk.finish() == 0
    assert talk.stderr == ""
