"""An agent that probes its client: it asks for all that a client may be asked, and writes down what comes.

``python probing_agent.py LOG [--version N] [--bare]``. Each line of LOG is a message of either side; the
first is the number of the process. It imports nothing of ours, so that it cannot share a mistake with us. It
waits for each answer, and is ended by an alarm if none comes.
"""

import json
import os
import signal
import sys
from typing import Any

Json = dict[str, Any]

SECONDS = 50
LONG = 700_000
OPTIONS = [
    {"optionId": "for-ever", "name": "Always", "kind": "allow_always"},
    {"optionId": "no-way", "name": "No", "kind": "reject_once"},
    {"optionId": "just-once", "name": "Once", "kind": "allow_once"},
]

log = open(sys.argv[1], "a", encoding="utf-8")  # noqa: SIM115 - it lives as long as the program
bare = "--bare" in sys.argv
version = int(sys.argv[sys.argv.index("--version") + 1]) if "--version" in sys.argv else 1
session: Json = {"id": "probed-session", "cwd": "/", "offered": {}}


def note(who: str, line: str) -> None:
    log.write(json.dumps([who, line]) + "\n")
    log.flush()


def write(line: str) -> None:
    note("agent", line)
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def send(**message: Any) -> None:
    write(json.dumps({"jsonrpc": "2.0", **message}))


def update(kind: str, /, **fields: Any) -> None:
    said = {"sessionUpdate": kind, **fields}
    send(method="session/update", params={"sessionId": session["id"], "update": said, "_meta": {"probe": 1}})


def say(text: str) -> None:
    update("agent_message_chunk", content={"type": "text", "text": text})


def read() -> Json:
    line = sys.stdin.readline()
    if not line:
        note("agent", '"eof"')
        sys.exit(0)
    note("client", line.rstrip("\n"))
    return json.loads(line)


def wait_for(*ids: Any) -> dict[Any, Json]:
    """Read until each of these requests is answered."""
    found: dict[Any, Json] = {}
    while len(found) < len(ids):
        message = read()
        if "method" not in message and message.get("id") in ids:
            found[message["id"]] = message
    return found


def ask(id: Any, method: str, **params: Any) -> Json:
    send(id=id, method=method, params={"sessionId": session["id"], **params})
    return wait_for(id)[id]


def permission(id: Any, title: str = "do it") -> None:
    call = {"toolCallId": f"call-{id}", "title": title, "kind": "execute", "rawInput": {"command": "ls"}}
    params = {"sessionId": session["id"], "toolCall": call, "options": OPTIONS, "_meta": {"probe": True}}
    send(id=id, method="session/request_permission", params=params)


# -- what a prompt probes --------------------------------------------------------------------------


def probe() -> None:
    permission(0)
    wait_for(0)
    permission("a string")
    wait_for("a string")
    permission(4294967296)
    permission("parallel")
    wait_for(4294967296, "parallel")
    send(method="_probe/hello", params={"sessionId": session["id"]})
    send(method="$/probe", params={})
    send(method="probe/hello")
    update("a_kind_of_the_future", anything={"at": ["all"]}, content=7)
    update("agent_message_chunk", content={"type": "text", "text": "known ", "tone": "new"}, mood="fine")
    update("tool_call", toolCallId="t", title="t", kind="juggle", status="floating", content=[{"type": "?"}])
    update("tool_call_update", toolCallId="t", status="completed")
    ask("unknown", "probe/unknown")
    ask("extension", "_probe/extension")
    files()
    terminals()
    ask(
        "form",
        "elicitation/create",
        mode="form",
        message="?",
        requestedSchema={"type": "object", "properties": {}},
    )
    write("this is no JSON")
    write('{"jsonrpc": "2.0", "id": "invalid", "method": 5}')
    wait_for("invalid")
    say("x" * LONG)
    ask("fence", "probe/fence")
    say("probed")


def files() -> None:
    path = f"{session['cwd']}/probe.txt"
    ask("write", "fs/write_text_file", path=path, content="one\ntwo\nthree\n")
    ask("read", "fs/read_text_file", path=path)
    ask("read-part", "fs/read_text_file", path=path, line=2, limit=1)
    ask("read-relative", "fs/read_text_file", path="probe.txt")
    ask("read-missing", "fs/read_text_file", path=f"{session['cwd']}/no such file")
    ask("read-nothing", "fs/read_text_file")


def terminals() -> None:
    made = ask("create", "terminal/create", command="sh", args=["-c", "echo one; exit 3"], cwd=session["cwd"])
    terminal = made.get("result", {}).get("terminalId", "none")
    ask("wait", "terminal/wait_for_exit", terminalId=terminal)
    ask("output", "terminal/output", terminalId=terminal)
    ask("release", "terminal/release", terminalId=terminal)
    ask("released", "terminal/output", terminalId=terminal)
    text = "ä" * 50
    made = ask("create-limited", "terminal/create", command="echo", args=[text], outputByteLimit=9)
    terminal = made.get("result", {}).get("terminalId", "none")
    ask("wait-limited", "terminal/wait_for_exit", terminalId=terminal)
    ask("output-limited", "terminal/output", terminalId=terminal)
    made = ask("create-long", "terminal/create", command="sleep", args=["600"])
    terminal = made.get("result", {}).get("terminalId", "none")
    ask("output-running", "terminal/output", terminalId=terminal)
    if "result" in made:
        params = {"sessionId": session["id"], "terminalId": terminal}
        send(id="withdrawn", method="terminal/wait_for_exit", params=params)
        send(method="$/cancel_request", params={"requestId": "withdrawn"})
        wait_for("withdrawn")
    ask("kill", "terminal/kill", terminalId=terminal)
    ask("wait-killed", "terminal/wait_for_exit", terminalId=terminal)
    ask("output-killed", "terminal/output", terminalId=terminal)


def be_cancelled() -> None:
    permission("held", "hold")
    say("cancel me")
    waiting, cancelled = {"held"}, False
    while waiting or not cancelled:
        message = read()
        cancelled = cancelled or message.get("method") == "session/cancel"
        waiting.discard(message.get("id", "") if "method" not in message else "")
    permission("late")
    wait_for("late")
    say("after cancel")
    ask("fence-cancelled", "probe/fence")


# -- the protocol ----------------------------------------------------------------------------------


def prompt(message: Json) -> None:
    text = message["params"]["prompt"][0].get("text", "")
    reason = "end_turn"
    if text == "probe":
        probe()
    elif text == "cancel":
        be_cancelled()
        reason = "cancelled"
    else:
        say(f"you said {text}")
    usage = {"totalTokens": 3, "inputTokens": 2, "outputTokens": 1}
    answer(message, {"stopReason": reason, "usage": usage, "_meta": {"probe": 1}, "unknown": [1]})
    update("session_info_update", title=f"after {text}")


def answer(message: Json, result: Json) -> None:
    send(id=message["id"], result=result)


def take(message: Json) -> None:
    method = message.get("method")
    if method == "initialize":
        session["offered"] = message["params"].get("clientCapabilities", {})
        capabilities: Json = (
            {} if bare else {"loadSession": True, "sessionCapabilities": {"resume": {}, "close": {}}}
        )
        methods = [
            {"id": "by-itself", "name": "By itself"},
            {"id": "shell", "name": "Shell", "type": "terminal"},
        ]
        info = {"name": "probing-agent", "version": "1"}
        answer(
            message,
            {
                "protocolVersion": version,
                "agentCapabilities": {**capabilities, "fromTheFuture": {"yes": True}},
                "authMethods": methods,
                "agentInfo": info,
            },
        )
    elif method == "session/new":
        session["cwd"] = message["params"]["cwd"]
        commands = [{"name": "probe", "description": "Probe the client"}]
        update("available_commands_update", availableCommands=commands)
        update("a_kind_of_the_future", early=True)
        answer(message, {"sessionId": session["id"], "unknown": None})
    elif method == "session/load":
        update("user_message_chunk", content={"type": "text", "text": "earlier"})
        say("loaded")
        answer(message, {})
    elif method == "session/prompt":
        prompt(message)
    elif method is not None and "id" in message:
        answer(message, {})


log.write(f"{os.getpid()}\n")
signal.alarm(SECONDS)
while True:
    take(read())
