"""Requirements on the wire, the beginning of a session, and prompts."""

from __future__ import annotations

import os
from typing import Any

from tests.agents.acp.conformance.record import (
    Run,
    fields,
    is_of,
    need,
    with_code,
    with_message,
    with_params,
    with_result,
    with_texts,
    without_answer,
)
from tests.agents.acp.conformance.table import JSONRPC, SPEC, requirement
from trunkline.conformance.acp.schema import find_fault

# -- the wire --------------------------------------------------------------------------------------


def _not_valid(run: Run) -> None:
    run.sent("session/prompt")[0]["params"]["prompt"] = "text"


@requirement("SCHEMA-001", f"{SPEC}/schema", "Every message is valid by the official schema.", _not_valid)
def sends_valid_messages(run: Run) -> None:
    asked = run.asked_by_agent()
    for message in run.client:
        method = None if "method" in message else asked.get(message.get("id"))
        if method is None and "method" not in message:
            continue
        if method is not None and (method.startswith(("probe/", "_probe/")) or "error" in message):
            continue
        fault = find_fault(message, method)
        need(fault is None, f"{fault}: {str(message)[:300]}")


@requirement(
    "TRANSPORT-001",
    f"{SPEC}/transports#stdio",
    "Every line on the agent's stdin is one message.",
    lambda run: run.said.append(("client", "hello")),
)
def writes_messages_only(run: Run) -> None:
    for message in run.client:
        need(fields(message).get("jsonrpc") == "2.0", f"no message: {message!r}")


@requirement(
    "JSONRPC-001",
    f"{JSONRPC}#response_object",
    "An id is echoed as it came: 0, text, a large number.",
    without_answer(0),
)
def echoes_ids(run: Run) -> None:
    for id in (0, "a string", 4294967296, "parallel"):
        run.answer(id)


@requirement(
    "JSONRPC-002",
    f"{JSONRPC}#response_object",
    "An answer has either a result or an error.",
    lambda run: run.answer(0).update(error={"code": 1, "message": ""}),
)
def answers_one_way(run: Run) -> None:
    for message in run.client:
        if "method" not in message:
            need(("result" in message) != ("error" in message), f"not one of both: {message}")


@requirement(
    "JSONRPC-003",
    f"{JSONRPC}#notification",
    "A notification is never answered, whatever its name.",
    with_message({"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "?"}}),
)
def leaves_notifications_alone(run: Run) -> None:
    asked = {*run.asked_by_agent(), "invalid"}
    for message in run.client:
        need("method" in message or message.get("id") in asked, f"nobody asked for {message}")


@requirement(
    "JSONRPC-004",
    f"{JSONRPC}#error_object",
    "An unknown method is answered with -32601 at once.",
    with_code("unknown", -32603),
)
def refuses_unknown_methods(run: Run) -> None:
    need(run.code("unknown") == -32601, run.answer("unknown"))
    need(run.code("fence") == -32601, run.answer("fence"))


@requirement(
    "JSONRPC-005",
    f"{JSONRPC}#request_object",
    "No two requests of the client have the same id.",
    with_message({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}, 1),
)
def numbers_requests(run: Run) -> None:
    ids = [message["id"] for message in run.client if "method" in message and "id" in message]
    need(len(ids) == len(set(ids)) and None not in ids, f"ids: {ids}")


@requirement(
    "JSONRPC-006",
    f"{JSONRPC}#error_object",
    "Params that cannot be read are answered with -32602.",
    with_code("read-nothing", -32603),
)
def refuses_bad_params(run: Run) -> None:
    need(run.code("read-nothing") == -32602, run.answer("read-nothing"))


@requirement(
    "JSONRPC-007",
    f"{JSONRPC}#error_object",
    "A message that is no request is answered with -32600.",
    without_answer("invalid"),
)
def refuses_bad_requests(run: Run) -> None:
    need(run.code("invalid") == -32600, run.answer("invalid"))


@requirement(
    "JSONRPC-008",
    f"{SPEC}/transports#stdio",
    "A line that is no message does not end the connection.",
    without_answer("fence"),
)
def survives_noise(run: Run) -> None:
    noise = run.place("agent", lambda message: message == "this is no JSON")
    need(run.place("client", lambda m: m.get("id") == "fence") > noise, "nothing came after it")


@requirement(
    "JSONRPC-009",
    f"{SPEC}/cancellation",
    "A request that the agent withdraws is answered with -32800.",
    with_result("withdrawn", exitCode=0),
)
def lets_requests_be_withdrawn(run: Run) -> None:
    need(run.code("withdrawn") == -32800, run.answer("withdrawn"))


@requirement(
    "JSONRPC-010",
    f"{SPEC}/transports#stdio",
    "A message of 700 KB is taken as any other.",
    with_texts("known", "probed"),
)
def takes_long_lines(run: Run) -> None:
    need("x" * 700_000 in "".join(run.texts), "the program did not get it")


@requirement(
    "EXT-001",
    f"{SPEC}/extensibility#custom-requests",
    "An unknown extension is answered with -32601.",
    with_result("extension"),
)
def refuses_extensions(run: Run) -> None:
    need(run.code("extension") == -32601, run.answer("extension"))


# -- the beginning ---------------------------------------------------------------------------------


@requirement(
    "INIT-001",
    f"{SPEC}/initialization",
    "Initialize is the first message, and sent once.",
    with_message({"jsonrpc": "2.0", "method": "_early"}, 0),
)
def initializes_first(run: Run) -> None:
    need(run.client[0].get("method") == "initialize", f"the first message is {run.client[0]}")
    need(len(run.sent("initialize")) == 1, "it was sent again")


@requirement(
    "INIT-002",
    f"{SPEC}/initialization#version-negotiation",
    "The client names the newest version it speaks.",
    with_params("initialize", protocolVersion="1"),
)
def names_its_version(run: Run) -> None:
    need(run.sent("initialize")[0]["params"].get("protocolVersion") == 1, run.sent("initialize")[0])


@requirement(
    "INIT-003",
    f"{SPEC}/initialization#client-capabilities",
    "The client says what it can do, and who it is.",
    with_params("initialize", clientInfo={}),
)
def introduces_itself(run: Run) -> None:
    params = run.sent("initialize")[0]["params"]
    info = fields(params.get("clientInfo"))
    need(isinstance(params.get("clientCapabilities"), dict), "there are no clientCapabilities")
    need(info.get("name") and info.get("version"), f"clientInfo is {info}")


@requirement(
    "SESSION-001",
    f"{SPEC}/session-setup#working-directory",
    "The folder of a session is an absolute path.",
    with_params("session/new", cwd="work"),
)
def names_absolute_folders(run: Run) -> None:
    (new,) = run.sent("session/new")
    need(os.path.isabs(new["params"]["cwd"]), new)
    need(isinstance(new["params"].get("mcpServers"), list), new)


@requirement(
    "SESSION-002",
    f"{SPEC}/session-setup#session-id",
    "Requests name the session that the agent made.",
    with_params("session/prompt", sessionId="another"),
)
def names_the_session(run: Run) -> None:
    for message in (*run.sent("session/prompt"), *run.sent("session/cancel")):
        need(message["params"]["sessionId"] == "probed-session", message)


@requirement(
    "SESSION-003",
    f"{SPEC}/session-setup#loading-sessions",
    "Only what the agent offers is asked for.",
    with_message({"jsonrpc": "2.0", "id": 99, "method": "session/fork", "params": {}}),
)
def asks_for_what_is_offered(run: Run) -> None:
    known = {
        "initialize",
        "session/new",
        "session/prompt",
        "session/cancel",
        "session/close",
        "$/cancel_request",
    }
    methods = {message["method"] for message in run.client if "method" in message}
    need(methods <= known, f"not offered: {methods - known}")


@requirement(
    "AUTH-001",
    f"{SPEC}/authentication",
    "Nobody logs in without need, and never by a terminal's method.",
    with_message({"jsonrpc": "2.0", "id": 98, "method": "authenticate", "params": {"methodId": "shell"}}),
)
def leaves_logins_alone(run: Run) -> None:
    need(not run.sent("authenticate"), run.sent("authenticate"))


# -- prompts ---------------------------------------------------------------------------------------


@requirement(
    "PROMPT-001",
    f"{SPEC}/initialization#prompt-capabilities",
    "A prompt has only what the agent can take.",
    lambda run: run.sent("session/prompt")[0]["params"]["prompt"].append({"type": "image"}),
)
def sends_what_can_be_taken(run: Run) -> None:
    for message in run.sent("session/prompt"):
        kinds = {block["type"] for block in message["params"]["prompt"]}
        need(kinds <= {"text", "resource_link"} and kinds, f"kinds: {kinds}")


@requirement(
    "PROMPT-002",
    f"{SPEC}/prompt-turn",
    "A prompt is not sent while one runs.",
    lambda run: run.said.insert(
        run.place("client", is_of("session/prompt")) + 1, ("client", run.sent("session/prompt")[1])
    ),
)
def sends_one_prompt_at_a_time(run: Run) -> None:
    running: set[Any] = set()
    for who, message in run.said:
        if who == "client" and is_of("session/prompt")(message):
            need(not running, "a second prompt came")
            running.add(message["id"])
        elif who == "agent" and "method" not in fields(message):
            running.discard(fields(message).get("id"))


@requirement(
    "PROMPT-003",
    f"{SPEC}/prompt-turn#stop-reasons",
    "The program learns how each prompt ended.",
    lambda run: run.reasons.clear(),
)
def tells_how_it_ended(run: Run) -> None:
    need(run.reasons == ["end_turn", "cancelled", "end_turn"], f"reasons: {run.reasons}")


@requirement(
    "UPDATE-001",
    f"{SPEC}/extensibility",
    "Updates of unknown kinds, words and fields are survived.",
    with_texts("probed"),
)
def survives_what_is_new(run: Run) -> None:
    text = "".join(run.texts)
    need("known " in text and "probed" in text, f"the program got {text[:100]!r}")


@requirement(
    "UPDATE-002",
    f"{SPEC}/prompt-turn#cancellation",
    "Updates after a cancel are taken.",
    with_texts("known ", "probed"),
)
def takes_late_updates(run: Run) -> None:
    need("after cancel" in "".join(run.texts), "the program did not get it")
