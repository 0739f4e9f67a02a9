"""A small ACP agent in plain Python that keeps every requirement, except the one it is told to break.

``python agent.py [--login] [--flaw REQUIREMENT[:VARIANT]]``; ``--login`` makes it want a login first.
It imports nothing of ours, so that it starts at once and cannot share a mistake with us.
"""

import json
import sys
import time
from typing import Any, cast

FLAWS = [
    "TRANSPORT-001:banner", "TRANSPORT-001:last-words", "TRANSPORT-001:scalar", "TRANSPORT-002",
    "JSONRPC-001", "JSONRPC-002:both", "JSONRPC-002:code", "JSONRPC-003", "JSONRPC-004", "JSONRPC-005",
    "INIT-001", "INIT-002", "INIT-003", "INIT-004", "SCHEMA-001", "SCHEMA-002", "SESSION-001", "SESSION-002",
    "PROMPT-001", "PROMPT-002:session", "PROMPT-002:shape", "PROMPT-003", "CANCEL-001", "CANCEL-002",
    "LOAD-001", "LOAD-002:late", "LOAD-002:never", "LOAD-003", "RESUME-001", "RESUME-002",
    "LIST-001", "LIST-002", "DELETE-001", "DELETE-002", "CLOSE-001", "CLOSE-002", "ADDDIRS-001",
    "MODES-001", "MODES-002", "CONFIG-001", "CONFIG-002:part", "CONFIG-002:old", "CONFIG-003",
    "PROMPTCAP-001", "PROMPTCAP-002", "PROMPTCAP-003", "CLIENTCAP-001", "CLIENTCAP-002", "CLIENTCAP-003",
    "AUTH-001", "AUTH-002", "AUTH-003", "AUTH-004", "AUTH-005",
    "EXT-001", "EXT-002", "META-001", "ERROR-001:empty", "ERROR-001:lines", "SHUTDOWN-001",
    "PARSE-001", "PARSE-002", "INVALIDREQ-001", "INVALIDREQ-002", "PARAMS-001", "PARAMS-002", "SESSION-003",
    "SESSION-004", "LOAD-004", "META-002", "PROMPT-004", "PROMPT-005", "PROMPT-006", "PROMPT-007",
    "CANCEL-003", "CANCEL-004", "TOOL-001", "TOOL-002", "PERMISSION-001:ids", "PERMISSION-001:session",
    "PERMISSION-002", "PERMISSION-003", "JSONRPC-006", "SHUTDOWN-002", "CAP-001",
]  # fmt: skip
"""Every way to be wrong: the requirement, and which way where there are several."""

BLOCKS = {
    "resource_link": "PROMPT-003",
    "image": "PROMPTCAP-001",
    "audio": "PROMPTCAP-002",
    "resource": "PROMPTCAP-003",
}
TEMPTATIONS = {
    ("CLIENTCAP-001", "/permission"): "fs/read_text_file",
    ("CLIENTCAP-002", "/terminal"): "terminal/create",
    ("CLIENTCAP-003", "/form"): "elicitation/create",
}


class HttpError(Exception):
    """A request is answered with an error."""

    def __init__(self, code: int, message: str = "no") -> None:
        super().__init__(message)
        self.code = code


class Agent:
    """Answers one request after the other."""

    def __init__(self, flaw: str, login: bool) -> None:
        self.flaw = flaw
        self.logins = login
        self.logged_in = not login and flaw != "AUTH-005"
        self.sessions: dict[str, list[str]] = {}
        self.waiting: dict[str, Any] = {}
        self.asking: dict[Any, tuple[str, Any, str]] = {}
        self.requests = 0
        self.spoilt: set[str] = set()
        self.silent = False
        self.options = {"model": ["small", "large"], "effort": ["low", "high"]}
        self.values = {"model": "small", "effort": "low"}

    # -- the wire --

    def send(self, **message: Any) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def update(self, session_id: str, kind: str, **fields: Any) -> None:
        self.send(
            method="session/update",
            params={"sessionId": session_id, "update": {"sessionUpdate": kind, **fields}},
        )

    def chunk(self, session_id: str, text: str, kind: str = "agent_message_chunk") -> None:
        self.update(session_id, kind, content={"type": "text", "text": text})

    def respond(self, id: Any, result: Any) -> None:
        fields = {"error": None} if self.flaw == "JSONRPC-002:both" else {}
        self.send(id=str(id) if self.flaw == "JSONRPC-001" else id, result=result, **fields)

    def read(self, line: str) -> None:
        if self.flaw == "PROMPT-006" and len(line) > 64 * 1024:
            sys.exit(1)
        try:
            message = json.loads(line)
        except ValueError:
            self.complain("PARSE", -32700)
            return
        if isinstance(message, dict):
            self.receive(cast("dict[str, Any]", message))
        else:
            self.complain("INVALIDREQ", -32600)

    def complain(self, family: str, code: int) -> None:
        if self.flaw == f"{family}-001":
            sys.exit(1)
        if self.flaw != f"{family}-002":
            self.send(id=None, error={"code": code, "message": "no"})

    def ask(self, session_id: str, prompt_id: Any) -> None:
        call_id = f"call-{self.requests}"
        kind = "tool_call_update" if self.flaw == "TOOL-001" else "tool_call"
        self.update(session_id, kind, toolCallId=call_id, title="Delete it", status="pending")
        ids = ("yes", "yes") if self.flaw == "PERMISSION-001:ids" else ("yes", "no")
        kinds = zip(ids, ("allow_once", "reject_once"), strict=True)
        options = [{"optionId": one, "name": one, "kind": kind} for one, kind in kinds]
        for _ in range(2 if self.flaw == "JSONRPC-006" else 1):
            self.requests += self.flaw != "JSONRPC-006"
            named = "another" if self.flaw == "PERMISSION-001:session" else session_id
            params = {"sessionId": named, "toolCall": {"toolCallId": call_id}, "options": options}
            self.asking[self.requests] = (session_id, prompt_id, call_id)
            self.send(id=self.requests, method="session/request_permission", params=params)

    def decide(self, id: Any, outcome: dict[str, Any]) -> None:
        session_id, prompt_id, call_id = self.asking.pop(id, ("", None, ""))
        if prompt_id is None:
            return
        allowed = outcome.get("optionId") == "yes"
        if self.flaw != "TOOL-002":
            status = "completed" if allowed else "failed"
            self.update(session_id, "tool_call_update", toolCallId=call_id, status=status)
        if outcome["outcome"] == "cancelled":
            self.respond(
                prompt_id, {"stopReason": "end_turn" if self.flaw == "PERMISSION-002" else "cancelled"}
            )
        elif not allowed and self.flaw == "PERMISSION-003":
            self.refuse(prompt_id, -32603, "it was refused")
        else:
            self.respond(prompt_id, {"stopReason": "end_turn"})

    def receive(self, message: dict[str, Any]) -> None:
        if "method" not in message and isinstance(message.get("result"), dict):
            self.decide(message["id"], message["result"].get("outcome") or {})
        if "method" not in message or self.silent:
            return
        method: str = message["method"]
        params: dict[str, Any] = message.get("params") or {}
        if "id" not in message:
            self.take(method, params)
            return
        if method == "session/prompt" and not isinstance(params["prompt"], list):
            self.refuse(message["id"], -32603 if self.flaw == "PARAMS-002" else -32602, "no such prompt")
            return
        if method == "session/prompt" and params["sessionId"] in self.waiting:
            if self.flaw != "PROMPT-007":
                self.refuse(message["id"], -32600, "one at a time")
            return
        if method == "session/prompt" and params["prompt"] and params["sessionId"] in self.sessions:
            words: Any = cast("list[Any]", params["prompt"])[0]["text"]
            if words == "/wait-for-cancel":
                self.chunk(params["sessionId"], "waiting")
                self.waiting[params["sessionId"]] = message["id"]
                return
            if words == "/permission" and self.flaw != "CLIENTCAP-001":
                self.ask(params["sessionId"], message["id"])
                return
        handle = getattr(self, method.replace("/", "_"), None) if method[0] != "_" else None
        try:
            if method[0] == "_" and self.flaw == "EXT-001":
                return
            if method[0] == "_" and self.flaw == "EXT-002":
                handle = self.authenticate
            if handle is None:
                raise HttpError(-32603 if self.flaw == "JSONRPC-004" else -32601, f"no method {method}")
            result, *then = handle(params)
            self.respond(message["id"], result)
            for follow in then:
                follow()
        except (HttpError, KeyError) as refusal:
            missing = -32603 if self.flaw == "PARAMS-001" else -32602
            self.refuse(message["id"], getattr(refusal, "code", missing), str(refusal))

    def refuse(self, id: Any, code: int, message: str) -> None:
        words = {"ERROR-001:empty": "", "ERROR-001:lines": "one\ntwo"}.get(self.flaw, message)
        output = str(code) if self.flaw == "JSONRPC-002:code" else code
        self.send(id=str(id) if self.flaw == "JSONRPC-001" else id, error={"code": output, "message": words})
        self.silent = self.flaw == "JSONRPC-005"

    def take(self, method: str, params: dict[str, Any]) -> None:
        if self.flaw == "JSONRPC-003":
            self.send(id=None, result={})
        if method == "session/cancel":
            self.stop(params["sessionId"])

    def stop(self, session_id: str, reason: str = "cancelled") -> None:
        prompt_id = self.waiting.pop(session_id, None)
        if self.flaw == ("CANCEL-004" if prompt_id is None else "CANCEL-003"):
            self.spoilt.add(session_id)
        if prompt_id is None:
            return
        if self.flaw == "CANCEL-001":
            self.refuse(prompt_id, -32800, "cancelled")
        else:
            self.respond(prompt_id, {"stopReason": reason})
        if self.flaw == "CANCEL-002":
            self.chunk(session_id, "one more thing")

    # -- methods: each gives its result, and perhaps what to do after it was sent --

    def initialize(self, params: dict[str, Any]) -> tuple[Any, ...]:
        asked = params["protocolVersion"]
        version: Any = {"INIT-001": "1", "INIT-002": 0, "INIT-003": asked}.get(self.flaw, 1)
        methods = [{"id": "password", "name": "Password"}, {"id": "token", "name": "Token"}]
        if self.flaw == "AUTH-001":
            methods[1]["id"] = "password"
        if self.flaw == "AUTH-002":
            methods.append({"id": "shell", "name": "Shell", "type": "terminal"})
        marks = ("list", "delete", "resume", "close", "additionalDirectories")
        marks = marks[self.flaw == "CAP-001" :]
        result: dict[str, Any] = {
            "protocolVersion": version,
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
                "sessionCapabilities": {mark: {} for mark in marks},
                "auth": {"logout": {}},
            },
            "authMethods": methods if self.logins else [],
        }
        if self.flaw != "INIT-004":
            result["agentInfo"] = {"name": "plain", "version": "1"}
        return (result,)

    def authenticate(self, params: dict[str, Any]) -> tuple[Any, ...]:
        self.logged_in = self.flaw != "AUTH-003"
        return ({},)

    def logout(self, params: dict[str, Any]) -> tuple[Any, ...]:
        self.logged_in = False
        return (None if self.flaw == "AUTH-004" else {},)

    def config(self) -> list[dict[str, Any]]:
        options: list[dict[str, Any]] = [
            {
                "id": name,
                "name": name.title(),
                "type": "select",
                "currentValue": self.values[name],
                "options": [{"value": value, "name": value} for value in values],
            }
            for name, values in self.options.items()
        ]
        if self.flaw == "CONFIG-003":
            options.append({"id": "loud", "name": "Loud", "type": "boolean", "currentValue": True})
        return options

    def session_new(self, params: dict[str, Any]) -> tuple[Any, ...]:
        if not params["cwd"].startswith("/") and self.flaw != "SESSION-003":
            raise HttpError(-32602, "an absolute folder please")
        if not self.logged_in:
            raise HttpError(-32000, "log in first")
        if self.flaw == "ADDDIRS-001" and "additionalDirectories" in params:
            raise HttpError(-32602, "one folder is enough")
        names = {"SESSION-001": "", "SESSION-002": "same"}
        session_id = names.get(self.flaw, f"s{len(self.sessions) + 1}")
        self.sessions[session_id] = []
        if self.flaw == "CONFIG-001":
            self.values["model"] = "gigantic"
        modes = [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]
        result = {
            "sessionId": session_id,
            "modes": {"currentModeId": "nap" if self.flaw == "MODES-001" else "ask", "availableModes": modes},
            "configOptions": self.config(),
        }
        if self.flaw == "SCHEMA-001":
            return result, lambda: self.update(session_id, "plan", entries=[{"content": "no priority"}])
        return (result,)

    def session_prompt(self, params: dict[str, Any]) -> tuple[Any, ...]:
        session_id, words = params["sessionId"], params["prompt"][0]["text"]
        if session_id not in self.sessions and self.flaw != "SESSION-004":
            raise HttpError(-32002, "what session?")
        if self.flaw == "META-002":
            session_id = params.get("_meta", {}).get("session_id", session_id)
        if session_id in self.spoilt:
            if self.flaw == "CANCEL-004":
                raise HttpError(-32603, "it was cancelled")
            return ({"stopReason": "cancelled"},)
        if self.flaw == "PROMPT-005" and not words.isascii():
            raise HttpError(-32603, "plain letters please")
        if self.flaw == "META-001" and "_meta" in params:
            raise HttpError(-32602, "no _meta please")
        if any(BLOCKS.get(block["type"]) == self.flaw for block in params["prompt"]):
            raise HttpError(-32602, "no such blocks please")
        if method := TEMPTATIONS.get((self.flaw, words)):
            self.send(id=1, method=method, params={"sessionId": session_id, "path": "/etc/hosts"})
        self.sessions.setdefault(session_id, []).append(words)
        self.chunk("another" if self.flaw == "PROMPT-002:session" else session_id, "you said ")
        if self.flaw == "PROMPT-002:shape":
            self.update(session_id, "agent_message_chunk", content="text")
        self.chunk(session_id, words)
        result = {"stopReason": "done" if self.flaw == "PROMPT-001" else "end_turn"}
        if self.flaw == "PROMPT-004":
            return result, lambda: self.chunk(session_id, "one more thing")
        return (result | {"mood": "good"} if self.flaw == "SCHEMA-002" else result,)

    def replay(self, session_id: str) -> None:
        for words in self.sessions[session_id]:
            self.chunk(session_id, words, "user_message_chunk")
            self.chunk(session_id, f"you said {words}")

    def session_load(self, params: dict[str, Any]) -> tuple[Any, ...]:
        if params["sessionId"] not in self.sessions:
            if self.flaw == "LOAD-004":
                return ({},)
            raise HttpError(-32002, "what session?")
        if self.flaw == "LOAD-001":
            raise HttpError(-32603, "not today")
        if self.flaw == "LOAD-002:late":
            return {}, lambda: self.replay(params["sessionId"])
        if self.flaw != "LOAD-002:never":
            self.replay(params["sessionId"])
        return (None if self.flaw == "LOAD-003" else {},)

    def session_resume(self, params: dict[str, Any]) -> tuple[Any, ...]:
        if self.flaw == "RESUME-001":
            _ = params["mcpServers"]
        if self.flaw == "RESUME-002":
            self.replay(params["sessionId"])
        return ({},)

    def session_list(self, params: dict[str, Any]) -> tuple[Any, ...]:
        listed = [{"sessionId": session_id, "cwd": "/"} for session_id in self.sessions]
        if params.get("cwd") not in (None, "/") and self.flaw != "LIST-002":
            listed = []
        return ({"sessions": {} if self.flaw == "LIST-001" else listed},)

    def session_delete(self, params: dict[str, Any]) -> tuple[Any, ...]:
        known = self.sessions.pop(params["sessionId"], None) is not None
        if self.flaw == "DELETE-001" and known:
            raise HttpError(-32603, "it is precious")
        if self.flaw == "DELETE-002" and not known:
            raise HttpError(-32002, "what session?")
        return ({},)

    def session_close(self, params: dict[str, Any]) -> tuple[Any, ...]:
        if self.flaw == "CLOSE-001":
            raise HttpError(-32603, "it is stuck")
        self.stop(params["sessionId"], "end_turn" if self.flaw == "CLOSE-002" else "cancelled")
        return ({},)

    def session_set_mode(self, params: dict[str, Any]) -> tuple[Any, ...]:
        name = "modeId" if self.flaw == "MODES-002" else "currentModeId"
        update = {name: params["modeId"]}
        return {}, lambda: self.update(params["sessionId"], "current_mode_update", **update)

    def session_set_config_option(self, params: dict[str, Any]) -> tuple[Any, ...]:
        if self.flaw != "CONFIG-002:old":
            self.values[params["configId"]] = params["value"]
        options = self.config()
        return ({"configOptions": options[:1] if self.flaw == "CONFIG-002:part" else options},)


def main() -> None:
    flaw = sys.argv[sys.argv.index("--flaw") + 1] if "--flaw" in sys.argv else ""
    agent = Agent(flaw, "--login" in sys.argv)
    if flaw == "TRANSPORT-001:banner":
        sys.stdout.write("Welcome!\n")
    for line in sys.stdin:
        agent.read(line)
    if flaw == "TRANSPORT-001:last-words":
        sys.stdout.write("Bye!\n")
    if flaw == "TRANSPORT-001:scalar":
        sys.stdout.write("1\n")
    if flaw == "TRANSPORT-002":
        sys.stdout.buffer.write(b'{"jsonrpc":"2.0","method":"_bye","params":{"word":"\xff"}}\n')
    if flaw == "SHUTDOWN-001" or (flaw == "SHUTDOWN-002" and agent.waiting):
        time.sleep(600)


if __name__ == "__main__":
    main()
