"""Requirements on tool calls and on the permissions that are asked for them."""

from __future__ import annotations

from typing import Any

from trunkline.conformance.acp.kit import Kit, check_stopped, requirement, result_of
from trunkline.conformance.acp.stdio_client import Line, Message, StdioClient, same, text
from trunkline.conformance.table import NotApplicable, need


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


# -- permissions -----------------------------------------------------------------------------------


def _ask(kit: Kit) -> tuple[StdioClient, str, Any, Message]:
    """Play the turn that asks for a permission up to the question, in a process of its own."""
    if kit.subject.asking is None or kit.subject.words is None:
        raise NotApplicable("there is no prompt that asks for a permission (--permission-prompt)")
    client = kit.unanswering
    session_id = kit.open_in(client)
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
