"""Requirements beyond the official kit: bad input, order, tools, permissions, and the end in mid turn."""

from __future__ import annotations

from typing import Any

from trunkline.conformance.acp.kit import HISTORY, Kit, is_update, requirement, result_of
from trunkline.conformance.acp.stdio_client import Line, Message, StdioClient, same, text
from trunkline.conformance.acp.turn_requirements import STOP_REASONS, check_stopped
from trunkline.conformance.table import NotApplicable, fail, need

_LONG = 100_000
"""Characters of a big prompt: more than the 64 KiB that readers of lines have by default."""
_GARBAGE = (b"{this is not JSON",)
_NO_REQUESTS = (b"42", b'"hi"', b"null", b"[1]")
_ODD = " \u2014 na\u00efve \u65e5\u672c\u8a9e \U0001f680 \u202eabc\u202c a\u0301 \u2028 \x7f end"


def _reactions(kit: Kit, *lines: bytes) -> tuple[list[Message], bytes | None]:
    """Send lines to a process of its own; give the answers that nobody asked for, and what ended it."""
    if lines not in kit.reactions:
        client, fatal = kit.spawn(), None
        _begin(client)
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


# -- bad input -------------------------------------------------------------------------------------


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


@requirement("SESSION-003", "A", "A relative cwd is refused.")
def wants_an_absolute_folder(kit: Kit) -> None:
    reply = kit.open_session(cwd="some/folder")
    need(reply is not None, "there is no answer")
    need("error" in (reply or {}), f"it is taken: {reply}")


@requirement("SESSION-004", "A", "A prompt in a session that is not there is refused.")
def knows_its_sessions(kit: Kit) -> None:
    words, _ = kit.words(), kit.session_id
    reply = kit.prompt("no-such-session", words)
    need(reply is not None, "there is no answer")
    need("error" in (reply or {}), f"it is taken: {reply}")


@requirement("LOAD-004", "C", "Loading a session that is not there is refused.")
def loads_nothing_unknown(kit: Kit) -> None:
    kit.offered("loadSession")
    params: Message = {"sessionId": "no-such-session", "cwd": str(kit.subject.folder), "mcpServers": []}
    reply = kit.agent.request("session/load", params)
    need(reply is not None, "there is no answer")
    need("error" in (reply or {}), f"it is answered with {reply}")


@requirement("CAP-001", "A", "A method of a capability that is not advertised is refused.")
def does_what_it_offers(kit: Kit) -> None:
    offers: Message = kit.greeted.get("agentCapabilities") or {}
    more: Message = offers.get("sessionCapabilities") or {}
    folder: Message = {"sessionId": "no-such-session", "cwd": str(kit.subject.folder), "mcpServers": []}
    methods = [] if offers.get("loadSession") else [("session/load", folder)]
    methods += [] if more.get("list") is not None else [("session/list", {})]
    if not methods:
        raise NotApplicable("everything is advertised")
    for method, params in methods:
        reply = kit.agent.request(method, params)
        need(reply is not None, f"{method} is not answered")
        need("error" in (reply or {}), f"{method} is answered with {reply}")


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


# -- prompts ---------------------------------------------------------------------------------------


@requirement("PROMPT-004", "A", "What belongs to a turn is said before its prompt is answered.")
def ends_what_it_says(kit: Kit) -> None:
    words, session_id = kit.words(), kit.new_session()
    kit.prompt(session_id, words)
    start = len(kit.agent.log)
    kit.fence()
    late = [line.raw[:200] for line in kit.agent.log[start:] if is_update(line, session_id, *HISTORY)]
    need(not late, f"after the answer came {late[:1]}")


@requirement("PROMPT-005", "M", "A prompt of any Unicode ends with a stop reason.")
def takes_any_letters(kit: Kit) -> None:
    words = kit.words(_ODD)
    check_stopped(kit.prompt(kit.new_session(), words), "a prompt of many scripts")


@requirement("PROMPT-006", "M", "A prompt of 100,000 characters is answered, and the connection goes on.")
def takes_big_prompts(kit: Kit) -> None:
    words = kit.words(" " + "lorem ipsum " * (_LONG // 12))
    client = kit.spawn()
    _begin(client)
    session_id = _open(kit, client)
    reply = client.request("session/prompt", {"sessionId": session_id, "prompt": words})
    need(reply is not None, "there is no answer")
    need(client.request("_trunkline/fence", {}) is not None, "the agent does not answer any more")


@requirement("PROMPT-007", "A", "A second prompt in a busy session is answered, and both come to an end.")
def answers_every_prompt(kit: Kit) -> str:
    words = kit.words()
    session_id, first = kit.start_waiting()
    second = kit.agent.start("session/prompt", {"sessionId": session_id, "prompt": words})
    kit.fence()
    kit.agent.notify("session/cancel", {"sessionId": session_id})
    replies = {line: _reply(kit, line) for line in (first, second)}
    need(all(replies.values()), f"not answered: {[name for name, one in replies.items() if one is None]}")
    later = replies[second] or {}
    return "refused" if "error" in later else f"taken: {later.get('result')}"


def _reply(kit: Kit, request_id: Any) -> Message | None:
    """The answer to a request that may have come already."""
    for line in kit.agent.log:
        if line.answers is not None and same((line.message or {}).get("id"), request_id):
            return line.message
    return kit.agent.wait(request_id)


@requirement("CANCEL-003", "A", "After a cancelled turn the session takes the next prompt.")
def goes_on_after_a_cancel(kit: Kit) -> None:
    words = kit.words()
    session_id, prompt_id = kit.start_waiting()
    kit.agent.notify("session/cancel", {"sessionId": session_id})
    kit.agent.wait(prompt_id)
    reason = result_of(kit.prompt(session_id, words), "the prompt after a cancel").get("stopReason")
    need(reason in STOP_REASONS - {"cancelled"}, f"the stop reason is {reason!r}")


@requirement("CANCEL-004", "M", "A cancel with nothing to cancel changes nothing.")
def takes_needless_cancels(kit: Kit) -> None:
    words, session_id = kit.words(), kit.new_session()
    kit.agent.notify("session/cancel", {"sessionId": session_id})
    kit.agent.notify("session/cancel", {"sessionId": "no-such-session"})
    kit.fence()
    check_stopped(kit.prompt(session_id, words), "a prompt after a needless cancel")


# -- tools and permissions -------------------------------------------------------------------------


@requirement("TOOL-001", "M", "An update of a tool call names a call that was announced.", last=True)
def announces_its_calls(kit: Kit) -> None:
    known: set[tuple[Any, Any]] = set()
    seen = False
    for line in kit.ended.log:
        update = line.update
        if update is None or line.message is None or "toolCallId" not in update:
            continue
        seen, call = True, (line.message["params"].get("sessionId"), update["toolCallId"])
        if update["sessionUpdate"] == "tool_call":
            known.add(call)
        need(call in known, f"nobody announced {update['toolCallId']!r}: {line.raw[:200]!r}")
    if not seen:
        raise NotApplicable("no tool was called (--permission-prompt may name a prompt that calls one)")


@requirement("TOOL-002", "A", "Every tool call has come to an end when its turn has.", last=True)
def ends_its_calls(kit: Kit) -> None:
    states: dict[tuple[Any, Any], Any] = {}
    for line in kit.ended.log:
        update = line.update
        if update is not None and line.message is not None and "toolCallId" in update:
            call = (line.message["params"].get("sessionId"), update["toolCallId"])
            states[call] = update.get("status") or states.get(call)
    if not states:
        raise NotApplicable("no tool was called")
    left = [call[1] for call, status in states.items() if status not in ("completed", "failed")]
    need(not left, f"without an end: {left[:5]}")


def _ask(kit: Kit) -> tuple[StdioClient, str, Any, Message]:
    """Play the turn that asks for a permission up to the question, in a process of its own."""
    if kit.subject.asking is None or kit.subject.words is None:
        raise NotApplicable("there is no prompt that asks for a permission (--permission-prompt)")
    client = kit.unanswering
    session_id = _open(kit, client)
    params = {"sessionId": session_id, "prompt": text(kit.subject.asking)}
    prompt_id = client.start("session/prompt", params)

    def decides(line: Line) -> bool:
        message = line.message or {}
        asks = message.get("method") == "session/request_permission"
        return asks or (line.answers is not None and same(message.get("id"), prompt_id))

    line = client.until(decides)
    if line is None or (line.message or {}).get("method") != "session/request_permission":
        raise NotApplicable("no permission was asked (--permission-prompt)")
    return client, session_id, prompt_id, line.message or {}


@requirement("PERMISSION-001", "M", "A permission has options with different ids and names a tool call.")
def asks_clearly(kit: Kit) -> None:
    client, session_id, prompt_id, asked = _ask(kit)
    params: Message = asked["params"]
    ids = [option["optionId"] for option in params["options"]]
    need(ids and len(ids) == len(set(ids)), f"the ids of the options are {ids}")
    need(params["sessionId"] == session_id, f"it is asked in {params['sessionId']!r}, not {session_id!r}")
    need(isinstance(params["toolCall"]["toolCallId"], str), f"the tool call is {params['toolCall']}")
    client.notify("session/cancel", {"sessionId": session_id})
    client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": {"outcome": "cancelled"}}})
    client.wait(prompt_id)


@requirement("PERMISSION-002", "M", "A turn that is cancelled while it asks ends with cancelled.")
def can_be_cancelled_while_it_asks(kit: Kit) -> None:
    client, session_id, prompt_id, asked = _ask(kit)
    client.notify("session/cancel", {"sessionId": session_id})
    # "The Client MUST respond to all pending session/request_permission requests with the cancelled outcome."
    client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": {"outcome": "cancelled"}}})
    reason = result_of(client.wait(prompt_id), "the cancelled prompt").get("stopReason")
    need(reason == "cancelled", f"the stop reason is {reason!r}")


@requirement("PERMISSION-003", "M", "A turn goes to its end after a refusal, without an error.")
def takes_a_no(kit: Kit) -> None:
    client, _, prompt_id, asked = _ask(kit)
    refusals = [o for o in asked["params"]["options"] if str(o.get("kind")).startswith("reject")]
    if not refusals:
        raise NotApplicable("no option refuses")
    outcome = {"outcome": "selected", "optionId": refusals[0]["optionId"]}
    client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": outcome}})
    # Whoever asks once more gets no answer: so the wait ends, and the requirement is not kept.
    check_stopped(client.wait(prompt_id), "a refused prompt")


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


# -- the end ---------------------------------------------------------------------------------------


@requirement("SHUTDOWN-002", "A", "The process ends when its stdin is closed in the middle of a turn.")
def ends_in_mid_turn(kit: Kit) -> str:
    if kit.subject.waiting is None or kit.subject.words is None:
        raise NotApplicable("there is no prompt whose turn takes long (--long-prompt)")
    client = kit.spawn()
    _begin(client)
    session_id = _open(kit, client)
    client.start("session/prompt", {"sessionId": session_id, "prompt": text(kit.subject.waiting)})
    client.until(lambda line: is_update(line, session_id, *HISTORY), within=2.0)
    client.finish()
    if client.ended_after is None:
        fail("it had to be killed")
    return f"after {client.ended_after:.2f} s"


def _begin(client: StdioClient) -> None:
    params: Message = {"protocolVersion": 1, "clientCapabilities": {}}
    result_of(client.request("initialize", params), "initialize")


def _open(kit: Kit, client: StdioClient) -> str:
    _ = kit.session
    params: Message = {"cwd": str(kit.subject.folder), "mcpServers": []}
    return result_of(client.request("session/new", params), "session/new")["sessionId"]
