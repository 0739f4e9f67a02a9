"""Requirements on the wire itself: transport, JSON-RPC, initialize, the schema, errors and the end."""

from __future__ import annotations

from trunkline.conformance.acp.kit import Kit, requirement, result_of
from trunkline.conformance.acp.schema import find_fault, unknown_keys
from trunkline.conformance.acp.stdio_client import Line, Message
from trunkline.conformance.table import Failure, fail, need


@requirement("TRANSPORT-001", "M", "Every line on stdout is one JSON-RPC 2.0 object.", last=True)
def prints_messages_only(kit: Kit) -> None:
    for line in kit.ended.log:
        need(line.message is not None, f"not a JSON object: {line.raw[:200]!r}")
        need((line.message or {}).get("jsonrpc") == "2.0", f"not JSON-RPC 2.0: {line.raw[:200]!r}")


@requirement("TRANSPORT-002", "M", "Stdout is valid UTF-8.", last=True)
def prints_utf8(kit: Kit) -> None:
    for line in kit.ended.log:
        try:
            line.raw.decode()
        except UnicodeDecodeError as error:
            raise Failure(f"{error}: {line.raw[:200]!r}") from None


@requirement("JSONRPC-001", "M", "An id is echoed exactly, a number as well as a string.")
def echoes_ids(kit: Kit) -> None:
    need(kit.greeting, "there is no answer with the id 4711")
    params: Message = {"cwd": str(kit.subject.folder), "mcpServers": []}
    need(kit.agent.request("session/new", params, "4711-a"), "there is no answer with the id '4711-a'")


@requirement("JSONRPC-002", "M", "An answer has either a result or an error with a code and a message.")
def answers_one_way(kit: Kit) -> None:
    for reply in (kit.greeting, kit.agent.request("session/new", {"mcpServers": []})):
        need(reply is not None, "there is no answer")
        check_shape(reply or {})


def check_shape(reply: Message) -> None:
    need(("result" in reply) != ("error" in reply), f"not exactly one of result and error: {reply}")
    if "error" in reply:
        error = reply["error"]
        need(type(error["code"]) is int, f"the code is no integer: {error}")
        need(type(error["message"]) is str, f"the message is no text: {error}")


@requirement("JSONRPC-003", "M", "A notification is never answered.")
def leaves_notifications_alone(kit: Kit) -> None:
    session_id, start = kit.session_id, len(kit.agent.log)
    kit.agent.notify("session/cancel", {"sessionId": session_id})
    kit.agent.notify("_trunkline/hello", {})
    kit.fence()
    for line in kit.agent.log[start:]:
        answer = line.message is not None and "method" not in line.message
        need(not answer or line.answers is not None, f"nobody asked for {line.raw[:200]!r}")


@requirement("JSONRPC-004", "A", "An unknown method is answered with -32601.")
def knows_no_unknown_method(kit: Kit) -> None:
    _ = kit.greeting
    reply = kit.agent.request("session/does_not_exist", {})
    need(reply is not None and reply.get("error", {}).get("code") == -32601, f"the answer is {reply}")


@requirement("JSONRPC-005", "A", "The connection is usable after an error.")
def survives_errors(kit: Kit) -> None:
    _ = kit.session
    kit.agent.request("session/does_not_exist", {})
    result_of(kit.open_session(), "session/new after an error")


# -- initialize ------------------------------------------------------------------------------------


@requirement("INIT-001", "M", "Initialize succeeds, is valid and has an integer version.")
def greets(kit: Kit) -> None:
    need(type(kit.greeted.get("protocolVersion")) is int, f"no integer: {kit.greeted}")
    need((fault := find_fault(kit.greeting or {}, "initialize")) is None, str(fault))


@requirement("INIT-002", "M", "Version 1 is answered with version 1.")
def speaks_version_1(kit: Kit) -> None:
    need(kit.greeted["protocolVersion"] == 1, f"it is {kit.greeted['protocolVersion']}")


@requirement("INIT-003", "M", "A version from the future is answered with the newest that is known.")
def negotiates(kit: Kit) -> None:
    reply = kit.spawn().request("initialize", {"protocolVersion": 65535})
    version = result_of(reply, "initialize with version 65535")["protocolVersion"]
    need(version != 65535, "it claims to speak version 65535")
    need(version >= kit.greeted["protocolVersion"], f"it goes back to {version}")


@requirement("INIT-004", "A", "The agent says its name and version.")
def names_itself(kit: Kit) -> None:
    info: Message = kit.greeted.get("agentInfo") or {}
    need(info.get("name") and info.get("version"), f"agentInfo is {info}")


# -- the schema ------------------------------------------------------------------------------------


@requirement("SCHEMA-001", "M", "Every message of the agent is valid.", last=True)
def is_valid(kit: Kit) -> None:
    if faults := kit.ended.faults():
        fail(faults[0])


@requirement("SCHEMA-002", "A", "Messages have no unknown keys at their root.", last=True)
def invents_nothing(kit: Kit) -> None:
    for line in kit.ended.log:
        unknown = unknown_keys(line.message or {}, line.answers)
        need(not unknown, f"{sorted(unknown)} in {line.raw[:200]!r}")


# -- extensions, errors and the end ----------------------------------------------------------------


@requirement("EXT-001", "M", "An unknown method with an underscore is answered somehow.")
def answers_extensions(kit: Kit) -> None:
    _ = kit.greeting
    need(kit.agent.request("_trunkline/unheard_of", {}), "there is no answer")


@requirement("EXT-002", "A", "An unknown method with an underscore is answered with -32601.")
def refuses_extensions(kit: Kit) -> None:
    _ = kit.greeting
    reply = kit.agent.request("_trunkline/unheard_of", {})
    need(reply is not None and reply.get("error", {}).get("code") == -32601, f"the answer is {reply}")


@requirement("ERROR-001", "A", "Error messages are one line and not empty.", last=True)
def explains_in_one_line(kit: Kit) -> None:
    for error in map(error_of, kit.ended.log):
        if error is not None:
            words = str(error.get("message") or "")
            need(words.strip() and "\n" not in words, f"the message is {words!r}")


def error_of(line: Line) -> Message | None:
    return (line.message or {}).get("error") if line.answers is not None else None


@requirement("SHUTDOWN-001", "A", "The process ends when its stdin is closed.", last=True)
def ends(kit: Kit) -> str:
    took = kit.ended.ended_after
    need(took is not None, "it had to be killed")
    return f"after {took:.2f} s"


@requirement("STDERR-001", "I", "How much the agent writes to stderr.", last=True)
def grumbles(kit: Kit) -> str:
    return f"{kit.ended.stderr_size} bytes"


def reaction(kit: Kit, line: bytes) -> str:
    """What the agent makes of a line, and whether it is still there afterwards."""
    process = kit.bad_input_process
    start = len(process.log)
    process.write(line + b"\n")
    alive = process.request("_trunkline/fence", {}) is not None
    errors = [(got.message or {}).get("error") for got in process.log[start:] if got.answers is None]
    output = ", ".join(f"{error['code']} {error['message']!r}" for error in errors if error) or "nothing"
    return f"says {output}" + ("" if alive else " and is gone")


@requirement("INFO-PARSE-001", "I", "What a line that is not JSON does.")
def meets_garbage(kit: Kit) -> str:
    return reaction(kit, b"{this is not JSON")


@requirement("INFO-INVALIDREQ-001", "I", "What JSON that is no request does.")
def meets_a_batch(kit: Kit) -> str:
    return reaction(kit, b"[1]")


@requirement("INFO-UNKNOWNSESSION-001", "I", "What a prompt in an unknown session does.")
def meets_a_stranger(kit: Kit) -> str:
    params = {"sessionId": "no-such-session", "prompt": [{"type": "text", "text": "hi"}]}
    reply = kit.bad_input_process.request("session/prompt", params)
    return "no answer" if reply is None else f"{reply.get('error', reply)}"
