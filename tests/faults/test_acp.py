"""``trunkline acp`` in the hands of clients, agents and machines that do everything wrong."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.frontends.acp.talking import Line, Message, Talk, text

Start = Callable[..., Talk]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start ``trunkline acp TARGET``; all processes of a test share a journal, and each line is checked."""
    env = {"TRUNKLINE_JOURNAL": f"sqlite:{tmp_path}/journal.db", "XDG_CACHE_HOME": f"{tmp_path}/cache"}
    talks: list[Talk] = []
    with contextlib.ExitStack() as stack:

        def begin(target: str = "demo", **options: Any) -> Talk:
            command = [sys.executable, "-m", "trunkline", "acp", target]
            talk = stack.enter_context(Talk(command, cwd=tmp_path, env=env, **options))
            talks.append(talk)
            return talk

        yield begin
        faults = [fault for talk in talks for fault in talk.faults()]
    assert faults == []


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


def prompting(session_id: str, words: str) -> Message:
    return {"sessionId": session_id, "prompt": text(words)}


def has_text(words: str) -> Callable[[Line], bool]:
    return lambda line: words in ((line.update or {}).get("content") or {}).get("text", "")


# -- what is sent ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"\x00\xff\xfe\x80 garbage", -32700),
        (b"{", -32700),
        (b'{"jsonrpc":"2.0","id":7,"method":"session/new","params":{"cwd":"/\xff"}}', -32700),
        (b"[1]", -32600),
        (b"[]", -32600),
        (b'[{"jsonrpc":"2.0","id":7,"method":"initialize"}]', -32600),
        (b"1", -32600),
        (b'"text"', -32600),
        (b"null", -32600),
        (b"true", -32600),
        (b"{}", -32600),
        (b'{"jsonrpc":"1.0","id":7,"method":"initialize"}', -32600),
        (b'{"jsonrpc":"2.0","id":[7],"method":"initialize"}', -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":7}', -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":"initialize","params":7}', -32600),
    ],
)
def test_what_is_no_message_is_refused(line: bytes, code: int, start: Start) -> None:
    talk = start()
    talk.write(line + b"\n")
    answer = talk.next()
    assert answer is not None
    assert answer.message is not None
    assert answer.message["error"]["code"] == code
    assert talk.greet()["protocolVersion"] == 1


def test_one_connection_survives_everything_that_is_no_message(start: Start) -> None:
    talk = start()
    talk.greet()
    session_id = talk.open()
    for line in (b"\xff\xfe\x00", b"[1]", b"3", b"{", b"\r\n\r\n  \t", b"null", b"\xe2\x80\xa8"):
        talk.write(line + b"\n")
    assert talk.prompt(session_id, "still there?")["stopReason"] == "end_turn"
    assert talk.said(session_id) == "still there?"
    codes = [(line.message or {}).get("error", {}).get("code") for line in talk.log if not line.answers]
    assert [code for code in codes if code] == [-32700, -32600, -32600, -32700, -32600, -32700]


def test_a_prompt_of_eight_megabytes_arrives_whole_and_is_kept(start: Start, write_agent: Any) -> None:
    target = write_agent(
        "import hashlib\n"
        "async def agent(prompt, ctx):\n"
        "    yield hashlib.sha256(prompt.text.encode()).hexdigest()\n"
    )
    import hashlib

    words = "".join(map(str, range(1_300_000)))[: 8 << 20].ljust(8 << 20, "é")
    talk = start(target)
    talk.greet()
    session_id = talk.open()
    talk.prompt(session_id, words)
    assert talk.said(session_id) == hashlib.sha256(words.encode()).hexdigest()
    place = len(talk.log)
    talk.result("session/load", {"sessionId": session_id, "cwd": "/", "mcpServers": []})
    assert talk.said(session_id, place, "user_message_chunk") == words


def test_a_line_of_a_hundred_megabytes_is_refused_and_the_connection_lives(start: Start) -> None:
    talk = start()
    talk.greet()
    session_id = talk.open()
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
    assert "above the limit of 67108864" in refused.message["error"]["message"]
    talk.prompt(session_id, "hello")
    assert talk.said(session_id) == "hello"
    assert resident(talk.process.pid) - before < 96 << 20


@pytest.mark.parametrize("request_id", [0, "0", "", -1, 2**53, str(uuid.UUID(int=7)), "é\n"])
def test_an_id_comes_back_as_it_was(request_id: Any, start: Start) -> None:
    talk = start()
    reply = talk.request("initialize", {"protocolVersion": 1}, request_id)
    assert reply is not None
    assert "result" in reply


def test_ids_that_look_alike_are_kept_apart(start: Start) -> None:
    talk = start()
    talk.greet()
    session_id = talk.open()
    talk.send(
        talk.form("session/list", {}, 0),
        talk.form("session/set_mode", {"sessionId": session_id, "modeId": "code"}, "0"),
    )
    answers: dict[Any, Any] = {}
    while len(answers) < 2:
        line = talk.next()
        assert line is not None
        if line.message is not None and "method" not in line.message:
            answers[line.message["id"]] = line.message["result"]
    assert answers["0"] == {}
    assert "sessions" in answers[0]


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
    method: str, params: Any, code: int, cause: str, start: Start
) -> None:
    talk = start()
    talk.greet()
    error = talk.error(method, params)
    assert error["code"] == code
    assert cause in error["data"]["cause"]


@pytest.mark.parametrize("method", ["session/set_model", "initialise", "_zed/anything", "$/nothing", ""])
def test_an_unknown_method_is_said_to_be_unknown(method: str, start: Start) -> None:
    talk = start()
    talk.greet()
    assert talk.error(method, {})["code"] == -32601


def test_an_agent_that_wants_a_login_says_so_until_it_has_one(start: Start) -> None:
    talk = start("demo-auth")
    talk.greet()
    params: Message = {"cwd": "/", "mcpServers": []}
    assert talk.error("session/new", params)["code"] == -32000
    assert talk.result("session/list", {})["sessions"] == []
    talk.result("authenticate", {"methodId": "demo-login"})
    assert talk.result("session/new", params)["sessionId"]
    talk.result("logout", {})
    assert talk.error("session/new", params)["code"] == -32000


def test_a_second_prompt_is_refused_and_the_first_goes_on(start: Start) -> None:
    talk = start()
    talk.greet()
    session_id = talk.open()
    first = talk.start("session/prompt", prompting(session_id, "/wait-for-cancel"))
    second = talk.start("session/prompt", prompting(session_id, "me too"))
    reply = talk.wait(second)
    assert reply is not None
    assert reply["error"]["code"] == -32600
    talk.notify("session/cancel", {"sessionId": session_id})
    reply = talk.wait(first)
    assert reply is not None
    assert reply["result"]["stopReason"] == "cancelled"
    assert "me too" not in talk.said(session_id)
    assert talk.prompt(session_id, "again")["stopReason"] == "end_turn"


def test_a_failed_turn_is_an_error_that_says_why_and_the_session_goes_on(start: Start) -> None:
    talk = start()
    talk.greet()
    session_id = talk.open()
    error = talk.error("session/prompt", prompting(session_id, "/fails"))
    assert error["code"] == -32603
    assert error["data"]["fault"] == "agent"
    assert "failed on purpose" in error["data"]["cause"]
    error = talk.error("session/prompt", prompting(session_id, "/raises"))
    assert "something broke inside the agent" in error["message"]
    assert "Traceback" not in json.dumps(error)
    assert talk.prompt(session_id, "/breaks-grammar")["stopReason"] == "end_turn"


# -- cancelling ------------------------------------------------------------------------------------


def cancel_notice(session_id: str) -> Message:
    return {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session_id}}


def test_a_cancel_in_the_same_write_as_its_prompt_is_heard(start: Start) -> None:
    talk = start()
    talk.greet()
    session_id = talk.open()
    asked = talk.form("session/prompt", prompting(session_id, "/wait-for-cancel"))
    talk.send(asked, cancel_notice(session_id))
    reply = talk.wait(asked["id"])
    assert reply is not None
    assert reply["result"]["stopReason"] == "cancelled"


def test_a_cancel_without_a_turn_does_nothing_to_the_next_one(start: Start) -> None:
    talk = start()
    talk.greet()
    session_id = talk.open()
    asked = talk.form("session/prompt", prompting(session_id, "hello"))
    talk.send(cancel_notice(session_id), cancel_notice("nobody"), asked)
    reply = talk.wait(asked["id"])
    assert reply is not None
    assert reply["result"]["stopReason"] == "end_turn"


@pytest.mark.parametrize("answer", ["never", "cancelled", "allow", "error"])
def test_a_cancel_while_a_permission_is_open_ends_the_turn(
    answer: str, start: Start, tmp_path: Path
) -> None:
    """The client should answer ``cancelled``; one that never answers, or allows too late, changes nothing."""
    talk = start()
    talk.greet()
    session_id = talk.open(tmp_path)
    replies: dict[str, Message] = {
        "cancelled": {"result": {"outcome": {"outcome": "cancelled"}}},
        "allow": {"result": {"outcome": {"outcome": "selected", "optionId": "allow_once"}}},
        "error": {"error": {"code": -32800, "message": "cancelled"}},
    }
    asking: list[Any] = []

    def hold(params: Message) -> Message:
        asking.append(params)
        raise Hold

    with contextlib.suppress(Hold):
        talk.answer["session/request_permission"] = hold
        talk.request("session/prompt", prompting(session_id, "/permission"), "the prompt")
    request = talk.log[-1].message
    assert request is not None
    talk.send(
        cancel_notice(session_id),
        *([{"jsonrpc": "2.0", "id": request["id"], **replies[answer]}] if answer in replies else []),
    )
    reply = talk.wait("the prompt")
    assert reply is not None
    assert reply["result"]["stopReason"] == "cancelled"
    assert not (tmp_path / "hello.txt").exists()
    statuses = [update.get("status") for update in talk.updates(session_id) if "toolCallId" in update]
    assert statuses[-1] == "failed"
    if answer == "never":
        withdrawn = [line.message for line in talk.log if "$/cancel_request" in str(line.message)]
        assert [message["params"] for message in withdrawn if message] == [{"requestId": request["id"]}]
    assert talk.prompt(session_id, "again")["stopReason"] == "end_turn"


class Hold(Exception):
    """Leaves a request of the agent unanswered."""


def test_a_prompt_whose_request_is_taken_back_is_cancelled(start: Start) -> None:
    talk = start()
    talk.greet()
    session_id = talk.open()
    prompt_id = talk.start("session/prompt", prompting(session_id, "/wait-for-cancel"))
    talk.until(has_text("Waiting"))
    talk.notify("$/cancel_request", {"requestId": prompt_id})
    reply = talk.wait(prompt_id)
    assert reply is not None
    assert reply["result"]["stopReason"] == "cancelled"


def test_taking_back_what_was_never_asked_does_nothing(start: Start) -> None:
    talk = start()
    talk.greet()
    for request_id in ("unheard of", 12345, None, [1], {}):
        talk.notify("$/cancel_request", {"requestId": request_id})
    talk.notify("$/cancel_request", None)
    assert talk.open()
    assert all(line.answers for line in talk.log if line.message and "method" not in line.message)


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
    talk = start(write_agent(LOUD))
    talk.greet()
    session_id = talk.open()
    talk.prompt(session_id, "hello")
    assert talk.said(session_id) == "stdin has 0 characters"
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
    talk = start(target)
    talk.greet()
    session_id = talk.open()
    talk.prompt(session_id, "go")
    assert talk.said(session_id) == "".join(f"{number} " for number in range(2048))
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
    assert talk.greet()["protocolVersion"] == 1
    for _ in range(2):
        error = talk.error("session/new", {"cwd": "/", "mcpServers": []})
        assert cause in error["data"]["cause"]
        assert error["data"]["fault"] in ("user", "agent")
        assert "Traceback" not in json.dumps(error)
    assert talk.finish() == 0


def test_an_agent_that_broke_since_its_card_was_kept_is_reported_too(start: Start, write_agent: Any) -> None:
    target = write_agent("import os\nassert not os.path.exists('broken')\nasync def agent(): yield 'hi'\n")
    talk = start(target)
    talk.greet()
    talk.open()
    assert talk.finish() == 0
    Path(talk.process.args[0])  # type: ignore[index]
