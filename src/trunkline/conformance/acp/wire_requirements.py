"""Requirements on the wire itself: transport, JSON-RPC, initialize, schema, bad input, errors and the end."""

from __future__ import annotations

from typing import Any

from trunkline.conformance.acp.kit import HISTORY, Kit, check_stopped, is_update, requirement, result_of
from trunkline.conformance.acp.schema import find_fault, unknown_keys
from trunkline.conformance.acp.stdio_client import Line, Message, text
from trunkline.conformance.table import Failure, NotApplicable, fail, need

_GARBAGE = (b"{this is not JSON",)
_NO_REQUESTS = (b"42", b'"hi"', b"null", b"[1]")


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


@requirement("JSONRPC-006", "M", "Open requests of the agent have different ids.", last=True)
def counts_its_requests(kit: Kit) -> None:
    ids: list[tuple[str, Any]] = [
        (type(line.message["id"]).__name__, line.message["id"])
        for line in kit.ended.log
        if line.message is not None and "method" in line.message and "id" in line.message
    ]
    if not ids:
        raise NotApplicable("the agent asked nothing")
    need(len(ids) == len(set(ids)), f"used twice: {[one[1] for one in ids if ids.count(one) > 1][:1]}")


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


# -- bad input -------------------------------------------------------------------------------------


def _reactions(kit: Kit, *lines: bytes) -> tuple[list[Message], bytes | None]:
    """Send lines to a process of its own; give the answers that nobody asked for, and what ended it."""
    if lines not in kit.reactions:
        client, fatal = kit.spawn_greeted(), None
        start = len(client.log)
        for line in lines:
            client.write(line + b"\n")
            if client.request("_trunkline/fence", {}) is None:
                fatal = line
                break
        strangers = [got.message for got in client.log[start:] if got.message and got.answers is None]
        kit.reactions[lines] = [message for message in strangers if "method" not in message], fatal
    return kit.reactions[lines]


def _code_of(reply: Message | None) -> Any:
    error: Message = (reply or {}).get("error") or {}
    return error.get("code")


def _check_error(answers: list[Message], code: int) -> None:
    need(answers, "there is no answer")
    answer = answers[0]
    need(_code_of(answer) == code, f"the answer is {answer}")
    need("id" in answer and answer["id"] is None, f"the id is not null: {answer}")


@requirement("PARSE-001", "M", "A line that is not JSON does not end the connection.")
def survives_garbage(kit: Kit) -> None:
    need(_reactions(kit, *_GARBAGE)[1] is None, "the agent does not answer any more")


@requirement("PARSE-002", "A", "A line that is not JSON is answered with -32700 and the id null.")
def answers_garbage(kit: Kit) -> None:
    _check_error(_reactions(kit, *_GARBAGE)[0], -32700)


@requirement("INVALIDREQ-001", "M", "JSON that is no request, as an array, does not end the connection.")
def survives_scalars(kit: Kit) -> None:
    fatal = _reactions(kit, *_NO_REQUESTS)[1]
    need(fatal is None, f"the agent does not answer any more after the line {fatal!r}")


@requirement("INVALIDREQ-002", "A", "JSON that is no request is answered with -32600 and the id null.")
def answers_scalars(kit: Kit) -> None:
    _check_error(_reactions(kit, *_NO_REQUESTS)[0], -32600)


@requirement("PARAMS-001", "A", "Missing parameters are answered with -32602.")
def names_missing_params(kit: Kit) -> None:
    _ = kit.greeting
    reply = kit.agent.request("session/new", {"mcpServers": []})
    need(reply is not None, "there is no answer")
    code = _code_of(reply)
    need(code == -32602, f"session/new without cwd is answered with {reply}")


@requirement("PARAMS-002", "A", "Parameters of a wrong type are answered with -32602.")
def names_wrong_params(kit: Kit) -> None:
    reply = kit.agent.request("session/prompt", {"sessionId": kit.session_id, "prompt": 42})
    code = _code_of(reply)
    need(code == -32602, f"a prompt that is a number is answered with {reply}")


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


@requirement("META-001", "A", "A prompt may carry _meta.")
def lets_meta_pass(kit: Kit) -> None:
    session_id = kit.new_session()
    meta: dict[str, Any] = {"example.com/trace": "1", "sessionId": "another", "prompt": []}
    check_stopped(kit.prompt(session_id, kit.words(), _meta=meta), "a prompt with _meta")


@requirement("META-002", "M", "What is in _meta takes the place of no parameter.")
def trusts_no_meta(kit: Kit) -> None:
    words, session_id = kit.words(), kit.new_session()
    kit.fence()
    start = len(kit.agent.log)
    meta: Message = {"sessionId": "evil", "session_id": "evil"}
    kit.prompt(session_id, words, _meta=meta)
    kit.fence()
    lines = [line for line in kit.agent.log[start:] if is_update(line, "evil")]
    need(not lines, f"an update names the session in _meta: {lines and lines[0].raw[:200]!r}")


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


@requirement("SHUTDOWN-002", "A", "The process ends when its stdin is closed in the middle of a turn.")
def ends_in_mid_turn(kit: Kit) -> str:
    if kit.subject.waiting is None or kit.subject.words is None:
        raise NotApplicable("there is no prompt whose turn takes long (--long-prompt)")
    client = kit.spawn_greeted()
    session_id = kit.open_in(client)
    client.start("session/prompt", {"sessionId": session_id, "prompt": text(kit.subject.waiting)})
    client.until(lambda line: is_update(line, session_id, *HISTORY), within=2.0)
    client.finish()
    if client.ended_after is None:
        fail("it had to be killed")
    return f"after {client.ended_after:.2f} s"


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
