"""An ACP agent as a small program: its options say how it starts, the first word of a prompt what it does.

It needs only the standard library, so that it starts at once. It keeps its sessions in files of ``--home``,
and writes each message that it gets to ``--log``.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]

parser = argparse.ArgumentParser()
parser.add_argument("--home", type=Path)
parser.add_argument("--log", type=Path)
parser.add_argument("--banner", action="store_true", help="begin with lines that are no messages")
parser.add_argument("--version", type=int, default=1)
parser.add_argument("--mute", action="store_true", help="answer nothing at all")
parser.add_argument("--refuse", choices=["load", "resume", "new", "close"], action="append", default=[])
parser.add_argument("--broken", default="", help="crash in load, resume; be silent in new; give no id in new")
parser.add_argument("--offer", default="load,resume,list,close,delete,fork")
parser.add_argument("--prompts", default="image,audio,embeddedContext")
parser.add_argument("--options", choices=["config", "legacy", "none"], default="config")
parser.add_argument("--early", action="store_true", help="send updates before the answer to session/new")
parser.add_argument("--replays-late", action="store_true", help="answer session/load before the replay")
parser.add_argument("--login", action="store_true", help="want a login before the first session")
parser.add_argument("--no-authenticate", action="store_true", help="offer a login that is done elsewhere")
parser.add_argument("--steering", default="", help="offer _session/steering, and what comes of it")
parser.add_argument("--stays", action="store_true", help="go on after the end of stdin")
parser.add_argument("--ignore", default="", help="signals to ignore, e.g. INT,TERM")
parser.add_argument("--setsid", type=Path, help="start a process with setsid; its number goes here")
args = parser.parse_args()

OFFERS = set(args.offer.split(","))
SESSIONS: dict[str, Json] = {}
PENDING: dict[Any, Callable[[Json], None]] = {}
RUNNING: dict[str, Any] = {}
STATE: Json = {"logged_in": not args.login, "next": 0, "mode": "ask", "model": "small", "loud": False}


def send(message: Json) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(id: Any, result: Any) -> None:
    send({"id": id, "result": result})


def refuse(id: Any, code: int, message: str, data: Any = None) -> None:
    send({"id": id, "error": {"code": code, "message": message, **({} if data is None else {"data": data})}})


def ask(method: str, params: Json, then: Callable[[Json], None]) -> None:
    id = STATE["next"]
    STATE["next"] += 1
    PENDING[id] = then
    send({"id": id, "method": method, "params": params})


def update(session_id: str, kind: str, **fields: Any) -> None:
    params = {"sessionId": session_id, "update": {"sessionUpdate": kind, **fields}}
    send({"method": "session/update", "params": params})


def say(session_id: str, text: str, kind: str = "agent_message_chunk") -> None:
    update(session_id, kind, content={"type": "text", "text": text})


def store(session_id: str) -> None:
    if args.home:
        (args.home / f"{session_id}.json").write_text(json.dumps(SESSIONS[session_id]))


def find(session_id: str) -> Json | None:
    if session_id not in SESSIONS and args.home and (path := args.home / f"{session_id}.json").exists():
        SESSIONS[session_id] = json.loads(path.read_text())
    return SESSIONS.get(session_id)


def config() -> list[Json]:
    def choices(*names: str) -> list[Json]:
        return [{"value": name, "name": name.title()} for name in names]

    mode: Json = {"id": "mode", "name": "Mode", "type": "select", "category": "mode"}
    model: Json = {"id": "model", "name": "Model", "type": "select", "category": "model"}
    loud: Json = {"id": "loud", "name": "Loud", "type": "boolean", "currentValue": STATE["loud"]}
    return [
        {**mode, "currentValue": STATE["mode"], "options": choices("ask", "code")},
        {**model, "currentValue": STATE["model"], "options": choices("small", "large")},
        loud,
    ]


def opened() -> Json:
    if args.options == "config":
        return {"configOptions": config()}
    if args.options == "legacy":
        modes = [{"id": name, "name": name.title()} for name in ("ask", "code")]
        models = [{"modelId": name, "name": name.title()} for name in ("small", "large")]
        return {
            "modes": {"currentModeId": STATE["mode"], "availableModes": modes},
            "models": {"currentModelId": STATE["model"], "availableModels": models},
        }
    return {}


def initialize(id: Any, params: Json) -> None:
    if args.banner:
        sys.stdout.write('Welcome to the agent!\n{"level": "info", "msg": "a log line in JSON"}\n')
    prompts = {name: True for name in args.prompts.split(",") if name}
    session: Json = {name: {} for name in ("list", "resume", "close", "delete", "fork") if name in OFFERS}
    capabilities: Json = {
        "loadSession": "load" in OFFERS,
        "promptCapabilities": prompts,
        "sessionCapabilities": session,
        "mcpCapabilities": {"http": "http" in OFFERS},
        "auth": {"logout": {}},
    }
    methods: list[Json] = [
        {
            "id": "browser",
            "name": "Browser",
            **({"description": "Run `scripted login` there"} if args.no_authenticate else {}),
        },
        {"id": "key", "name": "API key", "type": "env_var", "vars": [{"name": "SCRIPTED_KEY"}]},
        {"id": "shell", "name": "Shell", "type": "terminal", "args": ["login"], "env": {"A": "1"}},
    ]
    info = {"name": "scripted-agent", "title": "Scripted", "version": "1.2.3"}
    answer(
        id,
        {
            "protocolVersion": args.version,
            "agentCapabilities": capabilities,
            "authMethods": methods,
            "agentInfo": info,
            **({"_meta": {"steering": {"supported": True}}} if args.steering else {}),
        },
    )


def new(id: Any, params: Json) -> None:
    if args.broken == "silent-new":
        sys.stderr.write("no room today\n")
        sys.stderr.flush()
        return
    if args.broken == "nameless":
        answer(id, {})
        return
    if not STATE["logged_in"]:
        refuse(id, -32000, "Authentication required")
    elif "new" in args.refuse:
        refuse(id, -32603, "Internal error", {"details": "no room for a session"})
    else:
        session_id = f"native-{os.getpid()}-{len(SESSIONS)}"
        SESSIONS[session_id] = {"said": [], "cwd": params["cwd"], "servers": params["mcpServers"]}
        store(session_id)
        if args.early:
            commands = [{"name": "plan", "description": "Make a plan"}]
            update(session_id, "available_commands_update", availableCommands=commands)
            send({"method": "_scripted/status", "params": {"ok": True}})
        answer(id, {"sessionId": session_id, **opened()})


def load(id: Any, params: Json) -> None:
    if args.broken == "load":
        sys.stderr.write("loading broke me\n")
        sys.stderr.flush()
        os._exit(5)
    if not STATE["logged_in"]:
        refuse(id, -32000, "Authentication required")
        return
    session = find(params["sessionId"])
    if session is None or "load" in args.refuse:
        refuse(id, -32002, f"Resource not found: {params['sessionId']}")
        return
    if args.replays_late:
        answer(id, opened())
        time.sleep(0.05)
    for who, text in session["said"]:
        say(params["sessionId"], text, f"{who}_message_chunk")
    if not args.replays_late:
        answer(id, opened())


def resume(id: Any, params: Json) -> None:
    if not STATE["logged_in"]:
        refuse(id, -32000, "Authentication required")
    elif "resume" in args.refuse or find(params["sessionId"]) is None:
        refuse(id, -32601, "Method not found")
    else:
        answer(id, opened())


def fork(id: Any, params: Json) -> None:
    origin = find(params["sessionId"])
    if origin is None or args.broken == "fork":
        refuse(id, -32002, "Resource not found")
        return
    session_id = f"fork-{os.getpid()}-{len(SESSIONS)}"
    SESSIONS[session_id] = json.loads(json.dumps(origin))
    # It is stored with its first prompt, as that of Claude Code is.
    answer(id, {"sessionId": session_id, **opened()})


def list_sessions(id: Any, params: Json) -> None:
    names = sorted(path.stem for path in args.home.glob("*.json")) if args.home else list(SESSIONS)
    at = int(params.get("cursor") or 0)
    shown = [{"sessionId": name, "cwd": (find(name) or {})["cwd"], "title": name.title()} for name in names]
    more = {"nextCursor": str(at + 1)} if at + 1 < len(shown) else {}
    answer(id, {"sessions": shown[at : at + 1], **more})


def set_option(id: Any, params: Json) -> None:
    if args.options != "config":
        refuse(id, -32601, "Method not found")
        return
    if args.broken in ("options", "options-login"):
        refuse(id, -32000 if args.broken == "options-login" else -32602, "not today")
        return
    if args.broken == "options-silent":
        return
    STATE[params["configId"]] = params["value"]
    answer(id, {"configOptions": config()})


def prompt(id: Any, params: Json) -> None:
    session_id, blocks = params["sessionId"], params["prompt"]
    session = find(session_id)
    if session is None:
        refuse(id, -32002, "Resource not found")
        return
    if STATE.get("broken") == session_id:
        refuse(id, -32603, "Internal error", {"details": "Session not found"})
        return
    text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
    session["said"].append(["user", text])
    RUNNING[session_id] = id
    word, _, rest = text.rpartition("\n\n")[2].partition(" ")
    if rest == "later":
        finish(session_id, "soon ")
        time.sleep(0.2)
        say_later(word, session_id)
        return
    carry_out(word, rest, session_id, session, blocks)


def finish(session_id: str, text: str = "", reason: str = "end_turn", **fields: Any) -> None:
    if text and session_id in RUNNING:
        say(session_id, text)
        SESSIONS[session_id]["said"].append(["agent", text])
    store(session_id)
    if (id := RUNNING.pop(session_id, None)) is not None:
        answer(id, {"stopReason": reason, **fields})


def say_later(word: str, session_id: str) -> None:
    """Do something after the prompt was answered."""
    if word == "ask":
        ask_permission(session_id, lambda got: end_call(session_id, f"got {outcome(got)}"))
    elif word == "work":
        update(session_id, "tool_call", toolCallId="t3", title="work", status="in_progress")
        time.sleep(0.5)
        os._exit(4)
    else:
        for number in range(500):
            say(session_id, f"{number} ")


def end_call(session_id: str, text: str) -> None:
    update(session_id, "tool_call_update", toolCallId="t2", status="completed")
    say(session_id, text)


def ask_permission(session_id: str, then: Callable[[Json], None]) -> None:
    call = {"toolCallId": "t2", "title": "rm -rf", "kind": "execute", "rawInput": {"command": "rm"}}
    options = [
        {"optionId": "y", "name": "Yes", "kind": "allow_once"},
        {"optionId": "n", "name": "No", "kind": "reject_once"},
    ]
    ask("session/request_permission", {"sessionId": session_id, "toolCall": call, "options": options}, then)


def start_sleeper() -> int:
    """Start a process that leaves our group, and give its number."""
    sleeper = [sys.executable, "-Ic", "import time; time.sleep(600)"]
    return subprocess.Popen(sleeper, start_new_session=True).pid


def carry_out(word: str, rest: str, session_id: str, session: Json, blocks: list[Json]) -> None:
    if word == "crash":
        say(session_id, "half an ")
        update(session_id, "tool_call", toolCallId="t1", title="work", status="in_progress")
        sys.stderr.write("it went boom\n")
        sys.stderr.flush()
        os._exit(3)
    elif word in ("silent", "deaf", "chatty", "brittle"):
        say(session_id, "waiting")
        STATE["brittle"] = word == "brittle"
        STATE["chatty"] = word == "chatty"
        if word == "deaf":
            STATE["deaf"] = True
    elif word == "ask":
        ask_permission(session_id, lambda got: finish(session_id, f"got {outcome(got)}"))
    elif word == "hasty":
        ask_permission(session_id, lambda got: finish(session_id, f"got {outcome(got)}"))
        time.sleep(0.05)  # What it says next must not come in the same piece.
        say(session_id, "before ")
        update(session_id, "tool_call", toolCallId="t2", title="rm -rf")
    elif word == "unknown":
        ask("craft/drain", {"sessionId": session_id}, lambda got: finish(session_id, f"got {outcome(got)}"))
    elif word == "nan":
        update(session_id, "tool_call", toolCallId="t4", title="mean", rawOutput={"mean": float("nan")})
        nan = {"sessionId": session_id, "mean": float("nan")}
        ask("craft/drain", nan, lambda got: finish(session_id, f"got {outcome(got)}"))
    elif word == "farewell":
        result = {"jsonrpc": "2.0", "id": RUNNING.pop(session_id), "result": {"stopReason": "end_turn"}}
        sys.stdout.write(json.dumps(result))
        sys.stdout.flush()
        os._exit(0)
    elif word == "late":
        finish(session_id, "answered")
        update(session_id, "session_info_update", title="A late title")
        say(session_id, "one more thing")
    elif word == "later":
        finish(session_id, "answered")
        time.sleep(0.2)
        update(session_id, "session_info_update", title="A late title")
        say(session_id, "one more thing")
    elif word == "recall":
        finish(session_id, json.dumps(session["said"]))
    elif word == "cwd":
        finish(session_id, json.dumps([session["cwd"], session["servers"]]))
    elif word == "folder":
        finish(session_id, os.getcwd())
    elif word == "blocks":
        finish(session_id, json.dumps(blocks))
    elif word == "env":
        finish(session_id, str(os.environ.get(rest)))
    elif word == "pid":
        finish(session_id, str(os.getpid()))
    elif word == "big":
        finish(session_id, "x" * int(rest))
    elif word == "banner":
        sys.stdout.write("a line in the middle of a turn\n")
        finish(session_id, "written")
    elif word == "endless":
        while True:
            sys.stdout.write("x" * 65536)
            sys.stdout.flush()
    elif word in ("mute", "/mute"):
        sys.stderr.write(rest)
        sys.stderr.flush()
        finish(session_id)
    elif word == "overloaded":
        finish(session_id, "API Error: 529 overloaded")
    elif word == "stderr":
        sys.stderr.write("e" * int(rest))
        sys.stderr.flush()
        finish(session_id, "written")
    elif word == "fail":
        refuse(RUNNING.pop(session_id), -32603, "Internal error", {"details": "the quota is used up"})
    elif word == "login":
        refuse(RUNNING.pop(session_id), -32000, "Authentication required")
    elif word == "lose":
        finish(session_id, "lost")
        STATE["broken"] = session_id
    elif word == "break":
        say(session_id, "half")
        STATE["broken"] = session_id
        refuse(RUNNING.pop(session_id), -32603, "Internal error", {"details": "the process exited"})
    elif word == "refuse":
        finish(session_id, "no", "refusal")
    elif word == "count":
        usage = {"totalTokens": 12, "inputTokens": 7, "outputTokens": 5, "cachedReadTokens": 3}
        finish(session_id, "counted", usage=usage)
    elif word == "flood":
        for number in range(int(rest)):
            say(session_id, f"{number} ")
        finish(session_id)
    elif word == "spawn":
        finish(session_id, str(start_sleeper()))
    elif word == "run":
        command = {"sessionId": session_id, "command": "sh", "args": ["-c", rest]}
        ask("terminal/create", command, lambda got: finish(session_id, str(os.getpid())))
    else:
        finish(session_id, f"You said {word} {rest}".strip())


def steer(id: Any, params: Json) -> None:
    """Take a message into the running turn, as claude-agent-acp and codex-acp do."""
    session_id, idle = params["sessionId"], {"steering": {"idleBehavior": "promptRequired"}}
    if not params["prompt"] or params.get("_meta", idle) != idle:
        refuse(id, -32602, "Invalid params")
    elif args.steering == "exit":
        os._exit(3)
    elif args.steering == "error":
        refuse(id, -32603, "Internal error")
    elif args.steering == "never":
        return
    elif args.steering == "idle" or session_id not in RUNNING:
        answer(id, {"outcome": "promptRequired", "reason": "noRunningTurn"})
    elif args.steering == "failed":
        answer(id, {"outcome": "failed"})
    else:
        text = params["prompt"][0]["text"]
        SESSIONS[session_id]["said"].append(["user", text])
        say(session_id, text, "user_message_chunk")
        answer(id, {"outcome": "injected"})
        finish(session_id, f"also {text}")


def outcome(message: Json) -> str:
    if "error" in message:
        return str(message["error"]["code"])
    chosen = message["result"]["outcome"]
    return str(chosen.get("optionId", chosen["outcome"]))


def cancel(params: Json) -> None:
    if STATE.get("brittle"):
        os._exit(4)
    if not STATE.get("deaf"):
        finish(params["sessionId"], reason="cancelled")
        if STATE.get("chatty"):
            time.sleep(0.1)
            say(params["sessionId"], "after the end")


METHODS: dict[str, Callable[[Any, Json], None]] = {
    "initialize": initialize,
    "session/new": new,
    "session/load": load,
    "session/resume": resume,
    "session/fork": fork,
    "session/list": list_sessions,
    "session/prompt": prompt,
    **({"_session/steering": steer} if args.steering else {}),
    "session/set_config_option": set_option,
}


def take(message: Json) -> None:
    if args.log:
        with args.log.open("a") as log:
            log.write(json.dumps(message) + "\n")
    method, id = message.get("method"), message.get("id")
    params: Json = message.get("params") or {}
    if method is None:
        PENDING.pop(id, lambda _: None)(message)
    elif method == "session/cancel":
        cancel(params)
    elif "id" not in message or args.mute:
        return
    elif method == "authenticate" and args.no_authenticate:
        refuse(id, -32603, "Method not implemented")
    elif method == "authenticate":
        STATE["logged_in"] = True
        answer(id, {})
    elif method == "session/set_mode":
        STATE["mode"] = params["modeId"]
        answer(id, {})
    elif method == "session/set_model" and args.options == "legacy":
        STATE["model"] = params["modelId"]
        answer(id, {})
    elif method == "session/close" and "close" in args.refuse:
        refuse(id, -32601, "Method not found")
    elif method in ("session/close", "session/delete", "logout"):
        if method == "session/delete" and args.home:
            (args.home / f"{params['sessionId']}.json").unlink(missing_ok=True)
        answer(id, {})
    elif method in METHODS:
        METHODS[method](id, params)
    else:
        refuse(id, -32601, "Method not found")


for name in filter(None, args.ignore.split(",")):
    signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_IGN)
if args.setsid:
    args.setsid.write_text(str(start_sleeper()))
for line in sys.stdin:
    take(json.loads(line))
while args.stays:
    time.sleep(600)
